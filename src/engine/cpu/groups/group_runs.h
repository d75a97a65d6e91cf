// When a thread's hash table gives up its groups, and what it has given up.
//
//   table   fills up --> run --> fills up --> run --> ...
//                         few rows had met others?  the next runs are made without looking for equal keys
//   runs    in memory, up to this thread's share; then in a temporary file
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/cpu/group_keys.h"
#include "engine/cpu/groups/group_run.h"
#include "engine/cpu/memory.h"

namespace diptych::cpu {

// Bytes of a group in a table, strings apart.
size_t bytes_of_group(const KeyLayout& layout, const AggregateStates& states);

// Runs, and the file that some of them are in.
struct RunsOfGroups {
  std::vector<GroupRun> runs;
  std::unique_ptr<TempFile> file;
};

class GroupRuns {
 public:
  // The keys and states of the table stay where they are.
  GroupRuns(HashedKeys& keys, AggregateStates& states, const Memory& memory);

  // To be called before a block's rows are grouped: makes a run of the table's groups if it is full.
  // Errors: 53200, 53100, 58030.
  void before_block();
  // So many rows have been grouped.
  void count(int64_t rows) { rows_taken_ += rows; }
  // Whether rows are not worth being looked up.
  bool appends() const { return runs_to_append_ > 0; }
  // There was no memory for the table to grow: it gives up its groups before the next block. False when there are none,
  // or nothing can go to a file.
  bool give_way();
  bool has_any() const { return !made_.runs.empty(); }
  // All groups, none of which is in the table any more. Errors: as before_block().
  RunsOfGroups take();

 private:
  bool is_full() const;
  void end_run();
  void make_run();
  void move_to_file();

  HashedKeys& keys_;
  AggregateStates& states_;
  const Memory& memory_;
  const size_t share_;  // of memory, for runs
  uint32_t most_groups_;
  size_t most_text_bytes_;
  bool gives_way_ = false;
  int64_t rows_taken_ = 0;  // since the last run
  int runs_to_append_ = 0;
  RunsOfGroups made_;
  size_t bytes_ = 0;  // of runs in memory
};

}  // namespace diptych::cpu
