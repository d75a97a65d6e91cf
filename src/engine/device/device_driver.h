// One API's devices: what there is, and opening them. Implemented by engine/device/cuda and engine/device/opencl.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/device/device.h"

namespace diptych {

class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;
  // Why the API is not there at all ("libcuda.so.1 not found"); empty where it is.
  virtual const std::string& absent() const = 0;
  // By number; devices that can't be used, too.
  virtual const std::vector<DeviceInfo>& infos() const = 0;
  // Why a device was lost since the driver was loaded, in this process; empty: it was not.
  virtual std::string why_lost(int /*number*/) const { return {}; }
  // A usable device of infos(). Errors: 58000, 53200.
  virtual std::unique_ptr<Device> open(int number) = 0;
};

}  // namespace diptych
