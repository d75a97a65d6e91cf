#include "engine/cpu/thread_sinks.h"

#include <algorithm>

namespace diptych::cpu {

ThreadSinks::ThreadSinks(const Program& program, const ExecutionContext& context, const Memory& memory)
    : groups(program.hash_tables.size()),
      sort_runs(program.row_sets.size()),
      program_(program),
      context_(context),
      memory_(memory) {}

void ThreadSinks::make(const Section& section) {
  for (const Step& step : section.steps) {
    const Instruction& at = *step.instruction;
    if (at.opcode == Opcode::Aggregate) make_groups(static_cast<size_t>(at.p1));
    if (at.opcode == Opcode::Group) make_groups(static_cast<size_t>(at.p3));
    if (at.opcode == Opcode::Append) make_sort_run(static_cast<size_t>(at.p1));
  }
}

void ThreadSinks::make_groups(size_t hash_table) {
  auto& made = groups[hash_table];
  if (!made) made = std::make_unique<GroupTable>(program_.hash_tables[hash_table], memory_);
}

void ThreadSinks::make_sort_run(size_t row_set) {
  const RowSetInfo& info = program_.row_sets[row_set];
  auto& made = sort_runs[row_set];
  if (!info.keys.empty() && !made) made = std::make_unique<SortRun>(info, memory_, context_);
}

void ThreadSinks::move_to_files() const {
  for (const auto& table : groups)
    if (table) table->move_to_file();
  for (const auto& run : sort_runs)
    if (run) run->spill();
}

std::vector<ThreadSinks> sinks_of_threads(const Program& program, const ExecutionContext& context,
                                          const Memory& memory) {
  std::vector<ThreadSinks> threads;
  for (int i = 0; i < std::max(1, context.threads); ++i) threads.emplace_back(program, context, memory);
  return threads;
}

}  // namespace diptych::cpu
