#include "engine/cpu/join/packed_rows.h"

#include <algorithm>
#include <cstring>

namespace diptych::cpu {
PackedRows::PackedRows(const std::vector<RegisterInfo>& columns, const std::vector<bool>& fetched)
    : layout_(columns, fetched) {
  for (const RegisterInfo& column : columns) physical_.push_back(column.physical);
  const size_t alignment = layout_.alignment();
  stride_ = (layout_.bytes() + alignment - 1) / alignment * alignment;
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
  const Field& field = layout_.field(column);
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
  std::memcpy(at(place, layout_.field(column)), &value, sizeof(value));
}

}  // namespace diptych::cpu
