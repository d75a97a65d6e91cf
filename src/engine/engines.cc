#include "engine/engines.h"

#include <algorithm>

#include "base/error.h"
#include "engine/placed_program.h"
#include "program/section_contents.h"

namespace diptych {
namespace {

// The device that has the groups which the section goes on filling, or whose memory many rows are in that a section
// before has made there; null: there is none.
Device* device_of_rows(const SectionTask& task) {
  if (task.open != nullptr) {
    for (const int32_t table : tables_filled(task.program, task.address))
      if (const auto open = task.open->find(table); open != task.open->end()) return &open->second->device();
  }
  const RowSet* rows = row_set_of(*task.source);
  return rows != nullptr && rows->row_count() >= least_kept_rows ? rows->device() : nullptr;
}

// Whether a table of the program has rows that a device may be worth. No file is asked for its tablets.
bool has_large_table(const Program& program) {
  return std::ranges::any_of(program.sources, [](const std::shared_ptr<const TabletSource>& source) {
    return source->read_by_cpu() == nullptr && source->row_count() >= least_device_rows && is_table(*source);
  });
}

}  // namespace

Engines::Engines() : calibrations_(calibration_path()), auto_devices_(devices_, calibrations_, system_shows_gpu()) {}

Engines::Engines(std::vector<std::unique_ptr<DeviceDriver>> drivers, std::string calibration_path)
    : devices_(std::move(drivers)),
      calibrations_(std::move(calibration_path)),
      auto_devices_(devices_, calibrations_, true) {}

bool Engines::is_for_placement(const SectionTask& task, const PlacementChoice& choice) const {
  if (choice.device == "cpu" || !is_table(*task.source)) return false;
  return choice.device != "auto" || (auto_devices_.may_exist() && has_large_table(task.program));
}

std::optional<SectionResult> Engines::run(const SectionTask& task, const PlacementChoice& choice, PlacementNote& note) {
  const bool is_auto = choice.device == "auto";
  if (Device* device = device_of_rows(task)) return run_where_rows_are(task, choice, *device, note);
  if (is_for_placement(task, choice)) return run_as_placed(task, choice, note);
  if (!is_auto && choice.device != "cpu" && task.source->read_by_cpu() != nullptr) {
    // On no device, so that asking for one is no reason to fail: else no table could be filled.
    note.fallback = std::string("rows of ") + task.source->read_by_cpu() + " are read by the CPU";
    count_fallback(note.fallback);
  }
  if (task.context.profile == nullptr) return std::nullopt;
  describe_cpu(task, calibrations_.host(), note);
  if (!is_auto) {
    note.why = choice.device == "cpu" ? "asked for" : "its rows are no table's";
  } else if (!is_table(*task.source)) {
    note.why = "its rows are no table's";
  } else {
    note.why = task.source->row_count() >= least_device_rows ? "no GPU" : "few rows";
  }
  return std::nullopt;
}

bool Engines::start(const SectionTask& task, const PlacementChoice& choice) {
  if (!is_for_placement(task, choice)) return false;
  const PlacementDecision& made = *placed({task.program, task.context, task.wanted}, choice, *task.placed).decision;
  const std::optional<size_t> number = made.section_at(task.address);
  if (!number) return false;
  const SectionPlace& place = made.placement.sections[*number];
  return place.device && start_on(task, choice, *made.devices[*place.device], place.residency);
}

// Rows that a device has made stay there.
std::optional<SectionResult> Engines::run_where_rows_are(const SectionTask& task, const PlacementChoice& choice,
                                                         Device& device, PlacementNote& note) {
  Failure failure;
  const RowSet* rows = row_set_of(*task.source);
  const bool are_there = rows != nullptr && rows->device() == &device;
  auto result = run_on(task, choice, device, are_there ? Residency::Cached : Residency::Serial, 0, failure);
  if (result)
    result->profile.why = are_there ? "its rows are there" : "its groups are made there";
  else
    note_fallback(device.info().id(), failure, choice, note);
  return result;
}

void Engines::describe_cpu(const SectionTask& task, const HostCalibration& host, PlacementNote& note) {
  const SectionFacts facts = find_facts(task.program, task.address, *task.source, task.needed, task.wanted);
  const CostEstimate cost = estimate_cpu(facts, host, task.context.threads);
  note.estimate_ns = static_cast<int64_t>(cost.total_ns());
  if (host.is_measured) note.limit = cost.limit;
}

std::optional<SectionResult> Engines::run_as_placed(const SectionTask& task, const PlacementChoice& choice,
                                                    PlacementNote& note) {
  std::unique_ptr<PlacedRun> alone;
  PlacedProgram& program =
      placed({task.program, task.context, task.wanted}, choice, task.placed != nullptr ? *task.placed : alone);
  const PlacementDecision& made = *program.decision;
  const std::optional<size_t> number = made.section_at(task.address);
  check_invariant(number.has_value(), "all sections of a program are placed together");
  const PlacedSection& section = made.facts->sections[*number];
  const SectionPlace& place = made.placement.sections[*number];
  note.why = section.table ? made.placement.chains[section.chain].why : "its rows are no table's";
  note.estimate_ns = static_cast<int64_t>(place.estimate_ns);
  note.limit = place.limit;
  if (!made.not_found.empty()) note_fallback(choice.device, {made.not_found, ""}, choice, note);
  if (!place.device) {
    if (made.placement.chains[section.chain].way && section.table) note.why = "no kernel for its few rows";
    return std::nullopt;
  }
  Failure failure;
  std::string streamed;
  Device& device = *made.devices[*place.device];
  const double alone_ns = choice.device == "auto" ? place.settled_ns : 0;
  auto result = run_or_stream(task, choice, device, place.residency, alone_ns, failure, streamed);
  note_run(task, choice, program, result ? &result->profile : nullptr, streamed, failure);
  if (!result) {
    note_fallback(device.info().id(), failure, choice, note);
    if (task.context.profile != nullptr) describe_cpu(task, calibrations_.host(), note);
    return result;
  }
  result->profile.why = streamed.empty() ? note.why : note.why + "; " + streamed;
  if (!streamed.empty()) return result;
  result->profile.estimate_nanoseconds = note.estimate_ns;
  if (!result->is_shared) result->profile.limit = note.limit;
  return result;
}

}  // namespace diptych
