// Validity bitmaps: bit i of byte i/8 is 1 when row i is not null.
#pragma once

#include <cstdint>

#include "tablet/aligned_buffer.h"

namespace diptych {

inline bool is_valid(const uint8_t* validity, int64_t row) {
  return validity == nullptr || ((validity[row >> 3] >> (row & 7)) & 1) != 0;
}

inline int64_t validity_bytes(int64_t rows) { return (rows + 7) / 8; }

// How many of the bits [first, first + count) are 1.
int64_t count_ones(const uint8_t* bits, int64_t first, int64_t count);

// Copies bits [source_first, source_first + count) to [target_first, ...). Bits of the target outside stay as they are.
void copy_bits(uint8_t* target, int64_t target_first, const uint8_t* source, int64_t source_first, int64_t count);

void set_ones(uint8_t* bits, int64_t first, int64_t count);

// The validity of a column that grows: nothing is held until the first null arrives.
class GrowingValidity {
 public:
  // bits: nullptr for rows without nulls; else bit `offset` is the first row's.
  void append(const uint8_t* bits, int64_t offset, int64_t count);
  int64_t null_count() const { return null_count_; }
  int64_t rows() const { return rows_; }
  // nullptr while no row is null.
  const uint8_t* bits() const { return null_count_ > 0 ? bits_.as<uint8_t>() : nullptr; }
  // Hands the bitmap over (empty when no row is null) and starts anew.
  AlignedBuffer take();

 private:
  void reserve(int64_t rows);

  AlignedBuffer bits_;
  int64_t rows_ = 0;
  int64_t null_count_ = 0;
};

}  // namespace diptych
