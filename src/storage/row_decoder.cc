#include "storage/row_decoder.h"

#include <cstring>
#include <string_view>

#include "base/error.h"
#include "tablet/dictionary.h"

namespace diptych {
DecodedRows::DecodedRows(std::span<const ColumnView> views, int64_t rows) : rows_(rows) {
  for (const ColumnView& view : views) columns_.push_back(decode(view));
}

void* DecodedRows::memory(size_t bytes) {
  memory_.push_back(std::make_unique<std::byte[]>(bytes));
  return memory_.back().get();
}

BatchColumn DecodedRows::decode(const ColumnView& view) {
  BatchColumn column;
  if (view.encoding == Encoding::Dictionary) {
    column = decode_dictionary(view);
  } else if (view.encoding == Encoding::Heap) {
    column.offsets = view.offsets;
    column.bytes = view.heap;
  } else if (view.encoding == Encoding::Plain) {
    column.values = view.data;
  } else {
    switch (view.physical) {
      case PhysicalType::Bool: column.values = decode_integers<uint8_t>(view); break;
      case PhysicalType::Int32: column.values = decode_integers<int32_t>(view); break;
      case PhysicalType::Int64: column.values = decode_integers<int64_t>(view); break;
      case PhysicalType::Int128: column.values = decode_integers<int128_t>(view); break;
      default: check_invariant(false, "a frame of reference holds integers");
    }
  }
  column.physical = view.physical;
  column.validity = view.validity;
  return column;
}

template <typename T>
const void* DecodedRows::decode_integers(const ColumnView& view) {
  T* values = static_cast<T*>(memory(sizeof(T) * static_cast<size_t>(rows_)));
  for (int64_t row = 0; row < rows_; ++row) values[row] = static_cast<T>(integer_at(view, row));
  return values;
}

// As offsets and bytes of the strings themselves: codes of a batch index a dictionary that has all its strings, and a
// table's dictionary may hold far more of them than a fragment has rows.
BatchColumn DecodedRows::decode_dictionary(const ColumnView& view) {
  auto* offsets = static_cast<uint32_t*>(memory(sizeof(uint32_t) * static_cast<size_t>(rows_ + 1)));
  uint32_t bytes = 0;
  for (int64_t row = 0; row < rows_; ++row) {
    offsets[row] = bytes;
    if (!is_null_at(view, row)) bytes += static_cast<uint32_t>(string_at(view, row).size());
  }
  offsets[rows_] = bytes;
  char* text = static_cast<char*>(memory(bytes));
  for (int64_t row = 0; row < rows_; ++row) {
    if (offsets[row + 1] > offsets[row])
      std::memcpy(text + offsets[row], string_at(view, row).data(), string_at(view, row).size());
  }
  BatchColumn column;
  column.offsets = offsets;
  column.bytes = text;
  return column;
}

}  // namespace diptych
