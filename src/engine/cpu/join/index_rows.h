// The rows that an index is made of: all of a row set, or a part of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "tablet/tablet_source.h"

namespace diptych::cpu {

// Rows [first_row, first_row + rows) of a tablet; first_row a multiple of 64.
struct TabletSlice {
  size_t tablet = 0;
  int64_t first_row = 0, rows = 0;
  int64_t position = 0;  // of the first row in the source
};

struct IndexRows {
  std::shared_ptr<const TabletSource> source;
  std::vector<TabletSlice> slices;
  // That the index may take; beyond, 53200.
  int64_t most_bytes = INT64_MAX;
  // Whether the rows' positions in the source are a column of the index, behind the row set's.
  bool has_positions = false;

  int64_t count() const {
    int64_t rows = 0;
    for (const TabletSlice& slice : slices) rows += slice.rows;
    return rows;
  }
};

// Rows [begin, end) of the source, but for what rounding down to whole words of 64 rows of a tablet moves: ranges next
// to one another give every row to one of them.
inline std::vector<TabletSlice> slices_of(const TabletSource& source, int64_t begin, int64_t end) {
  std::vector<TabletSlice> slices;
  int64_t before = 0;
  for (size_t tablet = 0; tablet < source.tablet_count() && before < end; ++tablet) {
    const int64_t rows = source.rows_in(tablet);
    const auto in_tablet = [&](int64_t row) {
      return row - before >= rows ? rows : std::max<int64_t>(0, row - before) / 64 * 64;
    };
    const int64_t first = in_tablet(begin), last = in_tablet(end);
    if (first < last) slices.push_back({tablet, first, last - first, before + first});
    before += rows;
  }
  return slices;
}

}  // namespace diptych::cpu
