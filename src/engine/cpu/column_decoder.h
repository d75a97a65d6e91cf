// Columns of a tablet as the frame sees them: the codes of a block, padded where a loop may read past the end, and
// their decoding.
#pragma once

#include "engine/cpu/frame.h"

namespace diptych::cpu {

// Which rows of the block are to be decoded, and where the block is.
struct DecodeRange {
  const uint64_t* wanted;
  int words;
  int64_t first_row;  // of the block in its tablet
  int rows;
};

// Sets codes and valid to those of rows [first_row, first_row + rows) of the tablet.
void position_column(ColumnState& column, int64_t first_row, int rows);

// True when the column's bytes are values of the register type as they stand.
bool is_direct(const ColumnView& view, PhysicalType physical);

// Decodes every word with a wanted row to register form.
void decode_column(const ColumnState& column, bool codes_wanted, PhysicalType physical, const DecodeRange& range,
                   std::byte* out);

// The dictionary's code of a row.
uint32_t dictionary_code(const ColumnState& column, int row);

}  // namespace diptych::cpu
