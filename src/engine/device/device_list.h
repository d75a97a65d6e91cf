// The devices of this machine. Drivers are loaded and asked on first use, since that alone takes tens of milliseconds
// with CUDA; a device is opened when it is first wanted. Thread safety: all members may be called by many threads at
// once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/device_driver.h"

namespace diptych {

class DeviceList {
 public:
  DeviceList() = default;
  // For tests, with drivers of their own.
  explicit DeviceList(std::vector<std::unique_ptr<DeviceDriver>> drivers) : drivers_(std::move(drivers)) {}

  // Every device, CUDA's first; `unusable` says why one can't be used, or not any more.
  std::vector<DeviceInfo> infos();
  // A line for each API that is not there: "cuda: libcuda.so.1 not found".
  std::vector<std::string> absent();
  // "cuda:1", "opencl:0"; "cuda" and "opencl" are the first usable device. It lives as long as this list.
  // Errors: 22023 for a device that is not there or can't be used, saying why; 58000 and 53200 from opening it.
  Device* find(std::string_view id);
  // The same; but nullptr where the device has worked and was lost, and `lost` says which and why.
  Device* find_working(std::string_view id, std::string& lost);

 private:
  struct Place {
    size_t driver = 0;  // its index
    int number = 0;
    std::string lost;  // why the device does not work any more; empty: it does
  };

  void load();
  // Errors: 22023.
  Place locate(std::string_view id) const;

  std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<DeviceDriver>> drivers_;
  std::map<std::string, std::unique_ptr<Device>> open_;  // by id; closed before their drivers
};

}  // namespace diptych
