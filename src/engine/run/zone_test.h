// Whether a tablet can hold a row that fulfils a condition, by the least and greatest value of the column.
#pragma once

#include <mutex>
#include <vector>

#include "program/program.h"

namespace diptych {

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
// Whether the zone maps rule no tablet out.
bool needs_all(const CursorInfo& cursor, const TabletSource& source);
// Encoded bytes of a column in the tablets of a span.
int64_t encoded_bytes(const TabletSource& source, const TabletSpan& span, size_t column);

// What needed_tablets() finds, found once for a section: whoever decides where it runs asks, and whoever runs it.
// Thread safety: many threads may ask at once.
class NeededTablets {
 public:
  // Both live longer.
  NeededTablets(const CursorInfo& cursor, const TabletSource& source) : cursor_(cursor), source_(source) {}

  const std::vector<TabletSpan>& spans() const;
  // Whether each tablet of the source is needed.
  std::vector<bool> by_tablet() const;

 private:
  const CursorInfo& cursor_;
  const TabletSource& source_;
  mutable std::once_flag found_;
  mutable std::vector<TabletSpan> spans_;
};

}  // namespace diptych
