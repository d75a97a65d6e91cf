// Whether a tablet can hold a row that fulfils a condition, by the least and greatest value of the column.
#pragma once

#include <functional>
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

// What is known of the indexes that rows meet: only those that every one of them has a row for are needed.
struct KeyConditions {
  struct Column {
    size_t column;  // of the cursor
    // Whether the index has a key from low to high, as far as is known.
    std::function<bool(int128_t low, int128_t high)> has_key;
  };
  std::vector<Column> columns;
  bool met_by_none = false;
};

// The tablets for which is_needed() is true and that may hold a row that fulfils the conditions of keys, but for some
// of those that hold no value at all, in order. Groups that are needed or not as a whole are not looked into.
std::vector<TabletSpan> needed_tablets(const CursorInfo& cursor, const TabletSource& source,
                                       const KeyConditions& keys = {});
// Whether the zone maps rule no tablet out.
bool needs_all(const CursorInfo& cursor, const TabletSource& source);
// Encoded bytes of a column in the tablets of a span.
int64_t encoded_bytes(const TabletSource& source, const TabletSpan& span, size_t column);

// What needed_tablets() finds, found once for a section: whoever decides where it runs asks, and whoever runs it.
// Thread safety: many threads may ask at once.
class NeededTablets {
 public:
  // Cursor and source live longer.
  NeededTablets(const CursorInfo& cursor, const TabletSource& source, KeyConditions keys = {})
      : cursor_(cursor), source_(source), keys_(std::move(keys)) {}

  const std::vector<TabletSpan>& spans() const;
  // Whether each tablet of the source is needed.
  std::vector<bool> by_tablet() const;

 private:
  const CursorInfo& cursor_;
  const TabletSource& source_;
  const KeyConditions keys_;
  mutable std::once_flag found_;
  mutable std::vector<TabletSpan> spans_;
};

}  // namespace diptych
