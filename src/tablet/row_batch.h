// Columns of decoded values on their way into tablets: what readers of files, INSERT and CREATE TABLE AS hand to the
// table writer.
//
//   batch of 3 rows   column 0 (integer)  values: [1, 2, 3]              validity: -
//                     column 1 (text)     offsets: [0, 3, 3, 7] bytes: "abcdefg"  validity: 101
//
// A batch views memory of its producer (an Arrow array's buffers, a decoded block) and is valid only during the call it
// is passed to, unless it says who owns that memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/type.h"
#include "tablet/validity_bits.h"

namespace diptych {

class Dictionary;

struct BatchColumn {
  PhysicalType physical = PhysicalType::Int32;
  const void* values = nullptr;       // register form of `physical`, rows values; nullptr for Text
  const uint8_t* validity = nullptr;  // bit (validity_offset + i): 1 when row i is not null; nullptr: no nulls
  int64_t validity_offset = 0;        // in bits
  // Text: the bytes between rows + 1 offsets; or codes into strings, which are those of the dictionary, or, where that
  // is null, those between the offsets.
  const uint32_t* offsets = nullptr;
  const char* bytes = nullptr;
  const int32_t* codes = nullptr;
  const Dictionary* dictionary = nullptr;

  bool is_null(int64_t row) const { return !is_valid(validity, validity_offset + row); }
};

struct RowBatch {
  int64_t rows = 0;
  std::span<const BatchColumn> columns;
  // By column: the table that gets the rows has had all their values before. null: nothing is known of any.
  const std::vector<bool>* had = nullptr;
  // Of the columns' memory, who holds it may go on reading them; null: they are there for the call alone.
  std::shared_ptr<const void> owner = nullptr;
};

}  // namespace diptych
