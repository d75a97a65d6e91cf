// Groups that a thread's table has given up because it no longer fitted the cache, in the order of their partitions. A
// partition is what the upper bits of the hash say: equal keys of all runs are in one partition, so that partitions are
// merged independently of one another, each in a table that fits the cache.
//
//   partition   0          1     2                 1023
//   hashes     |.........|.....|.............|...|......|     where the layout of keys keeps them
//   keys       |.........|.....|.............|...|......|     rows of KeyLayout
//   states     |.........|.....|.............|...|......|     rows of AggregateStates
//   strings    |.........|.....|.............|...|......|     of keys and states, which say where they begin here
//
// A run of loose rows (loose_rows.h) has columns of arguments instead of states: a row each, not a group.
//
// A run holds no address, so that it can move to a temporary file as it is; there its partitions are read one by one.
//
// Thread safety: one thread makes and moves a run; then any number of threads read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/cpu/group_keys.h"
#include "engine/cpu/groups/loose_rows.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

// A column of arguments of neighbouring rows.
struct ArgumentSlice {
  const std::byte* values = nullptr;
  const std::byte* has = nullptr;  // by row: 1, or 0 for one without a value; null: as any says of all rows
  bool any = false;
};

// Neighbouring groups, or loose rows, of a run, as they are merged.
struct GroupSlice {
  size_t count = 0;
  const uint64_t* hashes = nullptr;  // null: not kept
  const uint64_t* keys = nullptr;
  bool is_loose = false;
  const std::byte* states = nullptr;     // of groups
  std::vector<ArgumentSlice> arguments;  // of loose rows, by column
  const char* strings = nullptr;         // what positions of strings are added to
  bool stays = true;                     // the strings do, as long as the run; else they end with the slice
  Chunk loaded;                          // what was read from the file

  // The hashes of some of its rows: kept, or made in `room`.
  const uint64_t* hashes_of(const KeyLayout& layout, size_t first, size_t rows, std::vector<uint64_t>& room) const;
};

class GroupRun {
 public:
  // Take what is there and leave nothing. Errors: 53200, and nothing is taken.
  GroupRun(HashedKeys& keys, AggregateStates& states, const Memory& memory);
  GroupRun(LooseRows& rows, const Memory& memory);

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
    size_t at, width;
  };
  // Where such an array comes from, in another order of the groups.
  struct Source {
    const void* data;
    size_t width;
  };
  // A dk_text of each group: so many bytes into its part of an area.
  struct TextPlace {
    size_t area, at;
  };
  enum AreaNumber : uint8_t { Keys, States };
  // Which areas a column of arguments has.
  struct Argument {
    size_t values = 0, has = 0;  // 0: none
    bool any = false;
  };
  std::byte* row(size_t area, size_t group) { return fixed_.data() + areas_[area].at + group * areas_[area].width; }
  // by_row: partitions.
  void partition(std::span<const uint16_t> by_row, const std::vector<Source>& sources, const Memory& memory);
  void place_strings(const KeyLayout& layout, const std::vector<TextPlace>& texts, const Memory& memory);

  std::array<uint32_t, partition_count + 1> starts_{};  // groups before a partition
  std::vector<uint64_t> string_starts_;                 // bytes of strings before it; empty: there are none
  std::vector<Area> areas_;
  std::vector<Argument> arguments_;
  size_t hashes_ = 0;  // their area; 0: not kept
  bool is_loose_ = false;
  Chunk fixed_, strings_;
  const TempFile* file_ = nullptr;  // null: in memory
  int64_t fixed_offset_ = 0, strings_offset_ = 0;
};

}  // namespace diptych::cpu
