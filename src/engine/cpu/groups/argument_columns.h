// What the aggregates of a hash table take of rows whose groups are not looked up: columns of arguments, of which
// states are made when the rows meet their groups (merge_table.h). An argument that several aggregates share is there
// once.
//
//   sum(x), avg(x), count(*), min(s) where b
//
//   column   x: values |3 1 4 1 5|  has |1 1 0 1 1|     one for sum and avg
//            -:                     has |1 1 1 1 1|     count(*) takes no value
//            s: values |. . . . .|  has |0 1 1 0 0|
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/aggregate_column.h"

namespace diptych::cpu {

// Which aggregate takes which column.
class ArgumentLayout {
 public:
  struct Column {
    PhysicalType physical = PhysicalType::Int32;
    size_t width = 0;  // 0: only whether a row takes part matters
    bool is_text() const { return width > 0 && physical == PhysicalType::Text; }
  };

  explicit ArgumentLayout(const std::vector<AggregateInfo>& aggregates);
  const std::vector<Column>& columns() const { return columns_; }
  size_t column_of(size_t aggregate) const { return column_of_[aggregate]; }
  // Of values and whether they are there.
  size_t row_bytes() const { return row_bytes_; }

 private:
  std::vector<Column> columns_;
  std::vector<size_t> column_of_;  // by aggregate
  size_t row_bytes_ = 0;
};

// The columns of the rows that a thread has in hands. Strings are copied.
class ArgumentColumns {
 public:
  explicit ArgumentColumns(const std::vector<AggregateInfo>& aggregates);

  const ArgumentLayout& layout() const { return layout_; }
  // There is room for so many rows; no aggregate takes new ones yet.
  void grow_to(size_t rows);
  // The wanted rows of the block have the argument's values at places[row]. argument: null for a column without values.
  void add(size_t column, const AggregateInput& input, const RowMask& rows, const uint32_t* places);
  // There are no rows any more, of which there were so many.
  void clear(size_t rows);

  // How many rows have a value.
  size_t present(size_t column) const { return buffers_[column].present; }
  const std::byte* values(size_t column) const { return buffers_[column].values.data(); }
  // By row: 1, or 0 for one without a value.
  const uint8_t* has(size_t column) const { return buffers_[column].has.data(); }
  size_t bytes() const;
  size_t text_bytes() const { return arena_.bytes(); }

 private:
  struct Buffer {
    std::vector<std::byte> values;
    std::vector<uint8_t> has;
    size_t present = 0;
  };
  ArgumentLayout layout_;
  std::vector<Buffer> buffers_;
  TextArena arena_;
};

}  // namespace diptych::cpu
