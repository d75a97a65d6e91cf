// When a thread's hash table gives up its groups, and what it has given up.
//
//   table is filled   new keys become groups
//   table is full     it stays as it is for a while: rows of other groups are kept loose. Are most rows of its groups,
//                     as they are when some keys are frequent, it goes on so. Seem all groups to fit the third-level
//                     cache, the table grows. Else it becomes a run, and
//                         rows met others while it was filled   the next is filled
//                         few groups have many of the rows      the table keeps these groups alone
//                         else                                  the next rows are kept loose without being looked up
//   loose rows        become a run when they are many, and before a table takes new groups: runs have the rows of a
//                     group in their order
//   runs              in memory, up to this thread's share; then in a temporary file
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/cpu/group_keys.h"
#include "engine/cpu/groups/loose_rows.h"
#include "engine/cpu/groups/moved_runs.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

// Bytes of a group in a table, strings apart.
size_t bytes_of_group(const KeyLayout& layout, const AggregateStates& states);

// What happens to rows on their way to a table.
enum class Lookup : uint8_t {
  Adds,   // all are looked up, and new keys become groups
  Known,  // all are looked up; those of groups that the table does not have are kept loose
  None    // all are kept loose
};

class GroupRuns {
 public:
  // The keys and states of the table, and the loose rows, stay where they are.
  GroupRuns(HashedKeys& keys, AggregateStates& states, LooseRows& loose, const Memory& memory);

  // To be called before a block's rows are grouped: makes runs of what is full, and says how the block is looked up.
  // Errors: 53200, 53100, 58030.
  Lookup before_block();
  // So many rows have been grouped, of which so many are loose...
  void count(int64_t rows, int64_t loose);
  // ...and these are of the groups numbers[row].
  void count_known(const RowMask& known, int words, const uint32_t* numbers);
  // There was no memory for the table to grow: all is given up before the next block. False when there is nothing, or
  // nothing can go to a file.
  bool give_way();
  // Moves all there is to a file, if anything can go there. Not between before_block() and what follows it. Errors:
  // 53100, 58030.
  void move_all_to_file();
  // Beside the table and the loose rows.
  size_t bytes() const { return rows_of_group_.capacity() * sizeof(uint32_t); }
  // Whether there is more than the table.
  bool has_any() const { return !made_.runs.empty() || !made_.moved.empty() || loose_.count() > 0; }
  // All groups and loose rows, none of which stays. Errors: as before_block().
  RunsOfGroups take();

 private:
  int64_t groups_that_fit(int64_t most_bytes) const;
  bool is_table_full() const;
  bool is_loose_full() const;
  // Gives up all there is; new keys become groups again.
  void start_anew();
  void end_filling();
  void judge_known();
  bool would_fit_large(int64_t taken, int64_t known) const;
  // In a trial of so many rows.
  int64_t rows_of_frequent(int64_t taken) const;
  bool keep_frequent(int64_t taken);
  void give_up_table();
  void give_up_loose();
  template <typename... Sources>
  void make_run(Sources&... sources);
  void move_to_file();

  HashedKeys& keys_;
  AggregateStates& states_;
  LooseRows& loose_;
  const Memory& memory_;
  const size_t share_;  // of memory, for runs
  int64_t most_groups_;
  size_t most_loose_;
  size_t most_text_bytes_;
  bool gives_way_ = false;
  Lookup lookup_ = Lookup::Adds;
  int64_t rows_taken_ = 0, rows_loose_ = 0;  // since the table was empty, or full
  int64_t rows_filled_ = 0;                  // rows that have filled the table
  std::vector<uint32_t> rows_of_group_;      // in a trial; else empty
  bool has_frequent_alone_ = false;
  int runs_without_trial_ = 0, tables_without_trial_ = 0;  // still to come
  RunsOfGroups made_;
  size_t bytes_ = 0;  // of runs in memory
};

}  // namespace diptych::cpu
