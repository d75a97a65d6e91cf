#include "engine/placement/experience.h"
#include "program/section_contents.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace diptych {

namespace {

// FNV-1a's step, a word at a time.
constexpr uint64_t first_key = 0xCBF29CE484222325U;
uint64_t mixed(uint64_t key, uint64_t word) { return (key ^ word) * 0x100000001B3U; }

uint64_t with_tablets(uint64_t key, const TabletSource& source) {
  key = mixed(key, source.tablet_count());
  if (source.tablet_count() == 0) return key;
  return mixed(mixed(key, source.tablet_id(0)), source.tablet_id(source.tablet_count() - 1));
}

}  // namespace

uint64_t section_key(const SectionTask& task) {
  uint64_t key = with_tablets(first_key, *task.source);
  const auto add = [&key](uint64_t word) { key = mixed(key, word); };
  // How soon enough rows are there.
  add(task.wanted < 0 ? 0 : static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(task.wanted))) + 1);
  for (const size_t column : columns_read(task.program, task.address)) add(column);
  const auto& instructions = task.program.instructions;
  for (int32_t at = task.address; at < instructions[static_cast<size_t>(task.address)].p3; ++at) {
    const Instruction& instruction = instructions[static_cast<size_t>(at)];
    add(static_cast<uint64_t>(instruction.opcode));
    add(static_cast<uint64_t>(instruction.p1));
    add(static_cast<uint64_t>(instruction.p3));
  }
  return key;
}

uint64_t program_key(const Program& program, int32_t address) {
  uint64_t key = mixed(first_key, static_cast<uint64_t>(address));
  for (const auto& source : program.sources) key = with_tablets(key, *source);
  for (const Instruction& instruction : program.instructions) {
    key = mixed(key, static_cast<uint64_t>(instruction.opcode));
    for (const int32_t operand : {instruction.p1, instruction.p2, instruction.p3})
      key = mixed(key, static_cast<uint64_t>(operand));
    if (const auto* function = std::get_if<FunctionId>(&instruction.p4))
      key = mixed(key, static_cast<uint64_t>(*function));
  }
  return key;
}

uint64_t way_key(uint64_t section, uint64_t way) { return mixed(section, way); }

void add_time(SectionExperience& known, double ns, double estimate_ns) {
  if (estimate_ns <= 0) return;
  const double ratio = ns / estimate_ns;
  // The first runs fill caches and wake threads: the best of them is the usual one.
  constexpr int first_runs = 3;
  // After that a run counts for no more than this: what was disturbed for longer would otherwise send others elsewhere.
  constexpr double most_change = 1.5;
  constexpr double slower_weight = 0.25, faster_weight = 0.5;
  if (known.runs == 0) {
    known.ratio = ratio;
  } else if (known.runs < first_runs) {
    known.ratio = std::min(known.ratio, ratio);
  } else {
    const double shown =
        std::clamp(std::min(ratio, known.last_ratio), known.ratio / most_change, known.ratio * most_change);
    known.ratio += (shown < known.ratio ? faster_weight : slower_weight) * (shown - known.ratio);
  }
  known.last_ratio = ratio;
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

std::optional<size_t> turn_of(int64_t decision, std::span<const double> times_ns, size_t chosen) {
  constexpr int64_t period = 64, length = 2;
  // Of so many turns one is for what is far, up to this: else a time that a disturbed machine has taught would stay.
  constexpr int64_t seldom = 8;
  constexpr double near = 2, far = 8, short_ns = 10e6;
  if (decision < period || decision % period >= length) return std::nullopt;
  const int64_t turn = decision / period;
  const bool is_for_far = turn % seldom == 0;
  if (is_for_far && times_ns[chosen] >= short_ns) return std::nullopt;
  const double from_ns = is_for_far ? near * times_ns[chosen] : 0;
  const double to_ns = (is_for_far ? far : near) * times_ns[chosen];
  std::vector<size_t> others;
  for (size_t i = 0; i < times_ns.size(); ++i)
    if (i != chosen && times_ns[i] >= from_ns && times_ns[i] < to_ns) others.push_back(i);
  if (others.empty()) return std::nullopt;
  return others[static_cast<size_t>(is_for_far ? turn / seldom : turn) % others.size()];
}

}  // namespace diptych
