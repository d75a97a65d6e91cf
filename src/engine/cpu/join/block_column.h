// Reads one column of a tablet block by block in register form, where there is no frame.
#pragma once

#include "engine/cpu/column_decoder.h"
#include "engine/cpu/key_rows.h"

namespace diptych::cpu {

class BlockColumn {
 public:
  explicit BlockColumn(PhysicalType physical) : physical_(physical) {}

  void begin(const ColumnView& view) { state_.view = view; }
  // Rows [first_row, first_row + rows) of the tablet, first_row a multiple of 64; up to the next call.
  KeyColumn read(int64_t first_row, int rows) {
    const auto width = 64 * static_cast<size_t>(width_bytes(physical_));
    position_column(state_, first_row, rows);
    if (is_direct(state_.view, physical_)) return {{state_.codes, width}, state_.valid};
    values_.resize(block_words * width);
    RowMask all;
    all.fill(rows);
    decode_column(state_, false, physical_, {all.words, words_for(rows), first_row, rows}, values_.data());
    return {{values_.data(), width}, state_.valid};
  }

 private:
  PhysicalType physical_;
  ColumnState state_;
  AlignedBuffer values_;
};

}  // namespace diptych::cpu
