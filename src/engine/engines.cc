#include "engine/engines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "engine/gpu/groups/group_source.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/placement/choose.h"
#include "program/section_contents.h"

namespace diptych {
namespace {

// Nor does a section that the CPU is done with in this time: a device's launch, its waiting and its host's part take
// nearly that long.
constexpr double least_device_ns = 40e3;
// A device's time is believed after so many runs: the first that is disturbed would otherwise be the last.
constexpr int least_device_runs = 3;
// The CPU's estimate is the least certain: what it is done with in so long runs there as often before a device is
// asked.
constexpr double most_trial_ns = 5e6;
constexpr int least_cpu_runs = 3;
// What a device could not do is not tried again for so many decisions: it had no memory, or a row failed behind a
// LIMIT.
constexpr int64_t rest_decisions = 64;

constexpr Residency all_residencies[] = {Residency::Cached, Residency::Streamed, Residency::Mapped, Residency::Serial};

// The device that has the groups which the section goes on filling, or whose memory many rows are in that a section
// before has made there; null: there is none. Fewer rows are copied in the time that a launch takes.
Device* device_of_rows(const SectionTask& task) {
  const auto* groups = dynamic_cast<const gpu::GroupSource*>(task.source.get());
  if (task.open != nullptr) {
    for (const int32_t table : tables_filled(task.program, task.address))
      if (const auto open = task.open->find(table); open != task.open->end()) return &open->second->device();
  }
  return groups != nullptr && groups->row_count() >= least_device_rows ? &groups->device() : nullptr;
}

Residency residency_named(const std::string& name) {
  for (const Residency residency : all_residencies)
    if (name == name_of(residency)) return residency;
  return Residency::Cached;
}

bool admits(const PlacementChoice& choice, Residency residency) {
  return choice.residency == "auto" || choice.residency == name_of(residency);
}

// What a section's experience is of, as a number: these are asked for often.
uint64_t way_of(const Device& device, const PlacementChoice& choice, Residency residency) {
  const DeviceInfo& info = device.info();
  const auto engine = static_cast<uint64_t>(gpu::kernel_choice_named(choice.gpu_engine));
  const uint64_t number = static_cast<uint64_t>(info.number) << 1 | static_cast<uint64_t>(info.api);
  return number << 8 | static_cast<uint64_t>(residency) << 4 | engine;
}
uint64_t way_of_cpu(int threads) { return ~static_cast<uint64_t>(threads); }

std::string milliseconds(double nanoseconds) { return fmt::format("{:.3f} ms", nanoseconds * 1e-6); }

}  // namespace

// A way to run a section, and where.
struct Engines::Option {
  Device* device = nullptr;
  Way way;
  double estimate_ns = 0;  // with columns in place and the kernel compiled
  uint64_t key = 0;        // of what is known of it
};

Engines::Engines() : calibrations_(calibration_path()), auto_devices_(devices_, calibrations_, system_shows_gpu()) {}

Engines::Engines(std::vector<std::unique_ptr<DeviceDriver>> drivers, std::string calibration_path)
    : devices_(std::move(drivers)),
      calibrations_(std::move(calibration_path)),
      auto_devices_(devices_, calibrations_, true) {}

std::optional<SectionResult> Engines::run(const SectionTask& task, const PlacementChoice& choice, PlacementNote& note) {
  const bool is_auto = choice.device == "auto";
  if (Device* device = device_of_rows(task)) return run_where_rows_are(task, choice, *device, note);
  if (!is_auto && choice.device != "cpu" && is_table(*task.source)) return run_forced(task, choice, note);
  if (!is_auto && choice.device != "cpu" && task.source->read_by_cpu() != nullptr) {
    // On no device, so that asking for one is no reason to fail: else no table could be filled.
    note.fallback = std::string("rows of ") + task.source->read_by_cpu() + " are read by the CPU";
    count_fallback(note.fallback);
  }
  const bool is_candidate = is_auto && task.source->row_count() >= least_device_rows && is_table(*task.source);
  if (is_candidate && auto_devices_.may_exist()) return run_auto(task, choice, note);
  if (task.context.profile == nullptr) return std::nullopt;
  describe_cpu(task, calibrations_.host(), note);
  if (!is_auto) {
    note.why = choice.device == "cpu" ? "asked for" : "its rows are no table's";
  } else if (is_candidate) {
    note.why = "no GPU";
  } else {
    note.why = is_table(*task.source) ? "few rows" : "its rows are no table's";
  }
  return std::nullopt;
}

// Rows that a device has made stay there.
std::optional<SectionResult> Engines::run_where_rows_are(const SectionTask& task, const PlacementChoice& choice,
                                                         Device& device, PlacementNote& note) {
  Failure failure;
  const bool are_there = gpu::groups_on(device, *task.source) != nullptr;
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

// ---- a device that was asked for

std::optional<SectionResult> Engines::run_forced(const SectionTask& task, const PlacementChoice& choice,
                                                 PlacementNote& note) {
  const bool is_auto = choice.residency == "auto", wants_estimate = task.context.profile != nullptr;
  Failure loss;
  Device* device = devices_.find_working(choice.device, loss.reason);
  if (device == nullptr) {
    note_fallback(choice.device, loss, choice, note);
    if (wants_estimate) describe_cpu(task, calibrations_.host(), note);
    return std::nullopt;
  }
  Residency residency = residency_named(choice.residency);
  const auto run_there = [&] {
    Failure failure;
    std::string streamed;
    auto result = run_or_stream(task, choice, *device, residency, 0, failure, streamed);
    if (result && !streamed.empty()) result->profile.why = "asked for, " + streamed;
    if (result) return result;
    note_fallback(device->info().id(), failure, choice, note);
    if (wants_estimate) describe_cpu(task, calibrations_.host(), note);
    return result;
  };
  if (!is_auto && !wants_estimate) return run_there();
  const SectionFacts facts = find_facts(task.program, task.address, *task.source, task.needed, task.wanted);
  const HostCalibration host = calibrations_.host();
  const DeviceCalibration calibration = calibrations_.of(*device);
  const MemoryRoom room = room_of(*device);
  if (is_auto) residency = best_residency(facts, host, calibration, room, device->info().can_map);
  if (!wants_estimate) return run_there();
  const uint64_t key = way_key(section_key(task), way_of(*device, choice, residency));
  const DeviceState state = state_of(key, residency, settled_state(facts, room));
  auto result = run_there();
  if (!result || !result->profile.why.empty()) return result;
  const CostEstimate cost = estimate_device(facts, host, calibration, residency, state);
  result->profile.estimate_nanoseconds = static_cast<int64_t>(cost.total_ns());
  if (!calibration.is_short && !result->is_shared) result->profile.limit = cost.limit;
  result->profile.why = is_auto ? "device asked for, the best residency that fits it" : "asked for";
  note_run(key, facts);
  return result;
}

// Of what a run has left, no more is still there than fits.
DeviceState Engines::state_of(uint64_t key, Residency residency, const DeviceState& settled) {
  std::lock_guard guard(mutex_);
  const SectionExperience& known = experience_.of(key);
  DeviceState state;
  state.is_compiled = known.is_compiled;
  if (residency == Residency::Cached)
    state.cached_bytes = known.resident_bytes;
  else
    state.pinned_bytes = std::min(known.resident_bytes, settled.pinned_bytes);
  return state;
}

void Engines::note_run(uint64_t key, const SectionFacts& facts) {
  std::lock_guard guard(mutex_);
  SectionExperience& known = experience_.of(key);
  known.is_compiled = true;
  known.resident_bytes = facts.bytes;
}

// ---- auto

std::optional<SectionResult> Engines::run_auto(const SectionTask& task, const PlacementChoice& choice,
                                               PlacementNote& note) {
  const bool wants_report = task.context.profile != nullptr;
  const std::span<const AutoDevice> devices = auto_devices_.ready();
  const uint64_t section = section_key(task);
  note.lesson = way_key(section, way_of_cpu(task.context.threads));
  const HostCalibration host = calibrations_.host();
  const SectionFacts facts = find_facts(task.program, task.address, *task.source, task.needed, task.wanted);
  const CostEstimate cpu = estimate_cpu(facts, host, task.context.threads);
  note.estimate_ns = static_cast<int64_t>(cpu.total_ns());
  if (host.is_measured) note.limit = cpu.limit;
  const double cpu_ns = cpu.total_ns() * ratio_of(note.lesson, 1);
  auto_devices_.note_work(cpu_ns);
  if (devices.empty() || cpu_ns < least_device_ns) {
    note.why = !devices.empty()               ? "short on the CPU"
               : auto_devices_.is_searching() ? "devices are being looked for"
                                              : "no device found so far";
    return std::nullopt;
  }
  if (cpu_ns < most_trial_ns && runs_of(note.lesson) < least_cpu_runs) {
    note.why = "what it takes on the CPU is not known yet";
    return std::nullopt;
  }
  const int64_t decision = next_decision(section);
  std::vector<Option> options;
  for (const AutoDevice& candidate : devices) weigh(task, section, decision, facts, host, candidate, choice, options);
  if (options.empty()) {
    note.why = "no device can run it";
    for (const AutoDevice& candidate : devices)
      if (const Device& device = *candidate.device; device.health().is_lost()) note.why = loss_of(device);
    return std::nullopt;
  }
  std::vector<Way> ways;
  for (const Option& option : options) ways.push_back(option.way);
  PlacementDecision decided;
  {
    std::lock_guard guard(mutex_);
    for (size_t i = 0; i < ways.size(); ++i) ways[i].regret_ns = experience_.of(options[i].key).regret_ns;
    decided = choose(ways, cpu_ns, decision);
    experience_.of(options[decided.best].key).regret_ns = decided.regret_ns;
  }
  if (wants_report) {
    const Option& best = options[decided.best];
    note.why =
        fmt::format("{} {}: {} now, {} once settled; CPU: {}", best.device->info().id(), name_of(best.way.residency),
                    milliseconds(best.way.now.total_ns()), milliseconds(best.way.settled_ns), milliseconds(cpu_ns));
    if (decided.in_place) {
      const Way& in_place = ways[*decided.in_place];
      note.why += fmt::format("; in place: {}, {}", name_of(in_place.residency), milliseconds(in_place.now.total_ns()));
    }
    if (decided.is_trial) note.why += "; another is tried again";
  }
  if (!decided.way) return std::nullopt;
  const Option* chosen = &options[*decided.way];
  Failure failure;
  std::string streamed;
  auto result =
      run_or_stream(task, choice, *chosen->device, chosen->way.residency, chosen->estimate_ns, failure, streamed);
  if (!result) note_fallback(chosen->device->info().id(), failure, choice, note);
  {
    std::lock_guard guard(mutex_);
    SectionExperience& known = experience_.of(chosen->key);
    if (!result && failure.is_lasting)
      known.unsupported = failure.reason;
    else if (!result || !streamed.empty())
      known.rests_until = decision + rest_decisions;
    if (result && streamed.empty() && chosen->way.is_settled) {
      note_kernel(known, result->profile.kernel);
      add_time(known, static_cast<double>(result->profile.nanoseconds), chosen->estimate_ns);
    }
  }
  if (!result) return result;
  if (!streamed.empty())
    note.why += "; " + streamed;
  else
    note_run(chosen->key, facts);
  result->profile.estimate_nanoseconds = static_cast<int64_t>(chosen->way.now.total_ns());
  for (const AutoDevice& candidate : devices)
    if (candidate.device == chosen->device && !candidate.calibration.is_short && !result->is_shared)
      result->profile.limit = chosen->way.now.limit;
  result->profile.why = note.why;
  return result;
}

int64_t Engines::next_decision(uint64_t section) {
  std::lock_guard guard(mutex_);
  return ++experience_.of(section).decisions;
}

bool Engines::rests(uint64_t key, int64_t decision) {
  std::lock_guard guard(mutex_);
  return decision < experience_.of(key).rests_until;
}

// Adds each residency that can do it on the device.
void Engines::weigh(const SectionTask& task, uint64_t section, int64_t decision, const SectionFacts& facts,
                    const HostCalibration& host, const AutoDevice& candidate, const PlacementChoice& choice,
                    std::vector<Option>& options) {
  Device& device = *candidate.device;
  if (device.health().is_lost()) return;
  const MemoryRoom room = room_of(device);
  const DeviceState settled = settled_state(facts, room);
  for (const Residency residency : all_residencies) {
    if (!admits(choice, residency)) continue;
    if (residency == Residency::Mapped && !device.info().can_map) continue;
    if (!fits(facts, residency, room) && choice.residency == "auto" && residency != Residency::Serial) continue;
    const uint64_t key = way_key(section, way_of(device, choice, residency));
    if (!check_kernel(task, choice, device, key) || rests(key, decision)) continue;
    const DeviceState state = state_of(key, residency, settled);
    Option option{&device, {residency, estimate_device(facts, host, candidate.calibration, residency, state)}};
    option.estimate_ns = estimate_device(facts, host, candidate.calibration, residency, settled).total_ns();
    option.key = key;
    Way& way = option.way;
    const bool is_there = residency == Residency::Cached ? state.cached_bytes >= settled.cached_bytes
                                                         : state.pinned_bytes >= settled.pinned_bytes;
    way.is_settled = state.is_compiled && is_there;
    // What runs took says more than any estimate.
    way.settled_ns = option.estimate_ns * ratio_of(key, least_device_runs);
    way.now.compute_ns += way.settled_ns - option.estimate_ns;
    options.push_back(option);
  }
}

int Engines::runs_of(uint64_t key) {
  std::lock_guard guard(mutex_);
  return experience_.of(key).runs;
}

double Engines::ratio_of(uint64_t key, int least_runs) {
  std::lock_guard guard(mutex_);
  const SectionExperience& known = experience_.of(key);
  return known.runs < least_runs ? known.expected_ratio : known.ratio;
}

// Whether a kernel can do the section, and whether it is compiled, is asked once.
bool Engines::check_kernel(const SectionTask& task, const PlacementChoice& choice, Device& device, uint64_t key) {
  {
    std::lock_guard guard(mutex_);
    const SectionExperience& known = experience_.of(key);
    if (known.is_checked) return known.unsupported.empty();
  }
  gpu::SectionShape shape = gpu::find_source_shape(task.program, task.address, *task.source);
  gpu::add_device(device, shape);
  gpu::SectionKernels::Outlook outlook;
  try {
    outlook = gpu::SectionKernels::look(device, task.program, task.address, shape,
                                        gpu::kernel_choice_named(choice.gpu_engine));
  } catch (const Error& error) {
    if (error.state() != SqlState::system_error) throw;
    return false;  // whoever runs there next says what its trouble is
  }
  std::lock_guard guard(mutex_);
  SectionExperience& known = experience_.of(key);
  known.is_checked = true;
  known.unsupported = std::move(outlook.unsupported);
  known.is_compiled = outlook.is_ready;
  return known.unsupported.empty();
}

void Engines::learn(const PlacementNote& note, int64_t nanoseconds) {
  std::lock_guard guard(mutex_);
  add_time(experience_.of(note.lesson), static_cast<double>(nanoseconds), static_cast<double>(note.estimate_ns));
}

}  // namespace diptych
