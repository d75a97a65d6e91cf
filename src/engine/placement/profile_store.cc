#include "engine/placement/profile_store.h"

#include "base/error.h"
#include "base/machine.h"
#include "engine/placement/measure.h"

namespace diptych {
namespace {

// What one thread reads in about 10 ms.
constexpr int64_t short_host_bytes = int64_t{32} << 20;

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

DeviceProfile ProfileStore::of(Device& device) {
  std::lock_guard guard(mutex_);
  read_locked();
  const std::string key = device_key(device.info());
  if (const auto found = profile_.devices.find(key); found != profile_.devices.end()) return found->second;
  if (device.info().is_host) return profile_.devices[key] = profile_of_host_device(profile_.host);
  try {
    if (!profile_.host.is_measured) measure_host_memory(profile_.host, machine_threads(), short_host_bytes);
    profile_.devices[key] = measure_short(device, profile_.host);
    if (!path_.empty()) write_profile(path_, profile_);
  } catch (const Error&) {
    // A device without room, or a file that can't be written: the figures serve this process.
    profile_.devices.try_emplace(key);
  }
  return profile_.devices[key];
}

}  // namespace diptych
