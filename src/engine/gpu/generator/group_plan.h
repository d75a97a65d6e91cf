// How a kernel finds the groups of a hash table of the program, and where it keeps their states.
//
//   Shared   few groups, numbered beforehand by their keys: replicas in the shared memory of every work-group, added to
//            global memory at the kernel's end
//   Dense    numbered the same way, but too many for that: in global memory at once, but for the first groups that a
//            work-group meets, which have entries in its shared memory, added to global memory at the kernel's end
//   Partitioned   any number: rows are put together by bits of their keys' hashes first, and then grouped partition by
//            partition in hash tables in shared memory (groups/partitioned_groups.h)
//
// Key words of such a group:     |NULL bits|key 0|key 1: low, high| ... |key 2: hash, length|key 2: address|
//                                floats with one 0 and one NaN; intervals as their span; strings that are no codes
//                                behind the others; and behind all that is compared the addresses of strings, then
//                                the intervals themselves (kernel/device/group_table.h)
// Number of the others:          sum of (key - low) * stride, where NULL is one more key
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/generator/aggregate_state.h"
#include "engine/gpu/groups/group_row.h"
#include "program/program.h"

namespace diptych::gpu {

struct GroupKernels;

inline constexpr int64_t most_dense_group_bytes = int64_t{64} << 20;

// A work-group counts in so much shared memory: a word of 32 bits a partition.
inline constexpr int most_partition_bits = 13;

struct GroupKeyPlan {
  PhysicalType physical = PhysicalType::Int32;
  bool nullable = false;
  int32_t dictionary_column = -1;  // strings as codes of the dictionary of this column of the section
  size_t word = 0;                 // Partitioned: the first one that is compared
  size_t carried = 0;              // ... and that is not: the address of a string, an interval itself
  int64_t low = 0;                 // Shared, Dense
  uint32_t span = 0, stride = 0;   // span: keys that are not NULL

  // As bytes somewhere.
  bool is_string() const { return physical == PhysicalType::Text && dictionary_column < 0; }
  size_t compared_words() const;
  size_t carried_words() const;
  // In a row on its way to its partition: words of 32 bits; and the key word that every two of them are the halves of.
  size_t row_words() const;
  size_t word_in_row(size_t pair) const;
};

// What the words of a kernel's parameters about groups are.
enum class GroupPart : int32_t { States, Groups, Pass, Rows, Starts, PartitionBits, StagedRows, FirstKey };

struct GroupPlan {
  enum class Place : uint8_t { Shared, Dense, Partitioned } place = Place::Shared;
  int32_t hash_table = -1;
  std::vector<GroupKeyPlan> keys;
  size_t key_words = 0;                    // Partitioned; with the word of NULL bits, if there is one
  size_t compared_words = 0, strings = 0;  // of them, and keys that are strings
  bool has_null_word = false;
  int64_t groups = 1;  // Shared, Dense: possible ones
  int64_t room = 1;    // Shared: a power of two, so that kernels of about as many groups have one text
  int replicas = 1;    // Shared
  StatesLayout states;
  size_t state_words = 0;  // of a group: with a word of locks if it needs one
  bool has_lock = false;
  // Dense: states as entries have them, where sums of 128 bits whose values have 32 may take 64; and how many entries a
  // work-group has, a power of two; 0: none.
  StatesLayout entry_states;
  size_t entries = 0;
  // By aggregate: every row of the group that comes from this section reaches it, with a value.
  std::vector<bool> always;
  bool is_shared = false;  // other sections fill the table, too
  // Where such an aggregate counts, its word says whether the group is there.
  int counting = -1;
  GroupRowLayout row;                           // Partitioned
  int partition_bits = most_partition_bits;     // Partitioned: at most; less where several tables are, in one section
  std::shared_ptr<const GroupKernels> kernels;  // Partitioned: what comes behind the section's kernel
  std::string unsupported;                      // why a device can't; empty: it can

  // Whether that a value came for an aggregate need not be noted, since it does for each group that is there.
  bool always_comes(size_t aggregate) const {
    return !is_shared && aggregate < always.size() && always[aggregate] &&
           (place == Place::Partitioned || counting >= 0);
  }
  // Of 64 bits in shared memory: of all entries with their tags.
  size_t entry_words() const { return entries * entry_states.words + entries / 2; }
  // Words from one replica to the next in shared memory: odd, so that 16 of them lie in different banks.
  size_t stride() const { return state_words | 1; }
  size_t shared_words() const { return stride() * static_cast<size_t>(room) * static_cast<size_t>(replicas); }
  // Shared, Dense: of all groups in global memory.
  int64_t dense_bytes() const { return groups * static_cast<int64_t>(state_words) * 8; }
  uint64_t number(int32_t part) const;  // the value of a part from FirstKey on: low, span, stride of each key
};

// dictionary_columns: by key, -1 where it is no code of a dictionary. shared_words: what is left of shared memory.
// most_dense_bytes: that an array of numbered groups may take. repeats: a launch may take more than 2^31 rows, as those
// that meet several of an index each do.
GroupPlan plan_groups(const HashTableInfo& table, int32_t number, std::span<const int32_t> dictionary_columns,
                      size_t shared_words, int64_t most_dense_bytes = most_dense_group_bytes, bool repeats = false);

// Bytes of device memory that a row of the section behind the Parallel at `address` takes at most on its way to groups
// that are partitioned: among those of its partition, and as states. 0: none are.
int64_t group_row_bytes(const Program& program, int32_t address, int64_t most_dense_bytes);

// What else of the device's memory a batch takes for groups: for each row on its way to groups that are partitioned (as
// it is put together, as a state, as a row of the result), and for numbered groups; both at most.
struct GroupRoom {
  int64_t row_bytes = 0, numbered_bytes = 0;
  int64_t string_bytes = 0;  // of a state: strings of keys and aggregates, which stay until all groups are made
};
GroupRoom group_room(const Program& program, int32_t address, int64_t most_dense_bytes);

// The bit of a group's first word that says that it has rows.
inline constexpr uint64_t present_bit = uint64_t{1} << 32;

}  // namespace diptych::gpu
