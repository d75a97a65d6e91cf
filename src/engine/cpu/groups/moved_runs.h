// Runs of groups that have moved to a temporary file together.
//
//   partition   0                              1                              1023
//   file       |run 0|runs 1 to 7|run 8|...|  |run 0|runs 1 to 7|run 8|...|  ...|      pieces of runs
//
// What is merged at a time is read at once, and what can be is one slice: a run has few rows of a partition, and the
// more threads share the memory the fewer.
//
// Thread safety: one thread moves them; then any number of threads read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/groups/group_run.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

using TakeSlice = std::function<void(const GroupSlice&)>;

class MovedRuns {
 public:
  // Nobody else appends to the file meanwhile. Errors: 53100, 58030.
  MovedRuns(std::vector<GroupRun> runs, TempFile& file);

  GroupRun::Runs runs() const { return runs_; }
  // The slices of the partitions from `first` to before `last`, in the order of the runs within a partition; what each
  // reads from ends with its call. Errors: 53200, 58030, the action's.
  void for_each_slice(uint32_t first, uint32_t last, const Memory& memory, const TakeSlice& action) const;

 private:
  // Calls action(runs whose pieces are one) for all runs in their order.
  template <typename Action>
  void for_each_stack(Action&& action) const;

  std::vector<GroupRun> runs_;
  std::vector<size_t> stacks_;   // where those begin; at the end, how many runs there are
  std::vector<int64_t> starts_;  // of partitions in the file; at the end, of what comes behind them
  const TempFile& file_;
};

// Runs of a thread, and the file that some of them are in.
struct RunsOfGroups {
  std::vector<MovedRuns> moved;  // older than
  std::vector<GroupRun> runs;
  std::unique_ptr<TempFile> file;

  size_t run_count() const;
  // Adds how many groups and loose rows each partition has.
  void add_counts(std::span<size_t, partition_count> counts) const;
  // Moves the runs that are in memory. Only when the memory can spill. Errors: 53100, 58030.
  void move_to_file(const Memory& memory);
  // Of a partition in the order of the runs. Errors: as MovedRuns'.
  void for_each_slice(uint32_t first, uint32_t last, const Memory& memory, const TakeSlice& action) const;
};

}  // namespace diptych::cpu
