// What of a run's state the sinks of its sections fill, of one thread.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/group_table.h"
#include "engine/cpu/sort_run.h"
#include "engine/cpu/step.h"
#include "engine/run/context.h"

namespace diptych::cpu {

class ThreadSinks {
 public:
  // All arguments outlive it.
  ThreadSinks(const Program& program, const ExecutionContext& context, const Memory& memory);

  // Makes what the section fills, unless it is there. On the thread that fills it: clearing the tables of many threads
  // one after the other would take longer than filling them. Errors: 53200.
  void make(const Section& section);
  void make_groups(size_t hash_table);
  void make_sort_run(size_t row_set);
  // All goes to files that can. Errors: 53100, 58030.
  void move_to_files() const;

  std::vector<std::unique_ptr<GroupTable>> groups;  // by hash table
  std::vector<std::unique_ptr<SortRun>> sort_runs;  // by row set, of those that are sorted

 private:
  const Program& program_;
  const ExecutionContext& context_;
  const Memory& memory_;
};

// For context.threads of them.
std::vector<ThreadSinks> sinks_of_threads(const Program& program, const ExecutionContext& context,
                                          const Memory& memory);

}  // namespace diptych::cpu
