// What an engine sees of one column of one tablet: addresses of the encoded form, and how to decode it.
//
//   integers   value[i] = base + factor * code[i]        code: width bytes each, unsigned; width 0: no code, value =
//   base plain      value[i] = ((T*)data)[i]                   float, double, int128, interval; also result columns
//   dictionary value[i] = dictionary[code[i]]             codes as above with base 0, factor 1
//   heap       value[i] = heap[offsets[i] .. offsets[i+1])
//
// A view owns nothing; whoever hands it out keeps the bytes in place (see PinnedTablet).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/type.h"

namespace diptych {

class Dictionary;

enum class Encoding : uint8_t {
  FrameOfReference,  // integers (boolean, smallint, integer, bigint, date, timestamp, numeric up to 18 digits)
  Plain,             // the register form of the column's physical type, value by value
  Dictionary,        // strings as codes of the table's dictionary
  Heap,              // strings as offsets into the tablet's variable-width area
};

// The least and greatest non-null value of a column in a tablet, for skipping tablets and choosing widths.
// Integers and numerics are exact in low/high; floats in low_float/high_float (NaN counts as greatest, as SQL orders
// it); strings have no bounds.
struct ZoneMap {
  bool has_bounds = false;  // false: no statement about the values (strings, or every row null)
  int64_t null_count = -1;  // -1: unknown
  int128_t low = 0, high = 0;
  double low_float = 0, high_float = 0;
};

struct ColumnView {
  Encoding encoding = Encoding::FrameOfReference;
  PhysicalType physical = PhysicalType::Int32;
  uint8_t width = 0;                  // bytes of a code: 0, 1, 2, 4, 8
  int64_t base = 0;                   //
  int64_t factor = 1;                 // at least 1
  const std::byte* data = nullptr;    // codes or plain values; 64-byte aligned
  const uint8_t* validity = nullptr;  // bit i of byte i/8 is 1 when row i is not null; nullptr: no row is null
  const uint32_t* offsets = nullptr;  // heap: rows + 1 entries
  const char* heap = nullptr;         //
  const Dictionary* dictionary = nullptr;
};

}  // namespace diptych
