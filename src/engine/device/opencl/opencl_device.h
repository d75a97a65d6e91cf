// An OpenCL device as the engine sees it (engine/device/device.h). Its memory is the two arenas of opencl_memory.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/device_driver.h"
#include "engine/device/kernel_cache.h"
#include "engine/device/opencl/opencl_context.h"
#include "engine/device/opencl/opencl_memory.h"

namespace diptych::opencl {

class OpenClDevice final : public Device {
 public:
  // options: of the compiler.
  OpenClDevice(std::shared_ptr<const Api> api, cl_device_id device, DeviceInfo info, int64_t most_bytes,
               std::string options);

  const DeviceInfo& info() const override { return info_; }
  std::optional<DeviceBuffer> try_allocate(int64_t bytes, uint64_t reservation) override;
  PinnedBuffer allocate_pinned(int64_t bytes, const char* what) override;
  void set_memory_limit(int64_t bytes) override { memory_.set_limit(bytes); }
  int64_t memory_limit() const override { return memory_.limit(); }
  DeviceMemoryUse memory_use() const override { return memory_.use(); }
  std::unique_ptr<Queue> make_queue() override;
  std::shared_ptr<const Kernel> compile(const KernelText& kernel, CompileReport* report) override {
    health_->check();
    return cache_->compile(kernel, report);
  }
  void prepare(const KernelText& kernel) override {
    health_->check();
    cache_->prepare(kernel);
  }
  std::shared_ptr<const Kernel> find_compiled(const KernelText& kernel) override {
    health_->check();
    return cache_->find(kernel);
  }

 private:
  std::optional<uint64_t> reserve(int64_t bytes) override;
  void release(uint64_t reservation) noexcept override { memory_.release(reservation); }
  void free(DeviceAddress address, int64_t) noexcept override { memory_.free(address); }
  void free_pinned(std::byte* data, int64_t) noexcept override { memory_.free_pinned(data); }
  void shrink_pinned(std::byte* data, int64_t bytes) noexcept override { memory_.shrink_pinned(data, bytes); }

  const DeviceInfo info_;
  std::shared_ptr<const Context> context_;
  Memory memory_;
  const std::shared_ptr<KernelCache> cache_;
};

// All devices of all platforms.
class OpenClDriver final : public DeviceDriver {
 public:
  OpenClDriver();
  const std::string& absent() const override { return absent_; }
  const std::vector<DeviceInfo>& infos() const override { return infos_; }
  std::string why_lost(int number) const override {
    return health_of(devices_.at(static_cast<size_t>(number)))->why_lost();
  }
  std::unique_ptr<Device> open(int number) override;

 private:
  void add_platform(cl_platform_id platform);
  DeviceInfo describe(cl_platform_id platform, cl_device_id device) const;

  std::shared_ptr<const Api> api_;
  std::string absent_;
  std::vector<DeviceInfo> infos_;
  std::vector<cl_device_id> devices_;
};

}  // namespace diptych::opencl
