// What the zone maps and sizes of several tablets say together of one column: kept where tablets are kept, so that a
// statement does not ask every tablet.
#pragma once

#include "tablet/column_view.h"

namespace diptych {

struct ColumnSummary {
  bool has_nulls = false;  // some row is NULL, or may be
  bool is_bounded = true;  // every value that is not NULL lies within `widest`
  ZoneMap widest;          // least low and greatest high; null_count means nothing
  ZoneMap tightest;        // greatest low and least high: what it rules in, no tablet rules out
  int64_t bytes = 0;       // encoded

  // One more tablet of so many rows.
  void add(const ZoneMap& zone, int64_t rows, int64_t encoded_bytes);
  // More tablets.
  void add(const ColumnSummary& other);
};

}  // namespace diptych
