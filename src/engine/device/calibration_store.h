// The machine's calibration as a database uses it: read from the file on first use, completed by short measurements of
// devices that the file lacks, which are written back where that is possible.
//
// Thread safety: all members may be called by many threads at once. None waits for a measurement but of(), for its own
// device's and those begun before.
#pragma once

#include <memory>
#include <mutex>

#include "cost/calibration.h"
#include "engine/device/device.h"

namespace diptych {

// "NVIDIA H200, driver 580.65"
std::string device_key(const DeviceInfo& device);

class CalibrationStore {
 public:
  // path: calibration_path() for the user's.
  explicit CalibrationStore(std::string path) : path_(std::move(path)) {}

  // What is known of the CPU: measured, or what is usual.
  HostCalibration host();
  // Nothing where the device was not measured.
  std::optional<DeviceCalibration> find(const DeviceInfo& device);
  // Measures the device in short when nothing is known of it; what is usual when that fails.
  DeviceCalibration of(Device& device);

 private:
  void read_locked();
  // What is known of the device, or follows from the host's figures since it is a part of it.
  std::optional<DeviceCalibration> find_or_derive(const DeviceInfo& device);
  // Returns a copy of all that is known then.
  MachineCalibration store(const DeviceInfo& device, const HostCalibration& host, const DeviceCalibration& calibration);

  const std::string path_;
  std::mutex measuring_;  // held while a device is measured and the file written; locked before mutex_
  std::mutex mutex_;      // guards what follows; never held for long
  bool is_read_ = false;
  MachineCalibration calibration_;
};

}  // namespace diptych
