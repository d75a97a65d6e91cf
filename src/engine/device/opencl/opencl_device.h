// An OpenCL device as the engine sees it (engine/device/device.h). Kernels are OpenCL C 1.2 text with
//
//   __kernel void entry(__global uchar* memory, __global uchar* mapped, const dk_parameters parameters)
//
// where `memory` and `mapped` are the arenas of opencl_memory.h.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/device_driver.h"
#include "engine/device/kernel_cache.h"
#include "engine/device/opencl/opencl_api.h"
#include "engine/device/opencl/opencl_memory.h"

namespace diptych::opencl {

// Of a device, for the process: what ends a context of a device may have ended the device.
std::shared_ptr<DeviceHealth> health_of(cl_device_id device);

// A context of a device, for all databases of the process, as CUDA's primary context is: making one takes a GPU's
// driver 0.1 s. The last that uses it releases it.
struct Context {
  static std::shared_ptr<const Context> of(std::shared_ptr<const Api> api, cl_device_id device);

  std::shared_ptr<const Api> api;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  std::shared_ptr<DeviceHealth> health;
  bool is_nvidia = false;

  // Errors: 58000, 53200.
  Context(std::shared_ptr<const Api> api, cl_device_id device);
  ~Context() { api->ReleaseContext(context); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // As the function check(), and notes that the device is lost where the status says so.
  void check(cl_int status, const char* what) const;
  // The same of what reports how kernels before have ended.
  void check_done(cl_int status, const char* what) const;

 private:
  void check(cl_int status, const char* what, bool is_lost) const;
};

class OpenClKernel final : public Kernel {
 public:
  // Takes the program over. Errors: 58000 where it has no such entry.
  OpenClKernel(std::shared_ptr<const Context> context, cl_program program, const std::string& entry,
               const DeviceInfo& info);
  ~OpenClKernel() override;
  int groups_per_unit(int group_size, int64_t shared_room) const override;
  // Setting arguments and launching are one step, as a cl_kernel holds its arguments (OpenCL 1.2, section 5.7.2).
  void launch(cl_command_queue queue, cl_mem memory, cl_mem mapped, int64_t groups, int group_size,
              std::span<const uint64_t> parameters) const;

 private:
  std::shared_ptr<const Context> context_;
  cl_program program_;
  cl_kernel kernel_ = nullptr;
  const bool is_host_;
  const int64_t device_shared_bytes_;
  int64_t shared_bytes_ = 0;
  int max_group_size_ = 0;
  mutable std::mutex mutex_;  // the arguments
};

// Its compiler takes one kernel at a time, behind a lock, and the cores that run the kernels.
inline bool is_pocl(const DeviceInfo& info) { return info.driver.starts_with("Portable Computing Language"); }

class OpenClDevice final : public Device, private KernelCompiler {
 public:
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
    return cache_.compile(kernel, report);
  }
  void prepare(const KernelText& kernel) override {
    health_->check();
    cache_.prepare(kernel);
  }
  std::shared_ptr<const Kernel> find_compiled(const KernelText& kernel) override {
    health_->check();
    return cache_.find(kernel);
  }

 private:
  std::optional<uint64_t> reserve(int64_t bytes) override;
  void release(uint64_t reservation) noexcept override { memory_.release(reservation); }
  void free(DeviceAddress address, int64_t) noexcept override { memory_.free(address); }
  void free_pinned(std::byte* data, int64_t) noexcept override { memory_.free_pinned(data); }
  void shrink_pinned(std::byte* data, int64_t bytes) noexcept override { memory_.shrink_pinned(data, bytes); }
  std::string identity() const override;
  Built build(const std::string& text, const std::string& entry) override;
  std::shared_ptr<const Kernel> load(std::span<const std::byte> binary, const std::string& entry) override;
  std::string build_log(cl_program program) const;
  // The driver keeps compiled kernels from process to process.
  bool keeps_kernels() const;

  const DeviceInfo info_;
  std::shared_ptr<const Context> context_;
  const std::string options_;
  Memory memory_;
  KernelCache cache_;
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
