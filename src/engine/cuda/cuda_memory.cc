#include "engine/cuda/cuda_memory.h"

#include <algorithm>

namespace diptych::cuda {
namespace {

// cuMemAlloc takes tens of microseconds and more, and gives whole 2 MiB pages anyway.
constexpr int64_t page_bytes = int64_t{2} << 20;
constexpr int64_t device_block_bytes = int64_t{64} << 20;
constexpr int64_t pinned_block_bytes = int64_t{16} << 20;

int64_t rounded(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Context::Context(std::shared_ptr<const Api> api, int number) : api_(std::move(api)) {
  api_->check(api_->DeviceGet(&device_, number), "opening a device");
  api_->check(api_->DevicePrimaryCtxRetain(&context_, device_), "making a context");
}

const Api& Context::enter() const {
  api_->check(api_->CtxSetCurrent(context_), "entering a context");
  return *api_;
}

const Api& Context::enter_quietly() const noexcept {
  api_->CtxSetCurrent(context_);
  return *api_;
}

std::optional<RawBlock> DeviceBlocks::allocate_block(int64_t at_least) {
  const Api& api = context_.enter();
  // Small buffers share a block; when there is no room for one, the buffer's own size may still do.
  for (int64_t bytes : {std::max(rounded(at_least, page_bytes), device_block_bytes), rounded(at_least, page_bytes)}) {
    CUdeviceptr address = 0;
    const CUresult result = api.MemAlloc(&address, static_cast<size_t>(bytes));
    if (result == success) return RawBlock{address, bytes};
    if (result != error_out_of_memory) api.check(result, "allocating device memory");
  }
  return std::nullopt;
}

void DeviceBlocks::free_block(RawBlock block) noexcept { context_.enter_quietly().MemFree(block.address); }

std::optional<RawBlock> PinnedBlocks::allocate_block(int64_t at_least) {
  const Api& api = context_.enter();
  const int64_t bytes = std::max(rounded(at_least, page_bytes), pinned_block_bytes);
  void* data = nullptr;
  const CUresult result =
      api.MemHostAlloc(&data, static_cast<size_t>(bytes), mem_host_alloc_portable | mem_host_alloc_device_map);
  if (result == error_out_of_memory) return std::nullopt;
  api.check(result, "allocating pinned memory");
  return RawBlock{reinterpret_cast<uint64_t>(data), bytes};
}

void PinnedBlocks::free_block(RawBlock block) noexcept {
  context_.enter_quietly().MemFreeHost(reinterpret_cast<void*>(block.address));
}

}  // namespace diptych::cuda
