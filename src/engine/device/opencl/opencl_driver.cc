// Finding OpenCL's devices and what they can do.
#include <algorithm>

#include "base/error.h"
#include "base/machine.h"
#include "engine/device/opencl/opencl_device.h"

namespace diptych::opencl {
namespace {

std::string text_of(const Api& api, cl_device_id device, cl_uint what) {
  size_t size = 0;
  if (api.GetDeviceInfo(device, what, 0, nullptr, &size) != success) return {};
  std::string text(size, '\0');
  if (api.GetDeviceInfo(device, what, size, text.data(), nullptr) != success) return {};
  return text.c_str();  // up to its terminating zero
}

template <typename T>
T number_of(const Api& api, cl_device_id device, cl_uint what) {
  T value{};
  api.GetDeviceInfo(device, what, sizeof(value), &value, nullptr);
  return value;
}

bool has_extension(const std::string& extensions, const std::string& name) {
  return (" " + extensions + " ").find(" " + name + " ") != std::string::npos;
}

std::string why_unusable(const Api& api, cl_device_id device) {
  const std::string extensions = text_of(api, device, device_extensions);
  if (number_of<cl_uint>(api, device, device_available) == 0) return "the driver says it is not available";
  if (number_of<cl_uint>(api, device, device_compiler_available) == 0) return "no compiler";
  if (number_of<cl_uint>(api, device, device_endian_little) == 0) return "not little-endian";
  if (number_of<cl_uint>(api, device, device_address_bits) != 64) return "no 64-bit addresses";
  if (!has_extension(extensions, "cl_khr_fp64")) return "no double precision (cl_khr_fp64)";
  if (!has_extension(extensions, "cl_khr_int64_base_atomics") ||
      !has_extension(extensions, "cl_khr_int64_extended_atomics"))
    return "no 64-bit atomics (cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics)";
  // "OpenCL 1.2 ..."
  const std::string version = text_of(api, device, device_version);
  if (version.rfind("OpenCL 1.0", 0) == 0 || version.rfind("OpenCL 1.1", 0) == 0) return "older than OpenCL 1.2";
  return {};
}

// What one arena may have: one buffer object of the device, and of a host's memory a quarter.
int64_t most_bytes_of(const Api& api, cl_device_id device, bool is_host) {
  const auto all = static_cast<int64_t>(number_of<cl_ulong>(api, device, device_global_mem_size));
  const auto one = static_cast<int64_t>(number_of<cl_ulong>(api, device, device_max_mem_alloc_size));
  return std::min(one, is_host ? all / 4 : all / 10 * 9) & ~int64_t{4095};
}

}  // namespace

OpenClDriver::OpenClDriver() {
  api_ = Api::load(&absent_);
  if (api_ == nullptr) return;
  cl_uint count = 0;
  if (api_->GetPlatformIDs(0, nullptr, &count) != success || count == 0) {
    absent_ = "no OpenCL platform (a driver's .icd file)";
    return;
  }
  std::vector<cl_platform_id> platforms(count);
  check(api_->GetPlatformIDs(count, platforms.data(), nullptr), "listing platforms");
  for (cl_platform_id platform : platforms) add_platform(platform);
  if (devices_.empty()) absent_ = "the platforms have no device";
}

void OpenClDriver::add_platform(cl_platform_id platform) {
  cl_uint count = 0;
  if (api_->GetDeviceIDs(platform, device_type_all, 0, nullptr, &count) != success || count == 0) return;
  std::vector<cl_device_id> devices(count);
  if (api_->GetDeviceIDs(platform, device_type_all, count, devices.data(), nullptr) != success) return;
  for (cl_device_id device : devices) {
    DeviceInfo info = describe(platform, device);
    info.number = static_cast<int>(infos_.size());
    infos_.push_back(std::move(info));
    devices_.push_back(device);
  }
}

DeviceInfo OpenClDriver::describe(cl_platform_id platform, cl_device_id device) const {
  const Api& api = *api_;
  char platform_text[256] = {};
  api.GetPlatformInfo(platform, platform_name, sizeof(platform_text) - 1, platform_text, nullptr);
  DeviceInfo info;
  info.api = DeviceApi::OpenCl;
  info.name = text_of(api, device, device_name);
  info.driver = std::string(platform_text) + " " + text_of(api, device, driver_version);
  info.memory_bytes = static_cast<int64_t>(number_of<cl_ulong>(api, device, device_global_mem_size));
  info.compute_units = static_cast<int>(number_of<cl_uint>(api, device, device_max_compute_units));
  info.shared_bytes = static_cast<int64_t>(number_of<cl_ulong>(api, device, device_local_mem_size));
  info.most_shared_bytes = info.shared_bytes;
  info.max_group_size = static_cast<int>(number_of<size_t>(api, device, device_max_work_group_size));
  info.is_host = number_of<cl_uint>(api, device, device_host_unified_memory) != 0;
  info.can_map = info.is_host;
  if (!is_pocl(info)) info.compiles_at_once = std::min(machine_threads(), most_compiles_at_once);
  info.unusable = why_unusable(api, device);
  return info;
}

std::unique_ptr<Device> OpenClDriver::open(int number) {
  const auto index = static_cast<size_t>(number);
  const DeviceInfo& info = infos_.at(index);
  cl_device_id device = devices_.at(index);
  // Rounded as IEEE 754 has it, as the CPU engine's divisions and roots are.
  std::string options = "-cl-std=CL1.2";
  if ((number_of<cl_bitfield>(*api_, device, device_single_fp_config) & fp_correctly_rounded_divide_sqrt) != 0)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  // Kernels then have PTX's fences (kernel/device/platform.h).
  if (text_of(*api_, device, device_vendor).starts_with("NVIDIA")) options += " -DDK_IS_NVIDIA";
  return std::make_unique<OpenClDevice>(api_, device, info, most_bytes_of(*api_, device, info.is_host), options);
}

}  // namespace diptych::opencl
