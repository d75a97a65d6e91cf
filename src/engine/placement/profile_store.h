// The machine's profile as a database uses it: read from the file on first use, completed by short measurements of
// devices that the file lacks, which are written back where that is possible.
//
// Thread safety: all members may be called by many threads at once.
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

  const std::string path_;
  std::mutex mutex_;  // guards what follows
  bool is_read_ = false;
  MachineProfile profile_;
};

}  // namespace diptych
