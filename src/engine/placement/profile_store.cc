#include "engine/placement/profile_store.h"

#include "base/error.h"
#include "base/machine.h"
#include "engine/placement/measure.h"

namespace diptych {
namespace {

// What one thread reads in about 10 ms.
constexpr int64_t short_host_bytes = int64_t{32} << 20;

// Nothing where the device has no room.
std::optional<DeviceProfile> try_measure(Device& device, const HostProfile& host) {
  try {
    return measure_short(device, host);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A file that can't be written is done without: the figures serve this process.
void try_write(const std::string& path, const MachineProfile& profile) {
  if (path.empty()) return;
  try {
    write_profile(path, profile);
  } catch (const Error&) {
  }
}

}  // namespace

void ProfileStore::read_locked() {
  if (is_read_) return;
  is_read_ = true;
  if (auto found = read_profile(path_)) profile_ = std::move(*found);
}

HostProfile ProfileStore::host() {
  std::lock_guard guard(mutex_);
  read_locked();
  return profile_.host;
}

std::optional<DeviceProfile> ProfileStore::find(const DeviceInfo& device) {
  std::lock_guard guard(mutex_);
  read_locked();
  const auto found = profile_.devices.find(device_key(device));
  if (found == profile_.devices.end()) return std::nullopt;
  return found->second;
}

std::optional<DeviceProfile> ProfileStore::find_or_derive(const DeviceInfo& device) {
  std::lock_guard guard(mutex_);
  read_locked();
  const std::string key = device_key(device);
  if (const auto found = profile_.devices.find(key); found != profile_.devices.end()) return found->second;
  if (!device.is_host) return std::nullopt;
  return profile_.devices[key] = profile_of_host_device(profile_.host);
}

DeviceProfile ProfileStore::of(Device& device) {
  if (const auto known = find_or_derive(device.info())) return *known;
  // One at a time, since two measurements would take memory bandwidth from each other.
  std::lock_guard measuring(measuring_);
  if (const auto known = find_or_derive(device.info())) return *known;
  HostProfile host = this->host();
  if (!host.is_measured) measure_host_memory(host, machine_threads(), short_host_bytes);
  const std::optional<DeviceProfile> measured = try_measure(device, host);
  const MachineProfile whole = store(device.info(), host, measured.value_or(DeviceProfile()));
  if (measured) try_write(path_, whole);
  return whole.devices.at(device_key(device.info()));
}

MachineProfile ProfileStore::store(const DeviceInfo& device, const HostProfile& host, const DeviceProfile& profile) {
  std::lock_guard guard(mutex_);
  profile_.host = host;
  profile_.devices[device_key(device)] = profile;
  return profile_;
}

}  // namespace diptych
