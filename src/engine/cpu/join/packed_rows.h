// Columns of an index's rows side by side (engine/rows/packed_layout.h), padded so that fields are aligned.
#pragma once

#include <vector>

#include "engine/cpu/key_rows.h"
#include "engine/rows/memory.h"
#include "engine/rows/packed_layout.h"

namespace diptych::cpu {

class PackedRows {
 public:
  using Field = PackedLayout::Field;

  PackedRows() = default;
  PackedRows(const std::vector<RegisterInfo>& columns, const std::vector<bool>& fetched);

  // Bytes of a row.
  size_t stride() const { return stride_; }
  size_t bytes() const { return rows_.size(); }
  size_t column_count() const { return layout_.column_count(); }
  const Field& field(size_t column) const { return layout_.field(column); }
  const std::byte* rows() const { return rows_.data(); }
  // Those that are not left out.
  const std::vector<size_t>& columns() const { return layout_.columns(); }

  // For so many rows, not initialised. Errors: 53200.
  void allocate(size_t rows, const Memory& memory);
  // Writes a column of rows that are asked for by their number in the block: places[i] is where row i goes, or
  // no_place. Rows are written by one thread, all of their columns one after the other, in the order of columns().
  static constexpr uint32_t no_place = UINT32_MAX;
  void write(size_t column, const KeyColumn& from, const uint32_t* places, int count);
  // One value that is never NULL of a column of Int64.
  void write_whole(size_t column, size_t place, int64_t value);

 private:
  template <typename Value, typename Stored>
  void write_values(const Field& field, const Values& from, const uint32_t* places, int count);
  void write_nulls(const Field& field, const uint64_t* valid, const uint32_t* places, int count);
  std::byte* at(size_t place, const Field& field) { return rows_.data() + place * stride_ + field.at; }

  std::vector<PhysicalType> physical_;
  PackedLayout layout_;
  size_t stride_ = 0;
  Chunk rows_;
};

// Calls visit(Stored{}) with a type of so many bytes that a field is stored as.
template <typename Visit>
auto with_stored_type(size_t width, Visit&& visit) {
  switch (width) {
    case 1: return visit(uint8_t{});
    case 2: return visit(uint16_t{});
    case 4: return visit(uint32_t{});
    case 8: return visit(uint64_t{});
    default: return visit(dk_i128{});
  }
}

}  // namespace diptych::cpu
