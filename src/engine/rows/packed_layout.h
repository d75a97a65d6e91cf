// How columns of rows lie side by side, so that one access to memory brings all of a row that a section fetches:
//
//   |row 0: c1|c0|c2|NULL bits|row 1: c1|c0|c2|NULL bits|...        the widest column first
//
// A whole number takes the fewest bytes (1, 2, 4, 8) that its proven bounds allow, as difference from the least value.
// Columns that nobody fetches are left out.
#pragma once

#include <algorithm>
#include <vector>

#include "program/program.h"

namespace diptych {

// Of which a field may take fewer bytes than the type.
inline bool is_whole_number(PhysicalType physical) {
  return physical == PhysicalType::Int32 || physical == PhysicalType::Int64 || physical == PhysicalType::Int128;
}

class PackedLayout {
 public:
  struct Field {
    size_t width = 0;  // bytes; 0: left out
    size_t at = 0;     // in a row
    int64_t low = 0;   // is added to what is stored
    bool nullable = false;
    size_t null_at = 0;  // byte of a row, ...
    int null_bit = 0;    // ... and bit of it that says whether the value is there
  };

  PackedLayout() = default;
  PackedLayout(const std::vector<RegisterInfo>& columns, const std::vector<bool>& fetched);

  // Of a row, without what makes the next one's fields aligned.
  size_t bytes() const { return bytes_; }
  // The alignment that the fields need: 1, 2, 4 or 8.
  size_t alignment() const { return columns_.empty() ? 1 : std::min<size_t>(8, fields_[columns_[0]].width); }
  size_t column_count() const { return fields_.size(); }
  const Field& field(size_t column) const { return fields_[column]; }
  // Those that are not left out, in the order of their fields.
  const std::vector<size_t>& columns() const { return columns_; }

 private:
  std::vector<Field> fields_;  // by column
  std::vector<size_t> columns_;
  size_t bytes_ = 0;
};

}  // namespace diptych
