// Devices as the walk sees them: who runs a section where it should run, and deals with what devices have made.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/run/section_task.h"

namespace diptych {

// What a connection's settings ask for; see base/settings.def.
struct PlacementChoice {
  std::string device = "auto";
  std::string residency = "auto";
  std::string gpu_engine = "auto";
  std::string fallback = "count";
  std::string share_tablets = "auto";
};

// What was decided about a section that the CPU runs.
struct PlacementNote {
  std::string fallback;  // why the device asked for does not run it; empty: none was, or it does
  std::string why;       // in a line, for EXPLAIN ANALYZE
  int64_t estimate_ns = 0;
  double limit = 0;  // bytes a second the memory gives; 0: not calibrated
};

// Thread safety: all members may be called by many threads at once.
class SectionRunner {
 public:
  virtual ~SectionRunner() = default;
  // Runs the section on a device, or returns nothing: then the CPU has to, and the note says why. Errors: those of the
  // section's rows, 57014; 22023 for a device that is not there; with fallback = error 0A000 naming the reason.
  virtual std::optional<SectionResult> run(const SectionTask& task, const PlacementChoice& choice,
                                           PlacementNote& note) = 0;
  // Has a device begin with the section before it is its turn, and adds it to task.started, so that run() takes it from
  // there: if it was placed with its columns on the device that those are on. False: it was not, or has failed, and
  // nothing has happened. What the task refers to outlives what is started. Errors: 57014.
  virtual bool start(const SectionTask& task, const PlacementChoice& choice) = 0;
  // On the device that has the rows, or, for those of the host, on the one where the sections will run that meet them;
  // null: the CPU has to, and the note says why a device fails. is_known: as below. Errors: as run().
  virtual std::shared_ptr<DeviceIndex> build(const IndexTask& task, bool is_known, PlacementNote& note) = 0;
  // Does what a device may fail at; false: the CPU has to make again what it was about, and the note says why.
  // is_known: the statement has fallen back before. Errors: those of the work, but for 53200 and 58000; 0A000 as run().
  virtual bool attempt(Device& device, const PlacementChoice& choice, bool is_known, PlacementNote& note,
                       const std::function<void()>& work) = 0;
};

}  // namespace diptych
