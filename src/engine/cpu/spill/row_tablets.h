// Turns sorted rows into tablets that own all they hold, strings in a heap, so that they can move to a file.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/sort_rows.h"
#include "engine/rows/host_row_set.h"

namespace diptych::cpu {

class RowTablets {
 public:
  // The tablets become pieces of the row set; one takes about most_bytes at most, of values and of strings each.
  RowTablets(const SortLayout& layout, HostRowSet& rows, const Memory& memory, size_t most_bytes);
  // Copies the row with its strings. Errors: 53200.
  void add(const uint64_t* row);
  // No rows follow.
  void finish();

 private:
  struct Column {
    PhysicalType physical;
    size_t width;       // of what stands in `values`
    Chunk values;       // values, or offsets of strings
    Chunk heap;         // strings
    size_t heap_bytes;  // used
    bool nulls;
  };
  bool is_text(const Column& column) const { return column.physical == PhysicalType::Text; }
  uint64_t* validity(const Column& column) const;
  void open();
  void add_text(Column& column, const dk_text& text);

  const SortLayout& layout_;
  HostRowSet& to_;
  const Memory& memory_;
  const size_t most_bytes_;  // of a tablet, about
  size_t capacity_ = 0;      // rows of a tablet
  size_t rows_ = 0;          // in the open tablet
  size_t heap_bytes_ = 0;    // of the open tablet
  std::vector<Column> columns_;
};

}  // namespace diptych::cpu
