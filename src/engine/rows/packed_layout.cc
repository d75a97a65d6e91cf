#include "engine/rows/packed_layout.h"

#include <algorithm>

namespace diptych {
namespace {

PackedLayout::Field field_of(const RegisterInfo& column) {
  PackedLayout::Field field;
  field.width = static_cast<size_t>(width_bytes(column.physical));
  field.nullable = column.nullable;
  if (!column.has_range || !is_whole_number(column.physical)) return field;
  if (column.low > column.high || column.low < INT64_MIN || column.high > INT64_MAX) return field;
  field.low = static_cast<int64_t>(column.low);
  const auto most = static_cast<uint64_t>(column.high - column.low);
  const size_t narrow = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
  field.width = std::min(field.width, narrow);
  return field;
}

}  // namespace

PackedLayout::PackedLayout(const std::vector<RegisterInfo>& columns, const std::vector<bool>& fetched)
    : fields_(columns.size()) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!fetched[i]) continue;
    fields_[i] = field_of(columns[i]);
    columns_.push_back(i);
  }
  std::stable_sort(columns_.begin(), columns_.end(),
                   [&](size_t a, size_t b) { return fields_[a].width > fields_[b].width; });
  for (const size_t column : columns_) {
    fields_[column].at = bytes_;
    bytes_ += fields_[column].width;
  }
  size_t nulls = 0;
  for (const size_t column : columns_) {
    if (!fields_[column].nullable) continue;
    fields_[column].null_at = bytes_ + nulls / 8;
    fields_[column].null_bit = static_cast<int>(nulls++ % 8);
  }
  bytes_ += (nulls + 7) / 8;
}

}  // namespace diptych
