// Groups that a thread's table has given up because it no longer fitted the cache, in the order of their partitions. A
// partition is what the upper bits of the hash say: equal keys of all runs are in one partition, so that partitions are
// merged independently of one another, each in a table that fits the cache.
//
//   partition   0          1     2                  255
//   hashes     |.........|.....|.............|...|......|
//   keys       |.........|.....|.............|...|......|     rows of KeyLayout
//   states     |.........|.....|.............|...|......|     rows of AggregateStates
//   strings    |.........|.....|.............|...|......|     of keys and states, which say where they begin here
//
// A run holds no address, so that it can move to a temporary file as it is; there its partitions are read one by one.
//
// Thread safety: one thread makes and moves a run; then any number of threads read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/cpu/group_keys.h"
#include "engine/cpu/memory.h"

namespace diptych::cpu {

// Neighbouring groups of a run, as they are merged.
struct GroupSlice {
  size_t count = 0;
  const uint64_t* hashes = nullptr;
  const uint64_t* keys = nullptr;
  const std::byte* states = nullptr;
  const char* strings = nullptr;  // what positions of strings are added to
  bool stays = true;              // the strings do, as long as the run; else they end with the slice
  Chunk loaded;                   // what was read from the file
};

class GroupRun {
 public:
  static constexpr uint32_t partition_bits = 8;
  static constexpr uint32_t partitions = 1U << partition_bits;

  // Takes the groups and leaves the table without any. Errors: 53200, and nothing is taken.
  GroupRun(HashedKeys& keys, AggregateStates& states, const Memory& memory);

  size_t bytes_in_memory() const { return fixed_.size() + strings_.size(); }
  // Errors: 53100, 58030.
  void move_to(TempFile& file);
  // Of the partitions from `first` to before `last`.
  size_t count(uint32_t first, uint32_t last) const { return starts_[last] - size_t{starts_[first]}; }
  // Errors: 53200, 58030.
  GroupSlice slice(uint32_t first, uint32_t last, const Memory& memory) const;

 private:
  // An array of the fixed part, of so many bytes a group.
  struct Area {
    size_t at = 0, width = 0;
  };
  enum AreaNumber : uint8_t { Hashes, Keys, States, area_count };
  std::byte* row(AreaNumber area, size_t group) { return fixed_.data() + areas_[area].at + group * areas_[area].width; }
  void place_strings(const KeyLayout& layout, const std::vector<size_t>& text_places, const Memory& memory);

  std::array<uint32_t, partitions + 1> starts_{};         // groups before a partition
  std::array<uint64_t, partitions + 1> string_starts_{};  // bytes of strings before it
  std::array<Area, area_count> areas_;
  Chunk fixed_, strings_;
  const TempFile* file_ = nullptr;  // null: in memory
  int64_t fixed_offset_ = 0, strings_offset_ = 0;
};

}  // namespace diptych::cpu
