// A driver without devices, for lists of drivers that want one in its place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/device_driver.h"

namespace diptych::testing {

class AbsentDriver final : public DeviceDriver {
 public:
  const std::string& absent() const override { return absent_; }
  const std::vector<DeviceInfo>& infos() const override { return infos_; }
  std::unique_ptr<Device> open(int) override { return nullptr; }

 private:
  std::string absent_ = "left out";
  std::vector<DeviceInfo> infos_;
};

}  // namespace diptych::testing
