#include "engine/placement/experience.h"

#include <functional>

#include "engine/gpu/section_kernel.h"

namespace diptych {

uint64_t section_key(const SectionTask& task, const std::string& way) {
  uint64_t key = std::hash<std::string>()(way);
  // FNV-1a's step, a word at a time.
  const auto add = [&key](uint64_t word) { key = (key ^ word) * 0x100000001B3U; };
  const TabletSource& source = *task.source;
  add(source.tablet_count());
  if (source.tablet_count() > 0) {
    add(source.tablet_id(0));
    add(source.tablet_id(source.tablet_count() - 1));
  }
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

void add_time(double& usual_ns, double ns) { usual_ns = usual_ns == 0 ? ns : 0.75 * usual_ns + 0.25 * ns; }

bool device_pays(double cpu_ns, double now_ns, double settled_ns, double& regret_ns) {
  if (now_ns < cpu_ns) return true;
  if (settled_ns >= cpu_ns) return false;
  regret_ns += cpu_ns - settled_ns;
  if (regret_ns < now_ns - settled_ns) return false;
  regret_ns = 0;
  return true;
}

}  // namespace diptych
