#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "engine/cpu/cpu_engine.h"
#include "engine/device/stop_check.h"
#include "engine/run/walk.h"

namespace diptych {
namespace {

// Hash tables and row sets hold memory on every thread at the same time.
int64_t memory_shares(const Program& program, const ExecutionContext& context) {
  const size_t holders = program.hash_tables.size() + program.row_sets.size();
  return std::max(1, context.threads) * static_cast<int64_t>(std::max<size_t>(1, holders));
}

struct Run {
  Run(const std::shared_ptr<const Program>& program, const ExecutionContext& context)
      : memory(context.pool, context.budget, context.temp, memory_shares(*program, context)),
        cpu(*program, context, memory),
        walk(program, context, memory, cpu) {}

  Memory memory;
  cpu::CpuEngine cpu;
  Walk walk;
};

}  // namespace

std::shared_ptr<const TabletSource> run_program(std::shared_ptr<const Program> program,
                                                const ExecutionContext& context) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point started = Clock::now();
  const StopCheck stop([&context] { check_cancelled(context); });
  std::optional<Run> run(std::in_place, program, context);
  std::shared_ptr<const TabletSource> result = run->walk.run(started);
  const Clock::time_point ended = Clock::now();
  run.reset();
  if (context.profile != nullptr) context.profile->release_nanoseconds = nanoseconds_since(ended);
  return result;
}

}  // namespace diptych
