// The rows that one thread has put into a sorter, and the sorting of all threads' rows.
//
// With a limit (top-N), a run throws away what can't be among the first rows any more whenever it has twice as many as
// needed, and from then on turns rows away by the first words of the worst row it keeps, before their payload is looked
// at.
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
                                                const std::vector<ColumnDefinition>& columns, const Memory& memory,
                                                int threads);
  struct Entry {
    uint64_t first = 0, second = 0;  // words of the row, so that nearly all comparisons stay in this array
    const uint64_t* row = nullptr;
  };
  struct Before {
    const SortLayout* layout;
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.first != b.first) return a.first < b.first;
      return a.second != b.second ? a.second < b.second : layout->before(a.row, b.row);
    }
  };
  uint64_t* room_for(size_t rows);
  void keep_best();
  // The rows of the mask that the threshold does not turn away.
  RowMask within_threshold(Frame& frame, int first, const RowMask& rows);

  SortLayout layout_;
  const Memory& memory_;
  size_t limit_;
  std::vector<Entry> rows_;
  std::vector<Chunk> chunks_;
  size_t chunk_used_ = 0;  // words of the last chunk
  TextArena arena_;
  bool has_threshold_ = false;
  uint64_t threshold_[2] = {0, 0};  // first and second of the worst row kept
  std::vector<uint64_t> block_;     // keys of the block at hand
  std::unique_ptr<GrowingReservation> reservation_;
};

// All rows in order, as a source that owns them.
std::unique_ptr<BlockSource> sort_runs(const SorterInfo& info, std::vector<std::unique_ptr<SortRun>> runs,
                                       const std::vector<ColumnDefinition>& columns, const Memory& memory, int threads);

}  // namespace diptych::cpu
