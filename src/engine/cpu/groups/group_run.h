// Groups that a thread's table has given up because it no longer fitted the cache, in the order of their partitions. A
// partition is what the upper bits of the hash say: equal keys of all runs are in one partition, so that partitions are
// merged independently of one another, each in a table that fits the cache.
//
//   partition   0          1     2                 1023
//   hashes     |.........|.....|.............|...|......|     where the layout of keys keeps them
//   keys       |.........|.....|.............|...|......|     rows of KeyLayout
//   states     |.........|.....|.............|...|......|     rows of AggregateStates
//   strings    |.........|.....|.............|...|......|     of keys and states, which say where they begin here,
//                                                             or none: keys say where those of tablets are
//
// A run of loose rows (loose_rows.h) has columns of arguments instead of states: a row each, not a group.
//
// Strings of a table's tablets are not copied where the run can keep the tablets; they are as soon as its partitions
// are written to a temporary file, piece by piece (moved_runs.h).
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
  const char* strings = nullptr;         // what positions of strings are added to; null: they are addresses
  bool stays = true;                     // the strings do, as long as the run; else as long as the piece

  // The hashes of some of its rows: kept, or made in `room`.
  const uint64_t* hashes_of(const KeyLayout& layout, size_t first, size_t rows, std::vector<uint64_t>& room) const;
};

class GroupRun {
 public:
  // Take what is there and leave nothing. Errors: 53200, and nothing is taken.
  GroupRun(HashedKeys& keys, AggregateStates& states, const Memory& memory);
  GroupRun(LooseRows& rows, const Memory& memory);

  size_t bytes_in_memory() const { return fixed_.size() + strings_.size(); }
  // Of the partitions from `first` to before `last`.
  size_t count(uint32_t first, uint32_t last) const { return starts_[last] - size_t{starts_[first]}; }
  GroupSlice slice(uint32_t first, uint32_t last) const;

  // To be called once, before pieces of it are asked for.
  void begin_pieces();
  // A partition of runs in one piece, which begins on a multiple of piece_alignment: of one run, or of several whose
  // slices can be one.
  static constexpr size_t piece_alignment = 16;
  using Runs = std::span<const GroupRun>;
  static size_t piece_bytes(Runs runs, uint32_t partition);
  static void write_piece(Runs runs, uint32_t partition, std::byte* to);
  // The slice of a piece that was written; also behind free_memory(), after which there is no other.
  static GroupSlice slice_of_piece(Runs runs, uint32_t partition, const std::byte* piece);
  // Both have the same areas and no strings.
  bool can_share_pieces_with(const GroupRun& other) const;
  void free_memory();

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
    bool operator==(const Argument&) const = default;
  };
  std::byte* row(size_t area, size_t group) const {
    return fixed_.data() + areas_[area].at + group * areas_[area].width;
  }
  size_t string_bytes(uint32_t partition) const {
    return string_starts_.empty() ? 0 : string_starts_[partition + size_t{1}] - string_starts_[partition];
  }
  static size_t count(Runs runs, uint32_t partition);
  // places: of the areas.
  GroupSlice slice_at(size_t count, const std::vector<const std::byte*>& places) const;
  // by_row: partitions.
  void partition(std::span<const uint16_t> by_row, const std::vector<Source>& sources, const Memory& memory);
  void place_strings(const KeyLayout& layout, const std::vector<TextPlace>& texts, const Memory& memory);
  // visit(group, action) calls action(address, length) for each string; returns the bytes of all.
  template <typename Visit>
  uint64_t find_string_starts(Visit&& visit);
  // Of a partition whose keys have addresses: makes these positions, of copies at `to`.
  void copy_strings(uint32_t partition, uint64_t* keys, std::byte* to) const;

  std::array<uint32_t, partition_count + 1> starts_{};  // groups before a partition
  std::vector<uint64_t> string_starts_;                 // bytes of strings before it; empty: there are none
  std::vector<Area> areas_;
  std::vector<Argument> arguments_;
  size_t hashes_ = 0;  // their area; 0: not kept
  bool is_loose_ = false;
  Chunk fixed_, strings_;
  // Where keys have addresses: what keeps their strings alive, and the layout, which belongs to who makes the run and
  // moves it.
  std::vector<std::shared_ptr<const PinnedTablet>> keepers_;
  const KeyLayout* keys_with_addresses_ = nullptr;
};

}  // namespace diptych::cpu
