// A hash table in which groups of runs and loose rows meet: one thread's, for some partitions at a time.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/cpu/group_keys.h"
#include "engine/cpu/groups/argument_columns.h"
#include "engine/cpu/groups/group_pieces.h"
#include "engine/cpu/groups/group_run.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

// Which of a partition's groups are merged at a time, when all of them are too many: those whose hashes have `value` in
// the `bits` bits behind those of the partition.
struct HashPart {
  uint32_t bits = 0, value = 0;

  bool has(uint64_t hash) const { return bits == 0 || hash << partition_bits >> (64 - bits) == value; }
};

class MergeTable {
 public:
  MergeTable(const HashTableInfo& info, const Memory& memory);

  // Adds the slice's groups or rows of the part. Errors: 53200, what adding states raises.
  void add(const GroupSlice& slice, HashPart part);
  // Errors: 53200.
  std::vector<HostPiece> rows() const;
  void clear();
  size_t group_bytes() const;

 private:
  // Their hashes.
  const uint64_t* find_part(const GroupSlice& slice, HashPart part, size_t first, size_t last);
  // The keys of the groups at hand, with the addresses of their strings.
  const uint64_t* keys_of(const GroupSlice& slice);

  // The loose rows at hand, of the slice's block that starts at `first`, go into their groups' states.
  void take_arguments(const GroupSlice& slice, size_t first);

  const HashTableInfo& info_;
  const Memory& memory_;
  HashedKeys keys_;
  AggregateStates states_;
  ArgumentLayout arguments_;
  MemoryReservation reservation_;
  // Of the groups of the slice that are at hand: where they are, their hashes and keys, their numbers here.
  std::vector<uint32_t> from_, numbers_;
  std::vector<uint64_t> hashes_, rows_;
  std::vector<uint64_t> block_hashes_;   // of the slice's block, where they are not kept
  std::vector<uint32_t> number_of_row_;  // by row of the slice's block
  std::vector<dk_text> texts_;
};

}  // namespace diptych::cpu
