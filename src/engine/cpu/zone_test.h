// Whether a tablet can hold a row that fulfils a condition, by the least and greatest value of the column.
#pragma once

#include <vector>

#include "program/program.h"

namespace diptych::cpu {

// False only when (column comparison bound) is true for no row of the tablet.
bool may_hold(const ZoneCondition& condition, const ZoneMap& zone);
// Whether the tablet of the source can hold a row that fulfils all conditions of the cursor.
bool is_needed(const CursorInfo& cursor, const TabletSource& source, size_t tablet);

// Neighbouring needed tablets of one group of a source.
struct TabletSpan {
  size_t group = 0;
  size_t first = 0, count = 0;
  int64_t first_row = 0, rows = 0;  // rows of the source before them, and theirs
  bool is_whole = false;            // all of the group
};

// The tablets for which is_needed() is true, but for some of those that hold no value at all, in order. Groups that
// are needed or not as a whole are not looked into.
std::vector<TabletSpan> needed_tablets(const CursorInfo& cursor, const TabletSource& source);
// The same for each tablet of the source.
std::vector<bool> needed_by_tablet(const CursorInfo& cursor, const TabletSource& source);
// Whether the zone maps rule no tablet out.
bool needs_all(const CursorInfo& cursor, const TabletSource& source);
// Encoded bytes of a column in the tablets of a span.
int64_t encoded_bytes(const TabletSource& source, const TabletSpan& span, size_t column);

}  // namespace diptych::cpu
