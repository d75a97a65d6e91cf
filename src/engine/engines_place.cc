// Placing the sections of a program: what placement/place.h asks for, found, and what runs have taught, kept.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "engine/engines.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/gpu/join/built_index.h"
#include "engine/placed_program.h"
#include "engine/placement/program_key.h"
#include "program/section_contents.h"

namespace diptych {
namespace {

// Programs come and go with their tablets; a start from nothing now and then costs little.
constexpr size_t most_known = 4096;

std::optional<Residency> residency_asked_for(const PlacementChoice& choice) {
  if (choice.residency == "auto") return std::nullopt;
  for (const Residency residency : {Residency::Serial, Residency::Streamed, Residency::Mapped})
    if (choice.residency == name_of(residency)) return residency;
  return Residency::Cached;
}

// The section's columns that the cache has, as if all tablets were as large.
int64_t bytes_in(gpu::SegmentCache& cache, const PlacedSection& section, const TabletSource& table) {
  double bytes = 0;
  for (size_t i = 0; i < section.columns.size(); ++i) {
    double here = 0, tablets = 0;
    for (const TabletSpan& span : section.needed) {
      const auto count = static_cast<double>(span.count);
      tablets += count;
      here += count * cache.part_here(table, span, section.columns[i]);
    }
    if (tablets > 0) bytes += static_cast<double>(section.bytes[i]) * (here / tablets);
  }
  return std::llround(bytes);
}

// Whether a section meets the index that is worth placing, by its estimate.
bool is_met_by_many(const Program& program, int32_t index) {
  for (int32_t at = 0; at < static_cast<int32_t>(program.instructions.size()); ++at) {
    const Instruction& parallel = program.instructions[static_cast<size_t>(at)];
    if (parallel.opcode != Opcode::Parallel || !indexes_met(program, at).contains(index)) continue;
    if (program.cursors[static_cast<size_t>(parallel.p1)].expected_rows >= least_device_rows) return true;
  }
  return false;
}

// Of the device among all.
uint64_t number_of(const DeviceInfo& info) {
  return static_cast<uint64_t>(info.number) << 1 | static_cast<uint64_t>(info.api);
}

template <typename Value>
Value& entry_of(std::unordered_map<uint64_t, Value>& known, uint64_t key) {
  if (known.size() >= most_known && !known.contains(key)) known.clear();
  return known[key];
}

}  // namespace

Engines::PlacedProgram& Engines::placed(const ProgramRun& run, const PlacementChoice& choice,
                                        std::unique_ptr<PlacedRun>& slot) {
  if (slot == nullptr) slot = place_program(run, choice);
  return static_cast<PlacedProgram&>(*slot);
}

std::unique_ptr<Engines::PlacedProgram> Engines::place_program(const ProgramRun& run, const PlacementChoice& choice) {
  const uint64_t changes = device_changes();
  // Whoever wants to know why is told what is so now.
  auto decision = run.context.profile == nullptr ? kept_decisions_.find(run, choice, changes) : nullptr;
  if (decision != nullptr) {
    if (choice.device == "auto") auto_devices_.note_work(decision->cpu_ns);
    return std::make_unique<PlacedProgram>(*this, std::move(decision), std::nullopt);
  }
  decision = decide(run, choice);
  std::optional<KeptDecisions::Entry> to_keep;
  if (run.context.profile == nullptr && may_serve_again(*decision, choice.device != "auto"))
    to_keep = KeptDecisions::entry_for(run, choice, changes, decision);
  return std::make_unique<PlacedProgram>(*this, std::move(decision), std::move(to_keep));
}

std::shared_ptr<const PlacementDecision> Engines::decide(const ProgramRun& run, const PlacementChoice& choice) {
  auto made = std::make_shared<PlacementDecision>();
  made->facts = known_facts(run);
  const HostCalibration host = calibrations_.host();
  std::vector<LearntChain> learnt(made->facts->chains);
  std::vector<DeviceFacts> devices;
  PlacementQuestion question{*made->facts, host, run.context.threads, {}, {}, residency_asked_for(choice)};
  question.tells_why = run.context.profile != nullptr;
  question.is_asked_for = choice.device != "auto";
  if (!question.is_asked_for) find_learnt(run, choice, *made, learnt);
  question.learnt = learnt;
  if (!question.is_asked_for) {
    made->cpu_ns = expected_cpu_ns(question);
    devices = auto_facts(run, choice, *made, question.no_device);
  } else if (Device* device = devices_.find_working(choice.device, made->not_found)) {
    // Nobody asks for figures where there is nothing to choose or to tell.
    const bool wants_figures = choice.residency == "auto" || question.tells_why;
    const DeviceCalibration calibration = wants_figures ? calibrations_.of(*device) : DeviceCalibration();
    made->devices.push_back(device);
    devices.push_back(facts_of(run, choice, *device, calibration, *made->facts));
  } else {
    question.is_asked_for = false;
  }
  question.devices = devices;
  made->placement = place(question);
  return made;
}

uint64_t Engines::device_changes() {
  uint64_t changes = auto_devices_.ready().size();
  std::lock_guard guard(mutex_);
  for (const auto& [device, engine] : engines_)
    if (engine) changes += engine->drops() + (device->health().is_lost() ? 1 : 0);
  return changes;
}

std::shared_ptr<const ProgramFacts> Engines::known_facts(const ProgramRun& run) {
  const uint64_t number = run.program.number;
  if (number != 0) {
    std::lock_guard guard(mutex_);
    const auto known = facts_.find(number);
    if (known != facts_.end() && known->second->wanted == run.wanted) return known->second;
  }
  auto facts = std::make_shared<const ProgramFacts>(find_program_facts(run.program, run.wanted));
  if (number != 0) {
    std::lock_guard guard(mutex_);
    entry_of(facts_, number) = facts;
  }
  return facts;
}

std::vector<DeviceFacts> Engines::auto_facts(const ProgramRun& run, const PlacementChoice& choice,
                                             PlacementDecision& made, std::string& no_device) {
  auto_devices_.note_work(made.cpu_ns);
  const std::span<const AutoDevice> found = auto_devices_.ready();
  if (found.empty())
    no_device = auto_devices_.is_searching() ? "devices are being looked for" : "no device found so far";
  std::vector<DeviceFacts> devices;
  // Nothing is asked of a device for what is short in any case.
  if (made.cpu_ns < least_device_ns) return devices;
  for (const AutoDevice& candidate : found) {
    if (candidate.device->health().is_lost()) no_device = loss_of(*candidate.device);
    devices.push_back(facts_of(run, choice, *candidate.device, candidate.calibration, *made.facts));
    made.devices.push_back(candidate.device);
  }
  return devices;
}

void Engines::find_learnt(const ProgramRun& run, const PlacementChoice& choice, PlacementDecision& made,
                          std::vector<LearntChain>& learnt) {
  // How soon enough rows are there.
  const uint64_t wanted = run.wanted < 0 ? 0 : std::bit_width(static_cast<uint64_t>(run.wanted)) + 1;
  const auto engine = static_cast<uint64_t>(gpu::kernel_choice_named(choice.gpu_engine));
  std::lock_guard guard(mutex_);
  for (size_t chain = 0; chain < made.facts->chains; ++chain) {
    uint64_t key = made.facts->lasting_key;
    const auto size = static_cast<uint64_t>(size_class_of(*made.facts, chain));
    for (const uint64_t word : {uint64_t{chain}, static_cast<uint64_t>(run.context.threads), wanted, engine, size})
      key = mixed_key(key, word);
    made.chain_keys.push_back(key);
    learnt[chain] = entry_of(learnt_, key);
  }
}

Device* Engines::device_of_meeting(const IndexTask& task, std::string& reason) {
  const PlacementChoice& choice = *task.context.choice;
  const bool is_auto = choice.device == "auto";
  if (choice.device == "cpu" || (is_auto && !auto_devices_.may_exist())) return nullptr;
  if (gpu::kernel_choice_named(choice.gpu_engine) == gpu::KernelChoice::Interpreter) return nullptr;
  if (!gpu::why_not_met(task.program, task.index).empty()) return nullptr;
  if (!is_auto) return devices_.find_working(choice.device, reason);
  if (!is_met_by_many(task.program, task.index)) return nullptr;
  const PlacementDecision& made = *placed({task.program, task.context, task.wanted}, choice, *task.placed).decision;
  for (size_t i = 0; i < made.facts->sections.size(); ++i) {
    const std::optional<size_t> device = made.placement.sections[i].device;
    if (device && indexes_met(task.program, made.facts->sections[i].address).contains(task.index))
      return made.devices[*device];
  }
  return nullptr;
}

DeviceFacts Engines::facts_of(const ProgramRun& run, const PlacementChoice& choice, Device& device,
                              const DeviceCalibration& calibration, const ProgramFacts& program) {
  DeviceFacts facts{device.info().id(), calibration, room_of(device), device.info().can_map, {}};
  const bool is_auto = choice.device == "auto";
  gpu::GpuEngine* engine = find_engine(device);
  for (const PlacedSection& section : program.sections) {
    SectionOnDevice& there = facts.sections.emplace_back();
    if (device.health().is_lost() || !section.table) continue;
    if (is_auto && !section.may_leave_cpu) continue;
    // Whoever asks for the device wants to know of the kernel only to see what was expected.
    if (!is_auto && run.context.profile == nullptr) continue;
    const KernelOutlook outlook = outlook_of(run.program, section, choice, device, program);
    there.can_run = outlook.unsupported.empty();
    there.state.is_compiled = outlook.is_compiled;
    if (engine == nullptr || !there.can_run) continue;
    const ColumnsThere columns = columns_there(run, section, *engine);
    there.state.cached_bytes = columns.cached_bytes;
    there.state.pinned_bytes = columns.pinned_bytes;
  }
  return facts;
}

// Going through the segments of a large table takes as long as a short section.
Engines::ColumnsThere Engines::columns_there(const ProgramRun& run, const PlacedSection& section,
                                             gpu::GpuEngine& engine) {
  gpu::SegmentCache &device = engine.device_columns(), &pinned = engine.pinned_columns();
  ColumnsThere columns{device.version(), pinned.version(), 0, 0};
  const uint64_t number = run.program.number;
  const uint64_t key =
      mixed_key(mixed_key(number, static_cast<uint64_t>(section.address)), number_of(engine.device().info()));
  if (number != 0) {
    std::lock_guard guard(mutex_);
    const auto known = columns_there_.find(key);
    if (known != columns_there_.end() && known->second.device_version == columns.device_version &&
        known->second.pinned_version == columns.pinned_version)
      return known->second;
  }
  const TabletSource& table = *run.program.sources[*section.table];
  columns.cached_bytes = bytes_in(device, section, table);
  columns.pinned_bytes = bytes_in(pinned, section, table);
  if (number != 0) {
    std::lock_guard guard(mutex_);
    entry_of(columns_there_, key) = columns;
  }
  return columns;
}

uint64_t Engines::outlook_key(uint64_t program, int32_t address, const PlacementChoice& choice, const Device& device) {
  const auto engine = static_cast<uint64_t>(gpu::kernel_choice_named(choice.gpu_engine));
  return mixed_key(mixed_key(program, static_cast<uint64_t>(address)), number_of(device.info()) << 4 | engine);
}

// Is asked once: texts of kernels are long. That a kernel can do it is so for tables that have changed by little; that
// none can, of these rows alone.
Engines::KernelOutlook Engines::outlook_of(const Program& program, const PlacedSection& section,
                                           const PlacementChoice& choice, Device& device, const ProgramFacts& facts) {
  const uint64_t key = outlook_key(facts.key, section.address, choice, device),
                 lasting_key = outlook_key(facts.lasting_key, section.address, choice, device);
  {
    std::lock_guard guard(mutex_);
    for (const uint64_t one : {key, lasting_key})
      if (const auto known = outlooks_.find(one); known != outlooks_.end()) return known->second;
  }
  if (std::string reason = gpu::why_no_join(program, section.address); !reason.empty())
    return {std::move(reason), false};
  gpu::SectionShape shape = gpu::find_source_shape(program, section.address, *program.sources[*section.table]);
  gpu::add_expected_indexes(program, section.address, shape);
  gpu::add_device(device, shape);
  KernelOutlook outlook;
  try {
    gpu::GpuEngine* engine = find_engine(device);
    auto seen =
        gpu::SectionKernels::look(device, program, section.address, shape, gpu::kernel_choice_named(choice.gpu_engine),
                                  engine != nullptr ? &engine->kernels() : nullptr);
    outlook = {std::move(seen.unsupported), seen.is_ready};
  } catch (const Error& error) {
    if (error.state() != SqlState::system_error) throw;
    return {error.message(), false};  // whoever runs there next says what its trouble is
  }
  std::lock_guard guard(mutex_);
  return entry_of(outlooks_, outlook.unsupported.empty() ? lasting_key : key) = std::move(outlook);
}

void Engines::note_run(const SectionTask& task, const PlacementChoice& choice, PlacedProgram& placed,
                       const SectionProfile* ran, const std::string& streamed, const Failure& failure) {
  const PlacementDecision& made = *placed.decision;
  const size_t number = *made.section_at(task.address), chain = made.facts->sections[number].chain;
  const SectionPlace& place = made.placement.sections[number];
  const Device& device = *made.devices[*place.device];
  // Until the kernel of its own is there, the interpreter stands in.
  const bool is_stand_in = ran != nullptr && ran->kernel == "interpreter" && choice.gpu_engine == "auto";
  if (ran == nullptr || !streamed.empty() || is_stand_in) {
    placed.is_usual[chain] = false;
    kept_decisions_.forget(task.program.text_number);
  }
  std::lock_guard guard(mutex_);
  const auto outlook = [&](uint64_t program) -> KernelOutlook& {
    return entry_of(outlooks_, outlook_key(program, task.address, choice, device));
  };
  if (ran != nullptr) outlook(made.facts->lasting_key).is_compiled = true;
  if (ran == nullptr && failure.is_lasting) outlook(made.facts->key).unsupported = failure.reason;
  const bool rests = ran == nullptr ? !failure.is_lasting : !streamed.empty();
  if (!rests || made.chain_keys.empty()) return;
  entry_of(learnt_, made.chain_keys[chain]).of(*place.device, place.residency).rest = rest_decisions;
}

Engines::PlacedProgram::PlacedProgram(Engines& engines, std::shared_ptr<const PlacementDecision> made,
                                      std::optional<KeptDecisions::Entry> to_keep)
    : decision(std::move(made)),
      is_usual(decision->facts->chains, true),
      engines_(engines),
      to_keep_(std::move(to_keep)) {
  is_alone_ = engines_.running_.fetch_add(1) == 0;
}

Engines::PlacedProgram::~PlacedProgram() { --engines_.running_; }

void Engines::PlacedProgram::end() {
  engines_.auto_devices_.search_if_due();
  // Nothing is learnt where nothing was chosen.
  const bool learns = !decision->chain_keys.empty();
  const bool went_as_expected = std::ranges::all_of(times_, [&](const auto& time) {
    return !learns || is_as_expected(decision->placement.chains[time.first], static_cast<double>(time.second));
  });
  if (to_keep_ && went_as_expected && std::ranges::all_of(is_usual, std::identity()))
    engines_.kept_decisions_.keep(std::move(*to_keep_));
  if (!learns) return;
  // What it took beside others says as much about them.
  const bool is_alone = is_alone_ && engines_.running_ == 1;
  std::lock_guard guard(engines_.mutex_);
  for (const auto& [chain, nanoseconds] : times_)
    learn(decision->placement.chains[chain], static_cast<double>(nanoseconds), is_usual[chain] && is_alone,
          entry_of(engines_.learnt_, decision->chain_keys[chain]));
}

}  // namespace diptych
