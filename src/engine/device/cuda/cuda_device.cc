#include "engine/device/cuda/cuda_device.h"

#include "base/error.h"
#include "engine/device/cuda/cuda_compiler.h"
#include "engine/device/cuda/cuda_queue.h"

namespace diptych::cuda {
namespace {

constexpr int64_t pinned_kept_bytes = int64_t{8} << 30;

int64_t nine_tenths_free(const Context& context) {
  const Entered api(context);
  size_t free = 0, total = 0;
  api.check(api->MemGetInfo(&free, &total), "asking for free memory");
  return static_cast<int64_t>(free) / 10 * 9;
}

}  // namespace

CudaDevice::CudaDevice(std::shared_ptr<const Api> api, std::shared_ptr<const Nvrtc> nvrtc,
                       std::shared_ptr<const CubLibrary> cub, DeviceInfo info)
    : Device(health_of(info.number)),
      info_(std::move(info)),
      context_(std::make_shared<Context>(std::move(api), info_.number)),
      default_limit_(nine_tenths_free(*context_)),
      blocks_(*context_),
      pinned_blocks_(*context_),
      pool_(blocks_, {.alignment = 256, .limit = default_limit_}),
      pinned_pool_(pinned_blocks_, {.alignment = 4096, .keep_bytes = pinned_kept_bytes}),
      cache_(
          KernelCache::of(info_, std::make_unique<CudaCompiler>(context_, std::move(nvrtc), std::move(cub), info_))) {}

CudaDevice::~CudaDevice() = default;

std::optional<DeviceBuffer> CudaDevice::try_allocate(int64_t bytes, uint64_t reservation) {
  auto address = pool_.try_allocate(bytes, reservation);
  if (!address) return std::nullopt;
  return DeviceBuffer(this, DeviceAddress{*address}, bytes);
}

std::optional<uint64_t> CudaDevice::reserve(int64_t bytes) {
  health_->check();
  return pool_.try_reserve(bytes);
}

PinnedBuffer CudaDevice::allocate_pinned(int64_t bytes, const char* what) {
  auto taken = pinned_pool_.try_allocate(bytes);
  if (!taken)
    throw Error(SqlState::out_of_memory, info_.id() + " has no pinned memory for " + what, -1,
                std::to_string(bytes) + " bytes were asked for");
  auto* data = reinterpret_cast<std::byte*>(*taken);
  CUdeviceptr address = 0;
  if (info_.can_map) {
    const Entered api(*context_);
    const CUresult result = api->MemHostGetDevicePointer(&address, data, 0);
    if (result != success) pinned_pool_.free(*taken);
    api.check(result, "mapping pinned memory");
  }
  return PinnedBuffer(this, data, DeviceAddress{address}, bytes);
}

DeviceMemoryUse CudaDevice::memory_use() const {
  const int64_t used = pool_.used_bytes();
  return {.used_bytes = used,
          .pooled_bytes = pool_.pooled_bytes(),
          .peak_bytes = pool_.peak_bytes(),
          .pinned_bytes = pinned_pool_.used_bytes(),
          .set_aside_bytes = pool_.set_aside_bytes()};
}

std::unique_ptr<Queue> CudaDevice::make_queue() { return std::make_unique<CudaQueue>(context_); }

}  // namespace diptych::cuda
