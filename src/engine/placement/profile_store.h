// The machine's profile as a database uses it: read from the file on first use, completed by short measurements of
// devices that the file lacks, which are written back where that is possible.
//
// Thread safety: all members may be called by many threads at once. None waits for a measurement but of(), for its own
// device's and those begun before.
#pragma once

#include <memory>
#include <mutex>

#include "engine/placement/profile.h"

namespace diptych {

class ProfileStore {
 public:
  // path: profile_path() for the user's.
  explicit ProfileStore(std::string path) : path_(std::move(path)) {}

  // What is known of the CPU: measured, or what is usual.
  HostProfile host();
  // Nothing where the device was not measured.
  std::optional<DeviceProfile> find(const DeviceInfo& device);
  // Measures the device in short when nothing is known of it; what is usual when that fails.
  DeviceProfile of(Device& device);

 private:
  void read_locked();
  // What is known of the device, or follows from the host's figures since it is a part of it.
  std::optional<DeviceProfile> find_or_derive(const DeviceInfo& device);
  // Returns a copy of all that is known then.
  MachineProfile store(const DeviceInfo& device, const HostProfile& host, const DeviceProfile& profile);

  const std::string path_;
  std::mutex measuring_;  // held while a device is measured and the file written; locked before mutex_
  std::mutex mutex_;      // guards what follows; never held for long
  bool is_read_ = false;
  MachineProfile profile_;
};

}  // namespace diptych
