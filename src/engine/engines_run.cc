// Running sections where it was decided, and what devices do with what they have made there; falling back.
#include <algorithm>
#include <exception>
#include <set>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "engine/device/stop_check.h"
#include "engine/engines.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/gpu/join/built_index.h"
#include "engine/gpu/output/host_memory.h"
#include "engine/gpu/program_kernels.h"
#include "engine/placed_program.h"
#include "engine/placement/program_key.h"
#include "engine/run/shared_section.h"
#include "program/section_contents.h"

namespace diptych {
namespace {

// What takes a device less is not worth waking the CPU's threads for.
constexpr double least_shared_ns = 1e6;

void note_bytes(const Device& device, ExecutionProfile& profile) {
  const DeviceMemoryUse use = device.memory_use();
  const DeviceBytes bytes{device.info().id(), use.used_bytes, use.peak_bytes, use.pinned_bytes};
  for (DeviceBytes& known : profile.devices)
    if (known.device == bytes.device) return void(known = bytes);
  profile.devices.push_back(bytes);
}

// Whether the CPU takes tablets beside a device that alone would take so long: of columns that come over the bus in any
// case.
bool shares(const SectionTask& task, const PlacementChoice& choice, Residency residency, double alone_ns) {
  if (task.partner == nullptr || residency == Residency::Cached || choice.share_tablets == "off") return false;
  if (task.wanted == 0) return false;
  if (choice.share_tablets == "auto" && (choice.device != "auto" || alone_ns < least_shared_ns)) return false;
  return can_share(task.program, task.address, task.wanted);
}

// A device's own troubles, or those of the memory there.
bool is_of_a_device(const Error& error) {
  return error.state() == SqlState::out_of_memory || error.state() == SqlState::system_error;
}

// Known before any column is brought to a device; empty: there may be a kernel.
std::string why_no_kernel(const SectionTask& task, const Device& device) {
  const std::set<int32_t> met = indexes_met(task.program, task.address);
  const bool are_there =
      std::ranges::all_of(met, [&](int32_t index) { return gpu::index_on(device, task, index) != nullptr; });
  const bool appends = std::ranges::any_of(opcodes_of(task.program, task.address),
                                           [](const Instruction& at) { return at.opcode == Opcode::Append; });
  if (are_there && !appends) return "";
  std::string reason = gpu::why_no_join(task.program, task.address);
  return reason.empty() && !are_there ? gpu::meets_an_index : reason;
}

// Of the kernels from a section on. Rows that change make no others, but where they change how a column is stored: such
// a kernel is compiled when its section asks for it.
uint64_t kernels_key(const SectionTask& task, const ProgramFacts* facts) {
  const auto address = static_cast<uint64_t>(task.address);
  if (task.program.text_number != 0) return mixed_key(task.program.text_number, address);
  return facts != nullptr ? mixed_key(facts->key, address) : program_key(task.program, task.address);
}

}  // namespace

std::string Engines::loss_of(const Device& device) { return device.info().id() + " is " + device.health().why_lost(); }

void Engines::prepare_kernels(const SectionTask& task, const PlacementChoice& choice, gpu::GpuEngine& engine,
                              Residency residency) {
  // Where the compiler takes one kernel after the other, the section would wait for those of others.
  const bool has_threads = engine.device().info().compiles_at_once > 1;
  if (!has_threads || gpu::kernel_choice_named(choice.gpu_engine) == gpu::KernelChoice::Interpreter) return;
  const PartScope scope(task.clock(), TimePart::Compile);
  const auto* placed = task.placed != nullptr ? static_cast<const PlacedProgram*>(task.placed->get()) : nullptr;
  const gpu::ProgramKernels::Admits admits = [&](int32_t address, const TabletSource* table, int64_t rows) {
    if (table == nullptr) return rows >= least_kept_rows;
    if (choice.device != "auto" || placed == nullptr) return is_table(*table);
    const std::optional<size_t> number = placed->decision->section_at(address);
    return number && placed->decision->placement.sections[*number].device;
  };
  engine.kernels().prepare(kernels_key(task, placed != nullptr ? placed->decision->facts.get() : nullptr), [&] {
    return gpu::ProgramKernels(engine, task.program, residency, admits).find(task.address, *task.source);
  });
}

std::optional<SectionResult> Engines::run_on(const SectionTask& task, const PlacementChoice& choice, Device& device,
                                             Residency residency, double alone_ns, Failure& failure) {
  std::optional<SectionResult> result;
  failure.reason = why_no_kernel(task, device);
  if (!failure.reason.empty()) {
    // That an index is not there may be for want of memory.
    failure.is_lasting = failure.reason != gpu::meets_an_index;
    return result;
  }
  try {
    gpu::GpuEngine& engine = engine_for(device);
    const gpu::KernelChoice kernels = gpu::kernel_choice_named(choice.gpu_engine);
    prepare_kernels(task, choice, engine, residency);
    result = finish_started(task);
    if (!result)
      result = shares(task, choice, residency, alone_ns) ? run_shared(task, engine, residency, kernels, failure.reason)
                                                         : engine.run(task, residency, kernels, failure.reason);
    count_failures(engine);
    if (!result) failure.is_lasting = failure.reason != gpu::row_behind_limit;
  } catch (const gpu::NoHostMemory& error) {
    failure = {error.message(), error.hint()};
  } catch (const Error& error) {
    // The CPU does it.
    if (!is_of_a_device(error)) throw;
    failure = {error.message(), error.hint()};
    failure.lacks_memory = error.state() == SqlState::out_of_memory;
  } catch (const std::system_error& error) {
    failure.reason = std::string("no thread for the device's part: ") + error.what();
  }
  if (result && task.context.profile != nullptr) note_bytes(device, *task.context.profile);
  // Who has a result, since the device was lost behind it, may have kept columns there after all others had gone.
  if (device.health().is_lost()) {
    if (!result) failure = {loss_of(device), ""};
    forget(device);
  }
  return result;
}

bool Engines::start_on(const SectionTask& task, const PlacementChoice& choice, Device& device, Residency residency) {
  // Those that come over the bus would only be in each other's way.
  if (residency != Residency::Cached || !why_no_kernel(task, device).empty()) return false;
  std::unique_ptr<StartedSection> started;
  try {
    gpu::GpuEngine& engine = engine_for(device);
    if (!task.started->empty() && &task.started->begin()->second->device() != &device) return false;
    prepare_kernels(task, choice, engine, residency);
    started = engine.start(task, residency, gpu::kernel_choice_named(choice.gpu_engine));
  } catch (const Error& error) {
    // Its turn shows the others again.
    if (error.state() == SqlState::query_canceled) throw;
  }
  const bool is_started = started != nullptr;
  if (is_started) task.started->emplace(task.address, std::move(started));
  return is_started;
}

std::optional<SectionResult> Engines::finish_started(const SectionTask& task) {
  if (task.started == nullptr) return std::nullopt;
  const auto started = task.started->extract(task.address);
  if (started.empty()) return std::nullopt;
  std::string reason;  // it is met again
  try {
    if (auto result = started.mapped()->finish(reason)) return result;
  } catch (const Error& error) {
    if (!is_of_a_device(error)) throw;
  }
  // A section that waits for its place has nothing on the device.
  task.started->clear();
  return std::nullopt;
}

std::optional<SectionResult> Engines::run_or_stream(const SectionTask& task, const PlacementChoice& choice,
                                                    Device& device, Residency residency, double alone_ns,
                                                    Failure& failure, std::string& streamed) {
  auto result = run_on(task, choice, device, residency, alone_ns, failure);
  const bool stays = residency == Residency::Cached || residency == Residency::Mapped;
  if (result || !failure.lacks_memory || !stays) return result;
  streamed = "streamed: " + failure.reason;
  failure = {};
  return run_on(task, choice, device, Residency::Streamed, alone_ns, failure);
}

std::optional<SectionResult> Engines::run_shared(const SectionTask& task, gpu::GpuEngine& engine, Residency residency,
                                                 gpu::KernelChoice kernels, std::string& reason) {
  TabletQueue queue(*task.source, task.needed.by_tablet());
  PartClock clock(TimePart::Turn);
  WorkReport report{{}, &clock};
  const SectionTask shared{
      task.program, task.address, task.source, task.wanted, task.context,
      task.needed,  task.partner, task.open,   &queue,      task.report != nullptr ? &report : nullptr,
      nullptr,      task.indexes};
  std::optional<SectionResult> result;
  std::exception_ptr device_error, cpu_error;
  PartTimes device_times;
  {
    // The CPU's part ends before the thread is waited for.
    const PartScope waits(task.clock(), TimePart::Wait);
    // Whoever fails leaves nothing to do for the other.
    const std::jthread device([&] {
      const StopCheck stop([&shared] { check_cancelled(shared.context); });
      try {
        result = engine.run(shared, residency, kernels, reason);
      } catch (...) {
        device_error = std::current_exception();
      }
      if (!result) queue.close();
      device_times = clock.times();
    });
    try {
      const PartScope works(task.clock(), TimePart::Rows);
      task.partner->work(queue);
    } catch (...) {
      cpu_error = std::current_exception();
      queue.close();
    }
  }
  if (task.report != nullptr) task.report->work.add(report.work);
  // What either has made must not stay when the section is run again.
  if (cpu_error || !result) task.partner->forget();
  if (cpu_error && result && task.context.progress != nullptr)
    task.context.progress->rows_done -= result->profile.rows_in;
  if (cpu_error) std::rethrow_exception(cpu_error);
  if (device_error) std::rethrow_exception(device_error);
  if (result) {
    result->is_shared = true;
    result->profile.parts = device_times;
  }
  return result;
}

MemoryRoom Engines::room_of(const Device& device) const {
  const int64_t limit = device_memory_limit();
  return {limit > 0 ? limit : device.info().memory_bytes / 10 * 9, gpu::most_pinned_column_bytes()};
}

void Engines::set_device_memory_limit(int64_t bytes) {
  std::lock_guard guard(mutex_);
  if (bytes == device_memory_limit_) return;
  device_memory_limit_ = bytes;
  kept_decisions_.clear();
  for (auto& [device, engine] : engines_)
    if (engine) engine->set_memory_limit(bytes > 0 ? bytes : -1);
}

gpu::GpuEngine& Engines::engine_for(Device& device) {
  std::lock_guard guard(mutex_);
  auto& engine = engines_[&device];
  if (engine) return *engine;
  engine = std::make_unique<gpu::GpuEngine>(device);
  if (const int64_t limit = device_memory_limit(); limit > 0) engine->set_memory_limit(limit);
  return *engine;
}

gpu::GpuEngine* Engines::find_engine(Device& device) {
  std::lock_guard guard(mutex_);
  const auto found = engines_.find(&device);
  return found != engines_.end() ? found->second.get() : nullptr;
}

bool Engines::uses_devices() const {
  std::lock_guard guard(mutex_);
  return !engines_.empty();
}

void Engines::follow(const std::shared_ptr<const TabletSource>& table) noexcept {
  try {
    std::vector<gpu::GpuEngine*> engines;
    {
      std::lock_guard guard(mutex_);
      for (const auto& [device, engine] : engines_)
        if (engine && !device->health().is_lost()) engines.push_back(engine.get());
    }
    for (gpu::GpuEngine* engine : engines) engine->follow(table);
  } catch (const std::exception&) {
    // The commit is done, and nobody has asked for more.
  }
}

void Engines::forget(Device& device) {
  if (gpu::GpuEngine* engine = find_engine(device)) engine->forget();
}

void Engines::note_fallback(const std::string& device, const Failure& failure, const PlacementChoice& choice,
                            PlacementNote& note) {
  const std::string& reason = failure.reason;
  if (choice.fallback == "error" && choice.device != "auto")
    throw Error(SqlState::feature_not_supported, device + " can't run this: " + reason, -1, failure.details);
  if (choice.fallback == "warn") logger().warn("{}: runs on the CPU: {}", device, reason);
  count_fallback(reason);
  note.fallback = failure.details.empty() ? reason : reason + " (" + failure.details + ")";
}

void Engines::count_fallback(const std::string& reason) {
  constexpr size_t most_reasons = 256;
  std::lock_guard guard(mutex_);
  const bool is_counted = fallbacks_.size() < most_reasons || fallbacks_.contains(reason);
  ++fallbacks_[is_counted ? reason : "other reasons"];
}

// Kernels that a thread could not compile: the interpreter goes on running their sections.
void Engines::count_failures(gpu::GpuEngine& engine) {
  for (const std::string& reason : engine.kernels().compiler().take_failures()) {
    logger().warn("{}: {}", engine.device().info().id(), reason);
    count_fallback(reason);
  }
}

std::map<std::string, int64_t> Engines::fallbacks() const {
  std::lock_guard guard(mutex_);
  return fallbacks_;
}

gpu::SectionKernel Engines::kernel_of(const Program& program, int32_t address, const TabletSource& source) {
  gpu::SectionShape shape = gpu::find_source_shape(program, address, source);
  gpu::add_expected_indexes(program, address, shape);
  return gpu::generate_section(program, address, shape);
}

std::shared_ptr<DeviceIndex> Engines::build(const IndexTask& task, bool is_known, PlacementNote& note) {
  const PlacementChoice& choice = *task.context.choice;
  std::string reason;
  Device* there = task.rows->device();
  if (there == nullptr) {
    there = device_of_meeting(task, reason);
    if (there == nullptr) return nullptr;
  }
  Device& device = *there;
  std::shared_ptr<DeviceIndex> built;
  const auto build = [&] { built = gpu::BuiltIndex::build(engine_for(device), task, reason); };
  if (attempt(device, choice, is_known, note, build) && built == nullptr && !is_known)
    note_fallback(device.info().id(), {reason, ""}, choice, note);
  return built;
}

bool Engines::attempt(Device& device, const PlacementChoice& choice, bool is_known, PlacementNote& note,
                      const std::function<void()>& work) {
  Failure failure;
  try {
    work();
    return true;
  } catch (const Error& error) {
    if (!is_of_a_device(error)) throw;
    failure = {error.message(), error.hint()};
  }
  if (!is_known) note_fallback(device.info().id(), failure, choice, note);
  return false;
}

}  // namespace diptych
