// Single cells of a column, decoded where they stand: for writers, keys and readers that go row by row. Engines decode
// whole blocks instead.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "tablet/column_view.h"
#include "tablet/dictionary.h"
#include "tablet/row_batch.h"

namespace diptych {

// A row of an array of T, without asking for T's alignment.
template <typename T>
T plain_at(const ColumnView& view, int64_t row) {
  T value;
  std::memcpy(&value, view.data + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

inline bool is_null_at(const ColumnView& view, int64_t row) {
  return view.validity && !(view.validity[row / 8] >> (row % 8) & 1);
}

// The code of one row of a FrameOfReference or Dictionary column: 0 when the width is 0.
inline uint64_t code_at(const ColumnView& view, int64_t row) {
  switch (view.width) {
    case 0: return 0;
    case 1: return plain_at<uint8_t>(view, row);
    case 2: return plain_at<uint16_t>(view, row);
    case 4: return plain_at<uint32_t>(view, row);
    default: return plain_at<uint64_t>(view, row);
  }
}

// A row of a FrameOfReference column.
inline int64_t framed_at(const ColumnView& view, int64_t row) {
  // Unsigned: the range of a tablet may exceed what int64 holds, the value does not.
  return static_cast<int64_t>(static_cast<uint64_t>(view.base) +
                              static_cast<uint64_t>(view.factor) * code_at(view, row));
}

// A row of integers, booleans included: FrameOfReference, or Plain of an integer type.
inline int128_t integer_at(const ColumnView& view, int64_t row) {
  if (view.encoding == Encoding::FrameOfReference) return framed_at(view, row);
  switch (view.physical) {
    case PhysicalType::Bool: return plain_at<uint8_t>(view, row);
    case PhysicalType::Int32: return plain_at<int32_t>(view, row);
    case PhysicalType::Int64: return plain_at<int64_t>(view, row);
    default: return plain_at<int128_t>(view, row);
  }
}

// The string of a row that is not null.
inline std::string_view string_at(const ColumnView& view, int64_t row) {
  if (view.encoding == Encoding::Dictionary) return (*view.dictionary)[static_cast<uint32_t>(code_at(view, row))];
  return {view.heap + view.offsets[row], view.offsets[row + 1] - view.offsets[row]};
}

inline std::string_view entry_of(const BatchColumn& column, int64_t entry) {
  if (column.dictionary != nullptr) return (*column.dictionary)[static_cast<uint32_t>(entry)];
  return {column.bytes + column.offsets[entry], column.offsets[entry + 1] - column.offsets[entry]};
}

// The string of a row that is not null.
inline std::string_view string_at(const BatchColumn& column, int64_t row) {
  return entry_of(column, column.codes != nullptr ? column.codes[row] : row);
}

}  // namespace diptych
