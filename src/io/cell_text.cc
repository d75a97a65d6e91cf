#include "io/cell_text.h"

#include <cstring>

#include "base/format.h"
#include "tablet/dictionary.h"

namespace diptych {
namespace {

template <typename T>
T plain_at(const ColumnView& view, int64_t row) {
  T value;
  std::memcpy(&value, view.data + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

}  // namespace

uint64_t code_at(const ColumnView& view, int64_t row) {
  switch (view.width) {
    case 0: return 0;
    case 1: return plain_at<uint8_t>(view, row);
    case 2: return plain_at<uint16_t>(view, row);
    case 4: return plain_at<uint32_t>(view, row);
    default: return plain_at<uint64_t>(view, row);
  }
}

int128_t integer_at(const ColumnView& view, int64_t row) {
  if (view.encoding == Encoding::FrameOfReference) {
    return static_cast<int64_t>(static_cast<uint64_t>(view.base) +
                                static_cast<uint64_t>(view.factor) * code_at(view, row));
  }
  switch (view.physical) {
    case PhysicalType::Bool: return plain_at<uint8_t>(view, row);
    case PhysicalType::Int32: return plain_at<int32_t>(view, row);
    case PhysicalType::Int64: return plain_at<int64_t>(view, row);
    default: return plain_at<int128_t>(view, row);
  }
}

std::string_view string_at(const ColumnView& view, int64_t row) {
  if (view.encoding == Encoding::Dictionary) return (*view.dictionary)[static_cast<uint32_t>(code_at(view, row))];
  return {view.heap + view.offsets[row], view.offsets[row + 1] - view.offsets[row]};
}

void append_cell(std::string& out, const ColumnView& view, const Type& type, int64_t row) {
  switch (type.id) {
    case TypeId::Boolean: return append_boolean(out, integer_at(view, row) != 0);
    case TypeId::Null:
    case TypeId::SmallInt:
    case TypeId::Integer:
    case TypeId::BigInt: return append_integer(out, static_cast<int64_t>(integer_at(view, row)));
    case TypeId::Real: return append_float(out, plain_at<float>(view, row));
    case TypeId::Double: return append_double(out, plain_at<double>(view, row));
    case TypeId::Numeric: return append_numeric(out, integer_at(view, row), type.scale);
    case TypeId::Date: return append_date(out, static_cast<int32_t>(integer_at(view, row)));
    case TypeId::Timestamp: return append_timestamp(out, static_cast<int64_t>(integer_at(view, row)));
    case TypeId::Interval: return append_interval(out, plain_at<Interval>(view, row));
    case TypeId::Text:
    case TypeId::Varchar: out.append(string_at(view, row)); return;
    case TypeId::Char: return append_padded(out, string_at(view, row), type.length);
  }
}

}  // namespace diptych
