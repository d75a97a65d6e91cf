// What the batches of a section have appended to a row set that is not sorted, as one piece that stays on the device.
//
//   batches   |values 0|NULL bytes 0|bits 0|values 1| ...     as kernels write them, in the order of the rows
//   piece     |bits 0|values 0|values 1| ...                  bits instead of bytes
//
// Strings of no dictionary, which kernels write as where they are, have memory of their own in each batch already: what
// they lie in goes with the batch.
//
// A batch alone that uses most of its memory is the piece: nothing is copied, and where no column has NULLs, nothing is
// waited for.
#pragma once

#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/rows/copied_strings.h"
#include "engine/gpu/rows/device_row_set.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

// Of NULLs as bits, which kernels write as words of 32.
inline int64_t word_bits_bytes(int64_t rows) { return (rows + 31) / 32 * 4; }

class AppendedRows {
 public:
  // A batch's rows, in order. values, nulls, bits: offsets in the buffer, by column; bits: room for nulls as bits.
  // strings: of columns that are such, of which values say nothing.
  struct Batch {
    DeviceBuffer buffer;
    std::vector<int64_t> values, nulls, bits;
    std::vector<CopiedStrings> strings;
    int64_t rows = 0;
  };
  void add(Batch batch) { batches_.push_back(std::move(batch)); }

  // All of them. outputs: of the section's kernel; dictionaries: by column of the section. Waits for the queue. Errors:
  // 53200, 58000.
  std::shared_ptr<const RowSet> finish(GpuEngine& engine, Queue& queue, const std::vector<OutputColumn>& outputs,
                                       const std::vector<ColumnDefinition>& columns,
                                       const std::vector<const Dictionary*>& dictionaries, MemoryBudget* budget);

 private:
  bool is_piece(const std::vector<OutputColumn>& outputs) const;
  DevicePiece take_piece(GpuEngine& engine, Queue& queue, const std::vector<OutputColumn>& outputs);
  DevicePiece join(GpuEngine& engine, Queue& queue, const std::vector<OutputColumn>& outputs) const;
  void join_strings(GpuEngine& engine, Queue& queue, size_t column, int64_t rows, DevicePiece::Column& joined) const;

  std::vector<Batch> batches_;
};

}  // namespace diptych::gpu
