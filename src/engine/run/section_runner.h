// Devices as the walk sees them: who runs a section where it should run, and deals with what devices have made.
#pragma once

#include <memory>
#include <optional>
#include <span>
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
  // What Groups shows of a table that a device has; or nothing: then the CPU has to fill it anew, and the note says
  // why. is_known: the statement has fallen back before. Errors: 22003; 0A000 as run().
  virtual std::shared_ptr<const TabletSource> close(OpenGroups& groups, const PlacementChoice& choice, bool is_known,
                                                    PlacementNote& note) = 0;
  // Has these columns of rows that a device may have made in host memory; false, and is_known: as close().
  virtual bool bring(const TabletSource& source, std::span<const size_t> columns, const PlacementChoice& choice,
                     bool is_known, PlacementNote& note) = 0;
  // What it has taken so far to copy a source's rows from a device to those who asked for them on the CPU.
  virtual QueueWork work_of_rows(const TabletSource& source) const = 0;
};

}  // namespace diptych
