#include "engine/device/calibration_store.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/machine.h"
#include "engine/device/measure.h"

namespace diptych {
namespace {

// What one thread reads in about 10 ms.
constexpr int64_t short_host_bytes = int64_t{32} << 20;

// Nothing where the device has no room.
std::optional<DeviceCalibration> try_measure(Device& device, const HostCalibration& host) {
  try {
    return measure_short(device, host);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A file that can't be written is done without: the figures serve this process.
void try_write(const std::string& path, const MachineCalibration& calibration) {
  if (path.empty()) return;
  try {
    write_calibration(path, calibration);
  } catch (const Error&) {
  }
}

}  // namespace

std::string device_key(const DeviceInfo& device) { return fmt::format("{}, driver {}", device.name, device.driver); }

void CalibrationStore::read_locked() {
  if (is_read_) return;
  is_read_ = true;
  if (auto found = read_calibration(path_)) calibration_ = std::move(*found);
}

HostCalibration CalibrationStore::host() {
  std::lock_guard guard(mutex_);
  read_locked();
  return calibration_.host;
}

std::optional<DeviceCalibration> CalibrationStore::find(const DeviceInfo& device) {
  std::lock_guard guard(mutex_);
  read_locked();
  const auto found = calibration_.devices.find(device_key(device));
  if (found == calibration_.devices.end()) return std::nullopt;
  return found->second;
}

std::optional<DeviceCalibration> CalibrationStore::find_or_derive(const DeviceInfo& device) {
  std::lock_guard guard(mutex_);
  read_locked();
  const std::string key = device_key(device);
  if (const auto found = calibration_.devices.find(key); found != calibration_.devices.end()) return found->second;
  if (!device.is_host) return std::nullopt;
  return calibration_.devices[key] = calibration_of_host_device(calibration_.host);
}

DeviceCalibration CalibrationStore::of(Device& device) {
  if (const auto known = find_or_derive(device.info())) return *known;
  // One at a time, since two measurements would take memory bandwidth from each other.
  std::lock_guard measuring(measuring_);
  if (const auto known = find_or_derive(device.info())) return *known;
  HostCalibration host = this->host();
  if (!host.is_measured) measure_host_memory(host, machine_threads(), short_host_bytes);
  const std::optional<DeviceCalibration> measured = try_measure(device, host);
  const MachineCalibration whole = store(device.info(), host, measured.value_or(DeviceCalibration()));
  if (measured) try_write(path_, whole);
  return whole.devices.at(device_key(device.info()));
}

MachineCalibration CalibrationStore::store(const DeviceInfo& device, const HostCalibration& host,
                                           const DeviceCalibration& calibration) {
  std::lock_guard guard(mutex_);
  calibration_.host = host;
  calibration_.devices[device_key(device)] = calibration;
  return calibration_;
}

}  // namespace diptych
