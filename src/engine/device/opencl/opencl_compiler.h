// OpenCL's compiler, and the kernels that come from it: OpenCL C 1.2 text with
//
//   __kernel void entry(__global uchar* memory, __global uchar* mapped, const dk_parameters parameters)
//
// where `memory` and `mapped` are the arenas of opencl_memory.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/kernel_cache.h"
#include "engine/device/opencl/opencl_context.h"

namespace diptych::opencl {

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

class OpenClCompiler final : public KernelCompiler {
 public:
  OpenClCompiler(std::shared_ptr<const Context> context, const DeviceInfo& info, std::string options);
  std::string identity() const override;
  Built build(const std::string& text, const std::string& entry) override;
  std::shared_ptr<const Kernel> load(std::span<const std::byte> binary, const std::string& entry) override;

 private:
  // nullptr: it does not compile, and why, in `log`. Errors: 58000.
  cl_program try_build(std::initializer_list<std::string_view> texts, const std::string& options,
                       std::string& log) const;
  std::string build_log(cl_program program) const;
  std::vector<std::byte> binary_of(cl_program program) const;

  const std::shared_ptr<const Context> context_;
  const DeviceInfo info_;
  const std::string options_;
};

}  // namespace diptych::opencl
