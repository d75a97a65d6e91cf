#include "engine/device/cuda/cuda_driver.h"

#include <algorithm>

#include "base/machine.h"
#include "engine/device/cuda/cuda_device.h"

namespace diptych::cuda {

CudaDriver::CudaDriver() {
  api_ = Api::load(&absent_);
  if (api_ == nullptr) return;
  int count = 0;
  if (api_->DeviceGetCount(&count) != success || count == 0) {
    absent_ = "the driver finds no device";
    return;
  }
  std::string no_compiler;
  nvrtc_ = Nvrtc::load(&no_compiler);
  std::string no_library;
  cub_ = CubLibrary::open(no_library);
  for (int number = 0; number < count; number++) {
    infos_.push_back(describe(number));
    if (infos_.back().unusable.empty()) infos_.back().unusable = no_compiler;
  }
}

DeviceInfo CudaDriver::describe(int number) const {
  DeviceInfo info;
  info.api = DeviceApi::Cuda;
  info.number = number;
  CUdevice device = 0;
  api_->check(api_->DeviceGet(&device, number), "looking up a device");
  auto attribute = [&](int which) {
    int value = 0;
    api_->check(api_->DeviceGetAttribute(&value, which, device), "asking for a device's abilities");
    return value;
  };
  char name[256] = {};
  api_->check(api_->DeviceGetName(name, sizeof(name) - 1, device), "asking for a device's name");
  info.name = name;
  int version = 0;
  api_->check(api_->DriverGetVersion(&version), "asking for the driver's version");
  info.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  const int major = attribute(compute_capability_major);
  info.architecture = "sm_" + std::to_string(major) + std::to_string(attribute(compute_capability_minor));
  size_t bytes = 0;
  api_->check(api_->DeviceTotalMem(&bytes, device), "asking for a device's memory");
  info.memory_bytes = static_cast<int64_t>(bytes);
  info.compute_units = attribute(multiprocessor_count);
  info.shared_bytes = attribute(max_shared_memory_per_block);
  info.most_shared_bytes = attribute(max_shared_memory_per_block_optin);
  info.max_group_size = attribute(max_threads_per_block);
  info.is_host = attribute(integrated) != 0;
  info.compiles_at_once = std::min(machine_threads(), most_compiles_at_once);
  info.can_map = attribute(can_map_host_memory) != 0;
  // 64-bit minimum and maximum, and independent threads of a warp, which waiting inside a kernel needs.
  if (major < 7) info.unusable = "its compute capability is " + info.architecture + "; sm_70 is the least";
  return info;
}

std::unique_ptr<Device> CudaDriver::open(int number) {
  return std::make_unique<CudaDevice>(api_, nvrtc_, cub_, infos_.at(static_cast<size_t>(number)));
}

}  // namespace diptych::cuda
