// The devices that device = auto may choose, found without letting a statement wait: loading CUDA and making a context
// takes a tenth of a second and more. A thread of its own does it, once enough work has gone by that a device could
// have taken, and behind the statement that it was: until it is done the CPU does everything, and short statements
// share neither cores nor the address space's lock with it. Where the operating system shows no GPU at all, nothing is
// loaded.
//
// A device whose memory is the host's is not among them: it has the cores and the memory that the CPU engine has.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "engine/device/calibration_store.h"
#include "engine/device/device_list.h"

namespace diptych {

struct AutoDevice {
  Device* device = nullptr;
  DeviceCalibration calibration;
};

class AutoDevices {
 public:
  // Both live longer. may_exist: whether to look at all; see system_shows_gpu().
  AutoDevices(DeviceList& devices, CalibrationStore& calibrations, bool may_exist)
      : devices_(devices), calibrations_(calibrations), may_exist_(may_exist) {}
  // Waits for the thread.
  ~AutoDevices() = default;

  bool may_exist() const { return may_exist_; }
  // Tells of work that the CPU is expected to take so long for; a long one starts the thread.
  void note_work(double cpu_ns);
  // Starts the thread if there has been enough work. Called behind a statement.
  void search_if_due() noexcept;
  // The devices; empty until they are found, and when there are none.
  std::span<const AutoDevice> ready() const;
  bool is_searching() const { return started_.load() && !done_.load(); }

 private:
  void search();

  DeviceList& devices_;
  CalibrationStore& calibrations_;
  const bool may_exist_;
  std::atomic<int64_t> work_ns_{0};
  std::atomic<bool> started_{false}, done_{false};
  std::vector<AutoDevice> found_;  // not changed once done_
  std::jthread thread_;
};

// True where the operating system has a node of a GPU: of NVIDIA's driver, AMD's, WSL's, or the direct rendering
// manager's.
bool system_shows_gpu();

}  // namespace diptych
