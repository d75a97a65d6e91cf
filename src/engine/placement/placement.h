// Decides which engine runs a section, and keeps count of what could not run where it was asked to.
//
//   device = cpu            the CPU, always
//   device = cuda, opencl   that device; what it can't do runs on the CPU, with the reason counted and shown
//   device = auto           whatever is expected to be faster
//
// Owned by a database: devices, their caches and the counters are shared by its connections.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/device_list.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/section_engine.h"

namespace diptych {

// What a connection's settings ask for; see base/settings.def.
struct PlacementChoice {
  std::string device = "auto";
  std::string gpu_engine = "auto";
  std::string residency = "auto";
  std::string fallback = "count";
  int64_t device_memory_limit = 0;  // 0: what the device has
};

class Placement {
 public:
  // Runs the section on a device, or returns nothing: then the CPU has to, and profile.fallback says why when a device
  // was asked for. Errors: those of the section's rows, 57014; 22023 for a device that is not there; with fallback =
  // error 0A000 naming the reason.
  std::optional<SectionResult> run(const SectionTask& task, const PlacementChoice& choice, std::string& fallback);

  DeviceList& devices() { return devices_; }
  // Reason -> how often, since the database was opened.
  std::map<std::string, int64_t> fallbacks() const;

 private:
  gpu::GpuEngine& engine_for(Device& device, const PlacementChoice& choice);
  void note_fallback(const std::string& device, const std::string& reason, const PlacementChoice& choice);

  DeviceList devices_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<Device*, std::unique_ptr<gpu::GpuEngine>> engines_;
  std::map<std::string, int64_t> fallbacks_;
};

}  // namespace diptych
