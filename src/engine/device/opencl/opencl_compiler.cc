#include "engine/device/opencl/opencl_compiler.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "kernel/kernel_library.h"

namespace diptych::opencl {

OpenClKernel::OpenClKernel(std::shared_ptr<const Context> context, cl_program program, const std::string& entry,
                           const DeviceInfo& info)
    : context_(std::move(context)), program_(program), is_host_(info.is_host), device_shared_bytes_(info.shared_bytes) {
  const Api& api = *context_->api;
  cl_int status = success;
  kernel_ = api.CreateKernel(program_, entry.c_str(), &status);
  if (status != success) api.ReleaseProgram(program_);
  check(status, "looking up a kernel");
  size_t group_size = 0;
  cl_ulong shared = 0;
  api.GetKernelWorkGroupInfo(kernel_, context_->device, kernel_work_group_size, sizeof(group_size), &group_size,
                             nullptr);
  api.GetKernelWorkGroupInfo(kernel_, context_->device, kernel_local_mem_size, sizeof(shared), &shared, nullptr);
  max_group_size_ = static_cast<int>(group_size);
  shared_bytes_ = static_cast<int64_t>(shared);
}

OpenClKernel::~OpenClKernel() {
  context_->api->ReleaseKernel(kernel_);
  context_->api->ReleaseProgram(program_);
}

int OpenClKernel::groups_per_unit(int group_size, int64_t) const {
  if (group_size < 1 || group_size > max_group_size_) return 0;
  // A host's core runs one group after another.
  if (is_host_) return 1;
  // OpenCL does not say; 2048 items a unit is what GPUs of the last decade hold, of which registers leave about half.
  const int64_t by_items = std::max(1, 1024 / group_size);
  const int64_t by_shared = shared_bytes_ == 0 ? by_items : std::max<int64_t>(1, device_shared_bytes_ / shared_bytes_);
  return static_cast<int>(std::min(by_items, by_shared));
}

void OpenClKernel::launch(cl_command_queue queue, cl_mem memory, cl_mem mapped, int64_t groups, int group_size,
                          std::span<const uint64_t> parameters) const {
  const Api& api = *context_->api;
  const auto local = static_cast<size_t>(group_size);
  const size_t global = static_cast<size_t>(groups) * local;
  const auto check = [this](cl_int status, const char* what) { context_->check(status, what); };
  std::lock_guard lock(mutex_);
  check(api.SetKernelArg(kernel_, 0, sizeof(cl_mem), &memory), "setting a kernel's memory");
  check(api.SetKernelArg(kernel_, 1, sizeof(cl_mem), &mapped), "setting a kernel's mapped memory");
  check(api.SetKernelArg(kernel_, 2, parameters.size_bytes(), parameters.data()), "setting a kernel's parameters");
  check(api.EnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &global, &local, 0, nullptr, nullptr),
        "launching a kernel");
}

OpenClCompiler::OpenClCompiler(std::shared_ptr<const Context> context, const DeviceInfo& info, std::string options)
    : context_(std::move(context)), info_(info), options_(std::move(options)) {}

std::string OpenClCompiler::identity() const { return "opencl|" + info_.name + "|" + info_.driver + "|" + options_; }

std::string OpenClCompiler::build_log(cl_program program) const {
  const Api& api = *context_->api;
  size_t size = 0;
  api.GetProgramBuildInfo(program, context_->device, program_build_log, 0, nullptr, &size);
  std::string log(size, '\0');
  api.GetProgramBuildInfo(program, context_->device, program_build_log, size, log.data(), nullptr);
  return log.c_str();  // up to its terminating zero
}

cl_program OpenClCompiler::try_build(std::initializer_list<std::string_view> texts, const std::string& options,
                                     std::string& log) const {
  const Api& api = *context_->api;
  std::vector<const char*> sources;
  std::vector<size_t> lengths;
  for (const std::string_view text : texts) {
    sources.push_back(text.data());
    lengths.push_back(text.size());
  }
  cl_int status = success;
  cl_program program = api.CreateProgramWithSource(context_->context, static_cast<cl_uint>(sources.size()),
                                                   sources.data(), lengths.data(), &status);
  check(status, "reading a kernel's text");
  status = api.BuildProgram(program, 1, &context_->device, options.c_str(), nullptr, nullptr);
  if (status == success) return program;
  log = "(" + std::to_string(status) + ") on " + info_.id() + ":\n" + build_log(program);
  api.ReleaseProgram(program);
  return nullptr;
}

// A PoCL that does not know Clang's guard, or has other types by then, declares everything itself.
KernelCompiler::Built OpenClCompiler::build(const std::string& text, const std::string& entry) {
  cl_program program = nullptr;
  std::string log;
  if (is_pocl(info_)) {
    static const std::string declarations = kernel_text({"device/opencl_declarations.h"});
    program = try_build({declarations, text}, options_ + " -D_OPENCL_H_", log);
  }
  if (program == nullptr) program = try_build({text}, options_, log);
  if (program == nullptr)
    throw Error(SqlState::system_error, "OpenCL: the kernel " + entry + " does not compile " + log);
  Built built;
  built.kernel = std::make_shared<OpenClKernel>(context_, program, entry, info_);
  built.binary = binary_of(program);
  return built;
}

// PoCL has a cache of its own on disk. Asked for a program's binary it compiles the kernels three times more, for other
// sizes of grids: a kernel that writes rows takes 43 seconds then instead of 6.
std::vector<std::byte> OpenClCompiler::binary_of(cl_program program) const {
  const Api& api = *context_->api;
  size_t size = 0;
  if (is_pocl(info_) || api.GetProgramInfo(program, program_binary_sizes, sizeof(size), &size, nullptr) != success)
    return {};
  std::vector<std::byte> binary(size);
  auto* into = reinterpret_cast<unsigned char*>(binary.data());
  if (api.GetProgramInfo(program, program_binaries, sizeof(into), &into, nullptr) != success) return {};
  return binary;
}

std::shared_ptr<const Kernel> OpenClCompiler::load(std::span<const std::byte> binary, const std::string& entry) {
  const Api& api = *context_->api;
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t size = binary.size();
  cl_int of_binary = success, status = success;
  cl_program program =
      api.CreateProgramWithBinary(context_->context, 1, &context_->device, &size, &data, &of_binary, &status);
  if (status != success || of_binary != success) return nullptr;
  if (api.BuildProgram(program, 1, &context_->device, options_.c_str(), nullptr, nullptr) != success) {
    api.ReleaseProgram(program);
    return nullptr;
  }
  return std::make_shared<OpenClKernel>(context_, program, entry, info_);
}

}  // namespace diptych::opencl
