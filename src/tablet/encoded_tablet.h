// A tablet in memory, before it is laid out as one block: each column in encoded form, in buffers of its own.
//
//   TabletBuilder --finish()--> EncodedTablet --serialize()--> block (layout.h)
//                                     '------> MemorySource (memory_source.h)
#pragma once

#include <cstdint>
#include <vector>

#include "tablet/aligned_buffer.h"
#include "tablet/column_view.h"

namespace diptych {

struct EncodedColumn {
  Encoding encoding = Encoding::FrameOfReference;
  PhysicalType physical = PhysicalType::Int32;
  uint8_t width = 0;  // bytes of a code (FrameOfReference: 0, 1, 2, 4, 8; Dictionary: 1, 2); 0 for Plain and Heap
  int64_t base = 0;
  int64_t factor = 1;
  ZoneMap zone;
  AlignedBuffer data;      // codes or plain values; a null slot holds code 0 or zero bytes
  AlignedBuffer validity;  // empty: no row is null
  AlignedBuffer offsets;   // Heap: rows + 1 uint32; a null row is empty
  AlignedBuffer heap;
  const Dictionary* dictionary = nullptr;  // not owned

  // Valid as long as this column stays where its buffers are (moving the column keeps it valid).
  ColumnView view() const;
  // Bytes of all buffers.
  int64_t bytes() const;
};

// How a column is to be stored where its values allow it: as in other tablets of the table, so that what reads all of
// them need not tell tablets apart.
struct UsualForm {
  bool has_codes = true;  // false: plain values, strings in the heap
  uint8_t width = 0;      // of codes: at least so many bytes
  int64_t factor = 0;     // of codes; 0: any
};

struct EncodedTablet {
  int64_t rows = 0;
  std::vector<EncodedColumn> columns;

  int64_t bytes() const;
};

}  // namespace diptych
