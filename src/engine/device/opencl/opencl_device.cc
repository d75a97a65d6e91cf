#include "engine/device/opencl/opencl_device.h"

#include "base/error.h"
#include "engine/device/opencl/opencl_compiler.h"
#include "engine/device/opencl/opencl_queue.h"

namespace diptych::opencl {

OpenClDevice::OpenClDevice(std::shared_ptr<const Api> api, cl_device_id device, DeviceInfo info, int64_t most_bytes,
                           std::string options)
    : Device(health_of(device)),
      info_(std::move(info)),
      context_(Context::of(std::move(api), device)),
      memory_(*context_->api, context_->context, device, info_.is_host, most_bytes),
      cache_(KernelCache::of(info_, std::make_unique<OpenClCompiler>(context_, info_, std::move(options)))) {}

std::optional<DeviceBuffer> OpenClDevice::try_allocate(int64_t bytes, uint64_t reservation) {
  health_->check();
  auto address = memory_.try_allocate(bytes, reservation);
  if (!address) return std::nullopt;
  return DeviceBuffer(this, *address, bytes);
}

std::optional<uint64_t> OpenClDevice::reserve(int64_t bytes) {
  health_->check();
  return memory_.try_reserve(bytes);
}

PinnedBuffer OpenClDevice::allocate_pinned(int64_t bytes, const char* what) {
  health_->check();
  auto taken = memory_.try_allocate_pinned(bytes);
  if (!taken)
    throw Error(SqlState::out_of_memory, info_.id() + " has no pinned memory for " + what, -1,
                std::to_string(bytes) + " bytes were asked for");
  return PinnedBuffer(this, taken->first, taken->second, bytes);
}

std::unique_ptr<Queue> OpenClDevice::make_queue() {
  health_->check();
  return std::make_unique<OpenClQueue>(context_, memory_);
}

}  // namespace diptych::opencl
