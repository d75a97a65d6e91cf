#include "engine/device/cuda/cuda_memory.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/error.h"
#include "engine/device/host_pages.h"

namespace diptych::cuda {
namespace {

// cuMemAlloc takes tens of microseconds and more, and gives whole 2 MiB pages anyway.
constexpr int64_t page_bytes = int64_t{2} << 20;
constexpr int64_t least_device_block_bytes = int64_t{64} << 20, most_device_block_bytes = int64_t{512} << 20;
// What a limit leaves behind the first block is one, up to so much: in several, what is set aside would not find its
// memory in one piece, and blocks would be given back and taken again, for which a driver waits until kernels are done.
constexpr int64_t most_rest_bytes = int64_t{4} << 30;
constexpr int64_t least_pinned_block_bytes = int64_t{16} << 20, most_pinned_block_bytes = int64_t{256} << 20;

int64_t rounded(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Of a block for buffers of so many bytes: as many as it has room for, so that nothing is lost behind the last.
int64_t shared_block(int64_t usual, int64_t buffer) { return std::max<int64_t>(usual / buffer, 1) * buffer; }

}  // namespace

std::shared_ptr<DeviceHealth> health_of(int number) {
  struct All {
    std::mutex mutex;
    std::map<int, std::shared_ptr<DeviceHealth>> by_number;
  };
  static All& all = *new All;  // databases may be opened and closed while the process ends
  std::lock_guard guard(all.mutex);
  auto& health = all.by_number[number];
  if (!health) health = std::make_shared<DeviceHealth>();
  return health;
}

Context::Context(std::shared_ptr<const Api> api, int number) : api_(std::move(api)), health_(health_of(number)) {
  health_->check();
  check(api_->DeviceGet(&device_, number), "opening a device");
  check(api_->DevicePrimaryCtxRetain(&context_, device_), "making a context");
}

Context::~Context() {
  if (const Entered api(*this, std::nothrow); api)
    for (CUevent event : free_events_) api->EventDestroy(event);
  if (!health_->is_lost()) api_->DevicePrimaryCtxRelease(device_);
}

CUevent Context::take_event() const {
  {
    std::lock_guard guard(mutex_);
    if (!free_events_.empty()) {
      CUevent event = free_events_.back();
      free_events_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  check(api_->EventCreate(&event, 0), "making an event");
  return event;
}

// Where there is no memory to keep it, it is the context's until that ends.
void Context::give_back(CUevent event) const noexcept {
  try {
    std::lock_guard guard(mutex_);
    free_events_.push_back(event);
  } catch (const std::bad_alloc&) {
  }
}

void Context::check(CUresult result, const char* what) const {
  if (result == success) return;
  try {
    api_->check(result, what);
  } catch (const Error& error) {
    if (ends_context(result)) health_->lose(error.message());
    throw;
  }
}

Entered::Entered(const Context& context, std::nothrow_t) noexcept : context_(context) {
  if (context.health_->is_lost()) {
    result_ = error_context_is_destroyed;
    return;
  }
  const Api& api = context.api();
  if (api.CtxGetCurrent(&before_) == success && before_ == context.context_) return;
  result_ = api.CtxSetCurrent(context.context_);
  is_changed_ = result_ == success;
}

Entered::~Entered() {
  if (is_changed_) context_.api().CtxSetCurrent(before_);
}

std::optional<RawBlock> DeviceBlocks::allocate_block(int64_t at_least, int64_t at_most) {
  const Entered api(context_);
  const int64_t least = std::min(rounded(at_least, page_bytes), at_most);
  // All that a statement needs that streams its columns has room in the first.
  const int64_t usual = held_ == 0 ? std::max(least, least_device_block_bytes)
                        : at_most <= most_rest_bytes
                            ? at_most
                            : shared_block(std::clamp(held_, least_device_block_bytes, most_device_block_bytes), least);
  // When there is no room for it, the buffer's own size may still do.
  for (int64_t bytes : {std::min(usual, at_most), least}) {
    CUdeviceptr address = 0;
    const CUresult result = api->MemAlloc(&address, static_cast<size_t>(bytes));
    if (result == success) {
      held_ += bytes;
      return RawBlock{address, bytes};
    }
    if (result != error_out_of_memory) api.check(result, "allocating device memory");
  }
  return std::nullopt;
}

void DeviceBlocks::free_block(RawBlock block) noexcept {
  if (const Entered api(context_, std::nothrow); api) api->MemFree(block.address);
  held_ -= block.bytes;
}

std::optional<RawBlock> PinnedBlocks::allocate_block(int64_t at_least, int64_t /*at_most*/) {
  const Entered api(context_);
  const int64_t least = rounded(at_least, host_page_bytes);
  const int64_t usual = shared_block(std::clamp(held_, least_pinned_block_bytes, most_pinned_block_bytes), least);
  // As on the device.
  for (int64_t bytes : {usual, least}) {
    std::byte* data = allocate_host_pages(bytes);
    if (data == nullptr) continue;
    const CUresult result = api->MemHostRegister(data, static_cast<size_t>(bytes),
                                                 mem_host_register_portable | mem_host_register_device_map);
    if (result == success) {
      held_ += bytes;
      return RawBlock{reinterpret_cast<uint64_t>(data), bytes};
    }
    free_host_pages(data, bytes);
    if (result != error_out_of_memory) api.check(result, "pinning memory");
  }
  return std::nullopt;
}

void PinnedBlocks::free_block(RawBlock block) noexcept {
  auto* data = reinterpret_cast<std::byte*>(block.address);
  held_ -= block.bytes;
  // What the driver of a lost device still holds pinned stays so, and its addresses must not become another's.
  const Entered api(context_, std::nothrow);
  if (api && api->MemHostUnregister(data) == success) free_host_pages(data, block.bytes);
}

}  // namespace diptych::cuda
