// One thread's part of a hash table of the program: groups and their aggregates. Parts are merged when the table is
// read (Groups): groups/group_merge.h.
//
//   Group        keys of rows -> group numbers, in a register
//   Aggregate    values and group numbers -> states
//
// A hashed table that no longer fits the cache gives up its groups or takes no new ones (groups/group_runs.h).
//
// With few groups (or none but the one of a query without keys) the rows of a block are split into one mask per group,
// and each aggregate takes a whole mask at once by a SIMD loop; no addition then waits for the one before. Otherwise
// row by row.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/cpu/group_keys.h"
#include "engine/cpu/groups/group_pieces.h"
#include "engine/cpu/groups/group_runs.h"

namespace diptych::cpu {

class GroupTable {
 public:
  GroupTable(const HashTableInfo& info, const Memory& memory);

  // Finds the groups of the frame's sinking rows and keeps their numbers for the Aggregates that follow in the block.
  void group(Frame& frame, int first_key);
  // argument: register, -1 for CountStar. grouped: whether a group number is given at all.
  void aggregate(Frame& frame, int number, int argument, bool grouped);
  // Moves the groups of a hashed table to a file, if there is one to go to. Errors: 53100, 58030.
  void move_to_file();
  // Adds groups [first, last) of a table with the same columns, neither of which is_hashed(). Threads may do so for
  // ranges of their own at once, unless it has_texts().
  void merge(const GroupTable& other, size_t first, size_t last);
  // Groups, of which there are no runs; [first, last) of a table that is not hashed.
  std::vector<HostPiece> rows() const;
  std::vector<HostPiece> rows(size_t first, size_t last) const;
  // Whether the table has given up groups.
  bool has_runs() const { return runs_ && runs_->has_any(); }
  // All groups of a hashed table, none of which stays. Errors: 53200, 53100, 58030.
  RunsOfGroups take_runs() { return runs_->take(); }
  bool is_hashed() const { return hashed_.has_value(); }
  // Of a table that is not hashed: groups that may be there.
  size_t possible_groups() const { return dense_->groups(); }
  // Whether some of its states are strings.
  bool has_texts() const { return !states_.text_places().empty(); }

 private:
  // At most so many possible groups are split into masks.
  static constexpr uint32_t most_masks = 16;

  struct GroupMask {
    uint32_t group;
    RowMask rows;
  };
  void split(const RowMask& rows, int words);
  void account();
  void group_hashed(Frame& frame, int first_key, const RowMask& rows);
  bool needs_values(size_t number) const;
  void aggregate_hashed(const AggregateInput& input, const RowMask& rows, size_t number);

  const HashTableInfo& info_;
  const Memory& memory_;
  std::optional<DenseKeys> dense_;
  std::optional<HashedKeys> hashed_;
  std::vector<uint8_t> seen_;  // dense: the group has a row
  AggregateStates states_;
  // Of a hashed table.
  std::optional<LooseRows> loose_;
  std::optional<GroupRuns> runs_;
  // Of the block at hand.
  std::optional<KeyBlock> block_;
  std::vector<uint32_t> numbers_;  // of groups, or places of loose rows
  Lookup lookup_ = Lookup::Adds;
  RowMask loose_mask_;
  std::vector<GroupMask> masks_;
  size_t mask_count_ = 0;
  bool masked_ = false;
  MemoryReservation reservation_;
};

}  // namespace diptych::cpu
