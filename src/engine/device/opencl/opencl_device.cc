#include "engine/device/opencl/opencl_device.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "engine/device/opencl/opencl_queue.h"

namespace diptych::opencl {

std::shared_ptr<DeviceHealth> health_of(cl_device_id device) {
  struct All {
    std::mutex mutex;
    std::map<cl_device_id, std::shared_ptr<DeviceHealth>> by_device;
  };
  static All& all = *new All;  // as the contexts
  std::lock_guard lock(all.mutex);
  auto& health = all.by_device[device];
  if (!health) health = std::make_shared<DeviceHealth>();
  return health;
}

Context::Context(std::shared_ptr<const Api> loaded, cl_device_id id)
    : api(std::move(loaded)), device(id), health(health_of(id)) {
  char vendor[64] = {};
  if (api->GetDeviceInfo(device, device_vendor, sizeof(vendor) - 1, vendor, nullptr) == success)
    is_nvidia = std::string_view(vendor).starts_with("NVIDIA");
  cl_int status = success;
  context = api->CreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "making a context");
}

void Context::check(cl_int status, const char* what) const { check(status, what, ends_context(status)); }

// NVIDIA's driver says it has no resources after a kernel that failed, and then for ever.
void Context::check_done(cl_int status, const char* what) const {
  check(status, what, ends_context(status) || (is_nvidia && status == out_of_resources));
}

void Context::check(cl_int status, const char* what, bool is_lost) const {
  if (status == success) return;
  try {
    opencl::check(status, what);
  } catch (const Error& error) {
    if (is_lost) health->lose(error.message());
    throw;
  }
}

std::shared_ptr<const Context> Context::of(std::shared_ptr<const Api> api, cl_device_id device) {
  struct Contexts {
    std::mutex mutex;
    std::map<cl_device_id, std::weak_ptr<const Context>> open;
  };
  static Contexts& all = *new Contexts;  // databases may be opened and closed while the process ends
  std::lock_guard lock(all.mutex);
  std::shared_ptr<const Context> context = all.open[device].lock();
  if (context == nullptr) all.open[device] = context = std::make_shared<Context>(std::move(api), device);
  return context;
}

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

OpenClDevice::OpenClDevice(std::shared_ptr<const Api> api, cl_device_id device, DeviceInfo info, int64_t most_bytes,
                           std::string options)
    : Device(health_of(device)),
      info_(std::move(info)),
      context_(Context::of(std::move(api), device)),
      options_(std::move(options)),
      memory_(*context_->api, context_->context, device, info_.is_host, most_bytes),
      cache_(*this, KernelCache::default_directory()) {}

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

std::string OpenClDevice::identity() const { return "opencl|" + info_.name + "|" + info_.driver + "|" + options_; }

std::string OpenClDevice::build_log(cl_program program) const {
  const Api& api = *context_->api;
  size_t size = 0;
  api.GetProgramBuildInfo(program, context_->device, program_build_log, 0, nullptr, &size);
  std::string log(size, '\0');
  api.GetProgramBuildInfo(program, context_->device, program_build_log, size, log.data(), nullptr);
  return log.c_str();  // up to its terminating zero
}

// PoCL has a cache of its own on disk. Asked for a program's binary it compiles the kernels three times more, for other
// sizes of grids: a kernel that writes rows takes 43 seconds then instead of 6.
bool OpenClDevice::keeps_kernels() const { return is_pocl(info_); }

KernelCompiler::Built OpenClDevice::build(const std::string& text, const std::string& entry) {
  const Api& api = *context_->api;
  const char* source = text.data();
  const size_t length = text.size();
  cl_int status = success;
  cl_program program = api.CreateProgramWithSource(context_->context, 1, &source, &length, &status);
  check(status, "reading a kernel's text");
  status = api.BuildProgram(program, 1, &context_->device, options_.c_str(), nullptr, nullptr);
  if (status != success) {
    const std::string log = build_log(program);
    api.ReleaseProgram(program);
    throw Error(SqlState::system_error, "OpenCL: the kernel " + entry + " does not compile (" + std::to_string(status) +
                                            ") on " + info_.id() + ":\n" + log);
  }
  Built built;
  built.kernel = std::make_shared<OpenClKernel>(context_, program, entry, info_);
  if (keeps_kernels()) return built;
  size_t size = 0;
  if (api.GetProgramInfo(program, program_binary_sizes, sizeof(size), &size, nullptr) != success) return built;
  built.binary.resize(size);
  auto* into = reinterpret_cast<unsigned char*>(built.binary.data());
  if (api.GetProgramInfo(program, program_binaries, sizeof(into), &into, nullptr) != success) built.binary.clear();
  return built;
}

std::shared_ptr<const Kernel> OpenClDevice::load(std::span<const std::byte> binary, const std::string& entry) {
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
