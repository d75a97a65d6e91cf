#include "engine/placement/experience.h"

#include <algorithm>
#include <bit>

#include "engine/gpu/section_kernel.h"

namespace diptych {

namespace {

// FNV-1a's step, a word at a time.
uint64_t mixed(uint64_t key, uint64_t word) { return (key ^ word) * 0x100000001B3U; }

}  // namespace

uint64_t section_key(const SectionTask& task) {
  uint64_t key = 0xCBF29CE484222325U;
  const auto add = [&key](uint64_t word) { key = mixed(key, word); };
  const TabletSource& source = *task.source;
  add(source.tablet_count());
  if (source.tablet_count() > 0) {
    add(source.tablet_id(0));
    add(source.tablet_id(source.tablet_count() - 1));
  }
  // How soon enough rows are there.
  add(task.wanted < 0 ? 0 : static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(task.wanted))) + 1);
  for (const size_t column : gpu::columns_read(task.program, task.address)) add(column);
  const auto& instructions = task.program.instructions;
  for (int32_t at = task.address; at < instructions[static_cast<size_t>(task.address)].p3; ++at) {
    const Instruction& instruction = instructions[static_cast<size_t>(at)];
    add(static_cast<uint64_t>(instruction.opcode));
    add(static_cast<uint64_t>(instruction.p1));
    add(static_cast<uint64_t>(instruction.p3));
  }
  return key;
}

uint64_t way_key(uint64_t section, uint64_t way) { return mixed(section, way); }

void add_time(SectionExperience& known, double ns, double estimate_ns) {
  if (estimate_ns <= 0) return;
  const double ratio = ns / estimate_ns;
  // The first runs fill caches and wake threads: the best of them is the usual one.
  constexpr int first_runs = 3;
  // After that a run counts for what it is, up to this: one that was disturbed would otherwise send others elsewhere.
  constexpr double most_change = 1.5;
  if (known.runs == 0)
    known.ratio = ratio;
  else if (known.runs < first_runs)
    known.ratio = std::min(known.ratio, ratio);
  else
    known.ratio = 0.75 * known.ratio + 0.25 * std::clamp(ratio, known.ratio / most_change, known.ratio * most_change);
  ++known.runs;
}

void note_kernel(SectionExperience& known, const std::string& kernel) {
  if (known.kernel == kernel) return;
  known.kernel = kernel;
  if (known.runs > 0) known.expected_ratio = std::min(1.0, known.ratio);
  known.runs = 0;
}

bool device_pays(double meanwhile_ns, double now_ns, double settled_ns, double& regret_ns) {
  if (now_ns < meanwhile_ns) return true;
  if (settled_ns >= meanwhile_ns) return false;
  regret_ns += meanwhile_ns - settled_ns;
  if (regret_ns < now_ns - settled_ns) return false;
  regret_ns = 0;
  return true;
}

std::optional<size_t> turn_of(int64_t decision, std::span<const double> times_ns, double chosen_ns) {
  constexpr int64_t period = 128, length = 4;
  constexpr double far = 2;
  if (decision < period || decision % period >= length) return std::nullopt;
  const auto turn = static_cast<size_t>(decision / period) % times_ns.size();
  return times_ns[turn] < far * chosen_ns ? std::optional(turn) : std::nullopt;
}

}  // namespace diptych
