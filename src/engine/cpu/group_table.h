// One thread's part of a hash table of the program: groups and their aggregates. Parts are merged when the table is
// read (Groups).
//
//   Group        keys of rows -> group numbers, in a register
//   Aggregate    values and group numbers -> states
//
// With few groups (or none but the one of a query without keys) the rows of a block are split into one mask per group,
// and each aggregate takes a whole mask at once by a SIMD loop; no addition then waits for the one before. Otherwise
// row by row.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/cpu/aggregate_column.h"
#include "engine/cpu/block_source.h"
#include "engine/cpu/group_keys.h"

namespace diptych::cpu {

class GroupTable {
 public:
  GroupTable(const HashTableInfo& info, const Memory& memory);

  // Finds the groups of the frame's sinking rows and keeps their numbers for the Aggregates that follow in the block.
  void group(Frame& frame, int first_key);
  // argument: register, -1 for CountStar. grouped: whether a group number is given at all.
  void aggregate(Frame& frame, int number, int argument, bool grouped, int position);
  // Adds the groups of a table with the same columns, whose strings must outlive this table's.
  void merge(const GroupTable& other);
  // Of a hashed table, only the groups of one of `parts` parts, into which the hashes divide all groups.
  void merge_part(const GroupTable& other, uint32_t part, uint32_t parts);
  // Appends the groups as rows: keys, then aggregates. The strings among them live in this table.
  void append_rows(BlockSource& source, const Memory& memory) const;
  size_t group_count() const;
  bool is_hashed() const { return hashed_.has_value(); }
  void account();

 private:
  // At most so many possible groups are split into masks.
  static constexpr uint32_t most_masks = 16;

  struct GroupMask {
    uint32_t group;
    RowMask rows;
  };
  void split(const RowMask& rows, int words);
  void merge_groups(const GroupTable& other, const std::vector<uint32_t>& from);
  std::vector<uint32_t> present_groups() const;
  bool emit_key(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const;

  const HashTableInfo& info_;
  std::optional<DenseKeys> dense_;
  std::optional<HashedKeys> hashed_;
  std::vector<uint8_t> seen_;  // dense: the group has a row
  std::vector<std::unique_ptr<AggregateColumn>> aggregates_;
  size_t states_ = 0;  // groups that the aggregates have room for
  // Of the block at hand.
  std::vector<uint32_t> numbers_;
  std::vector<GroupMask> masks_;
  size_t mask_count_ = 0;
  bool masked_ = false;
  GrowingReservation reservation_;
};

}  // namespace diptych::cpu
