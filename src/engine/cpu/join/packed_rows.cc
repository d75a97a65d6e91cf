#include "engine/cpu/join/packed_rows.h"

#include <algorithm>
#include <cstring>

namespace diptych::cpu {
namespace {

bool is_whole_number(PhysicalType physical) {
  return physical == PhysicalType::Int32 || physical == PhysicalType::Int64 || physical == PhysicalType::Int128;
}

PackedRows::Field field_of(const RegisterInfo& column) {
  PackedRows::Field field;
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

PackedRows::PackedRows(const std::vector<RegisterInfo>& columns, const std::vector<bool>& fetched)
    : fields_(columns.size()) {
  for (size_t i = 0; i < columns.size(); ++i) {
    physical_.push_back(columns[i].physical);
    if (!fetched[i]) continue;
    fields_[i] = field_of(columns[i]);
    columns_.push_back(i);
  }
  std::stable_sort(columns_.begin(), columns_.end(),
                   [&](size_t a, size_t b) { return fields_[a].width > fields_[b].width; });
  for (const size_t column : columns_) {
    fields_[column].at = stride_;
    stride_ += fields_[column].width;
  }
  size_t nulls = 0;
  for (const size_t column : columns_) {
    if (!fields_[column].nullable) continue;
    fields_[column].null_at = stride_ + nulls / 8;
    fields_[column].null_bit = static_cast<int>(nulls++ % 8);
  }
  stride_ += (nulls + 7) / 8;
  const size_t widest = columns_.empty() ? 1 : std::min<size_t>(8, fields_[columns_[0]].width);
  stride_ = (stride_ + widest - 1) / widest * widest;
}

void PackedRows::allocate(size_t rows, const Memory& memory) {
  rows_ = memory.allocate(std::max<size_t>(64, rows * stride_), "index of a join");
}

template <typename Value, typename Stored>
void PackedRows::write_values(const Field& field, const Values& from, const uint32_t* places, int count) {
  for (int row = 0; row < count; ++row) {
    if (places[row] == no_place) continue;
    const Value value = value_at<Value>(from, row);
    Stored stored;
    if constexpr (sizeof(Stored) == sizeof(dk_i128))
      stored = value;
    else if constexpr (sizeof(Value) == sizeof(dk_i128))
      stored = static_cast<Stored>(value.lo - static_cast<uint64_t>(field.low));
    else
      stored = static_cast<Stored>(value - static_cast<Value>(field.low));
    std::memcpy(at(places[row], field), &stored, sizeof(stored));
  }
}

void PackedRows::write_nulls(const Field& field, const uint64_t* valid, const uint32_t* places, int count) {
  for (int row = 0; row < count; ++row) {
    if (places[row] == no_place) continue;
    std::byte& bits = rows_.data()[places[row] * stride_ + field.null_at];
    const auto is_there = static_cast<uint8_t>(valid == nullptr ? 1 : valid[row / 64] >> (row % 64) & 1);
    // The first of the byte's columns clears what is there for the others.
    bits = (field.null_bit == 0 ? std::byte{0} : bits) | std::byte{static_cast<uint8_t>(is_there << field.null_bit)};
  }
}

void PackedRows::write(size_t column, const KeyColumn& from, const uint32_t* places, int count) {
  const Field& field = fields_[column];
  with_stored_type(field.width, [&]<typename Stored>(Stored) {
    switch (width_bytes(physical_[column])) {
      case 1:
        if constexpr (sizeof(Stored) == 1) write_values<uint8_t, Stored>(field, from.values, places, count);
        return;
      case 4:
        if constexpr (sizeof(Stored) <= 4) write_values<uint32_t, Stored>(field, from.values, places, count);
        return;
      case 8:
        if constexpr (sizeof(Stored) <= 8) write_values<uint64_t, Stored>(field, from.values, places, count);
        return;
      default: write_values<dk_i128, Stored>(field, from.values, places, count);
    }
  });
  if (field.nullable) write_nulls(field, from.valid, places, count);
}

void PackedRows::write_whole(size_t column, size_t place, int64_t value) {
  std::memcpy(at(place, fields_[column]), &value, sizeof(value));
}

}  // namespace diptych::cpu
