// CUDA's devices and what they can do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/cub/cub_library.h"
#include "engine/device/cuda/cuda_memory.h"
#include "engine/device/device_driver.h"

namespace diptych::cuda {

class CudaDriver final : public DeviceDriver {
 public:
  CudaDriver();
  const std::string& absent() const override { return absent_; }
  const std::vector<DeviceInfo>& infos() const override { return infos_; }
  std::string why_lost(int number) const override { return health_of(number)->why_lost(); }
  std::unique_ptr<Device> open(int number) override;

 private:
  DeviceInfo describe(int number) const;

  std::shared_ptr<const Api> api_;
  std::shared_ptr<const Nvrtc> nvrtc_;
  std::shared_ptr<const CubLibrary> cub_;
  std::string absent_;
  std::vector<DeviceInfo> infos_;
};

}  // namespace diptych::cuda
