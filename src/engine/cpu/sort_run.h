// The rows that one thread has appended to a row set with sort keys, and the sorting of all threads' rows.
//
// With a limit (top-N), a run throws away what can't be among the first rows any more whenever it has twice as many as
// needed, and from then on turns rows away by the first words of the worst row it keeps, before their payload is looked
// at.
//
// When the rows of a run pass its share of memory, or the budget is used up, they are sorted and written to a
// temporary file (spill/sort_file.h); the sorted pieces of all runs are merged at the end.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/sort_rows.h"
#include "engine/cpu/spill/sort_file.h"
#include "engine/rows/host_row_set.h"
#include "engine/run/context.h"

namespace diptych::cpu {

class SortRun {
 public:
  // context: of the statement, outlives it.
  SortRun(const RowSetInfo& info, const Memory& memory, const ExecutionContext& context);

  // Takes memory for the rows of a block, and from then on has it: to be called before others have taken all there is.
  // Errors: 53200.
  void make_room();
  // Adds the frame's sinking rows; the row set's columns are the registers from `first` on. Errors: 53100, 53200,
  // 57014, 58030.
  void add(Frame& frame, int first);
  // Rows in memory.
  size_t rows() const { return rows_.size(); }
  // Moves the rows in memory to the file. Errors: 53100, 57014, 58030.
  void spill();
  bool has_spilled() const { return file_ != nullptr; }
  // Gives away what has_spilled().
  std::unique_ptr<SortFile> take_file() { return std::move(file_); }

 private:
  friend std::shared_ptr<HostRowSet> sort_runs(const RowSetInfo& info, std::vector<std::unique_ptr<SortRun>> runs,
                                               const std::vector<ColumnDefinition>& columns, const Memory& memory,
                                               const ExecutionContext& context);
  void open_chunk(size_t rows);
  uint64_t* room_for(size_t rows);
  uint64_t* try_room_for(size_t rows);
  void account();
  size_t held_bytes() const;
  void keep_best();
  // The rows of the mask that the threshold does not turn away.
  RowMask within_threshold(Frame& frame, int first, const RowMask& rows);

  SortLayout layout_;
  const Memory& memory_;
  const ExecutionContext& context_;
  size_t limit_;
  const size_t share_;  // bytes that the run may hold before it spills
  std::vector<SortEntry> rows_;
  std::vector<Chunk> chunks_;
  size_t chunk_used_ = 0;   // words of the last chunk
  size_t chunk_bytes_ = 0;  // of all chunks
  TextArena arena_;
  bool has_threshold_ = false;
  uint64_t threshold_[2] = {0, 0};  // first and second of the worst row kept
  std::vector<uint64_t> block_;     // keys of the block at hand
  MemoryReservation reservation_;
  std::unique_ptr<SortFile> file_;  // null: nothing has been spilled
};

// All rows in order.
std::shared_ptr<HostRowSet> sort_runs(const RowSetInfo& info, std::vector<std::unique_ptr<SortRun>> runs,
                                      const std::vector<ColumnDefinition>& columns, const Memory& memory,
                                      const ExecutionContext& context);

}  // namespace diptych::cpu
