// The rows that one thread has put into a sorter, and the sorting of all threads' rows.
//
// With a limit (top-N), a run throws away what can't be among the first rows any more whenever it has twice as many as needed, and
// from then on turns rows away by the first word of the worst row it keeps.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/block_source.h"
#include "engine/cpu/sort_rows.h"

namespace diptych::cpu {

class SortRun {
 public:
  SortRun(const SorterInfo& info, const Memory& memory);

  // Adds the frame's sinking rows; the sorter's columns are the registers from `first` on.
  void add(Frame& frame, int first);
  size_t rows() const { return rows_.size(); }

 private:
  friend std::unique_ptr<BlockSource> sort_runs(const SorterInfo& info, std::vector<std::unique_ptr<SortRun>> runs,
                                                const std::vector<ColumnDefinition>& columns, const Memory& memory, int threads);
  struct Entry {
    uint64_t first;  // first word of the row, so that most comparisons stay in this array
    const uint64_t* row;
  };
  struct Before {
    const SortLayout* layout;
    bool operator()(const Entry& a, const Entry& b) const {
      return a.first != b.first ? a.first < b.first : layout->before(a.row, b.row);
    }
  };
  uint64_t* room_for(size_t rows);
  void keep_best();

  SortLayout layout_;
  const Memory& memory_;
  size_t limit_;
  std::vector<Entry> rows_;
  std::vector<Chunk> chunks_;
  size_t chunk_used_ = 0;  // words of the last chunk
  TextArena arena_;
  bool has_threshold_ = false;
  uint64_t threshold_ = 0;
  std::vector<uint64_t> block_;
  std::unique_ptr<GrowingReservation> reservation_;
};

// All rows in order, as a source that owns them.
std::unique_ptr<BlockSource> sort_runs(const SorterInfo& info, std::vector<std::unique_ptr<SortRun>> runs,
                                       const std::vector<ColumnDefinition>& columns, const Memory& memory, int threads);

}  // namespace diptych::cpu
