#include "engine/run/zone_test.h"

#include <algorithm>
#include <cmath>

#include "tablet/claimed_zone_maps.h"

namespace diptych {
namespace {

template <typename T>
bool is_fulfillable(Opcode comparison, T bound, T low, T high) {
  switch (comparison) {
    case Opcode::Eq: return low <= bound && bound <= high;
    case Opcode::Lt: return low < bound;
    case Opcode::Le: return low <= bound;
    case Opcode::Gt: return high > bound;
    case Opcode::Ge: return high >= bound;
    default: return true;
  }
}

}  // namespace

bool may_hold(const ZoneCondition& condition, const ZoneMap& zone) {
  if (condition.bound.is_null()) return false;
  if (!zone.has_bounds) return true;
  const Type& type = condition.bound.type();
  if (type.is_float()) {
    const double bound = condition.bound.as_double();
    // NaN is the greatest value, which comparisons of the machine don't know.
    if (std::isnan(bound) || std::isnan(zone.low_float) || std::isnan(zone.high_float)) return true;
    return is_fulfillable(condition.comparison, bound, zone.low_float, zone.high_float);
  }
  if (type.id == TypeId::Boolean)
    return is_fulfillable(condition.comparison, int128_t{condition.bound.as_boolean()}, zone.low, zone.high);
  if (type.is_string() || type.id == TypeId::Interval) return true;
  return is_fulfillable(condition.comparison, condition.bound.as_integral(), zone.low, zone.high);
}

bool is_needed(const CursorInfo& cursor, const TabletSource& source, size_t tablet) {
  return std::all_of(cursor.zone_conditions.begin(), cursor.zone_conditions.end(), [&](const ZoneCondition& condition) {
    return may_hold(condition, source.zone_map(tablet, condition.column));
  });
}

namespace {

bool may_meet(const KeyConditions::Column& keys, const ZoneMap& zone) {
  return !zone.has_bounds || keys.has_key(zone.low, zone.high);
}

enum class Need : uint8_t { None, Some, All };

Need need_of(const CursorInfo& cursor, const TabletSource& source, const KeyConditions& keys, size_t group) {
  Need need = Need::All;
  for (const ZoneCondition& condition : cursor.zone_conditions) {
    const ColumnSummary summary = source.group_summary(group, condition.column);
    if (condition.bound.is_null() || (summary.is_bounded && !may_hold(condition, summary.widest))) return Need::None;
    if (!may_hold(condition, summary.tightest)) need = Need::Some;
  }
  for (const KeyConditions::Column& key : keys.columns) {
    const ColumnSummary summary = source.group_summary(group, key.column);
    if (summary.is_bounded && !may_meet(key, summary.widest)) return Need::None;
    if (!may_meet(key, summary.tightest)) need = Need::Some;
  }
  return need;
}

bool meets_all(const KeyConditions& keys, const TabletSource& source, size_t tablet) {
  return std::all_of(keys.columns.begin(), keys.columns.end(), [&](const KeyConditions::Column& key) {
    return may_meet(key, source.zone_map(tablet, key.column));
  });
}

void add_needed(const CursorInfo& cursor, const TabletSource& source, const KeyConditions& keys, size_t group,
                std::vector<TabletSpan>& spans) {
  const TabletGroup all = source.group(group);
  const size_t end = all.first + all.count;
  TabletSpan span{group, all.first, 0, all.first_row, 0, false};
  const auto close = [&](size_t next) {
    span.is_whole = span.count == all.count;
    if (span.count > 0) spans.push_back(span);
    span = {group, next, 0, span.first_row + span.rows, 0, false};
  };
  for (size_t tablet = all.first; tablet < end; ++tablet) {
    const int64_t rows = source.rows_in(tablet);
    if (is_needed(cursor, source, tablet) && meets_all(keys, source, tablet)) {
      ++span.count;
      span.rows += rows;
      continue;
    }
    close(tablet + 1);
    span.first_row += rows;
  }
  close(end);
}

}  // namespace

std::vector<TabletSpan> needed_tablets(const CursorInfo& cursor, const TabletSource& source,
                                       const KeyConditions& keys) {
  std::vector<TabletSpan> spans;
  if (keys.met_by_none) return spans;
  for (size_t number = 0; number < source.group_count(); ++number) {
    const TabletGroup group = source.group(number);
    if (group.count == 0) continue;
    const Need need = need_of(cursor, source, keys, number);
    if (need == Need::All) spans.push_back({number, group.first, group.count, group.first_row, group.rows, true});
    if (need == Need::Some) add_needed(cursor, source, keys, number, spans);
  }
  return spans;
}

namespace {

// The zone maps that rule tablets out, where they are only claimed.
void confirm_left_out(const CursorInfo& cursor, const TabletSource& source, const KeyConditions& keys,
                      const ClaimedZoneMaps& claimed) {
  // True for no row, whatever the zone maps say.
  if (std::any_of(cursor.zone_conditions.begin(), cursor.zone_conditions.end(),
                  [](const ZoneCondition& condition) { return condition.bound.is_null(); }))
    return;
  std::vector<TabletColumn> reasons;
  for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
    const size_t others = reasons.size();
    for (const ZoneCondition& condition : cursor.zone_conditions)
      if (reasons.size() == others && !may_hold(condition, source.zone_map(tablet, condition.column)))
        reasons.push_back({tablet, condition.column});
    for (const KeyConditions::Column& key : keys.columns)
      if (reasons.size() == others && !may_meet(key, source.zone_map(tablet, key.column)))
        reasons.push_back({tablet, key.column});
  }
  claimed.confirm(reasons);
}

}  // namespace

const std::vector<TabletSpan>& NeededTablets::spans() const {
  std::call_once(found_, [this] {
    spans_ = needed_tablets(cursor_, source_, keys_);
    const auto* claimed = dynamic_cast<const ClaimedZoneMaps*>(&source_);
    const bool has_conditions = !cursor_.zone_conditions.empty() || !keys_.columns.empty();
    if (claimed != nullptr && has_conditions && !keys_.met_by_none) confirm_left_out(cursor_, source_, keys_, *claimed);
  });
  return spans_;
}

std::vector<bool> NeededTablets::by_tablet() const {
  std::vector<bool> needed(source_.tablet_count());
  for (const TabletSpan& span : spans())
    std::fill_n(needed.begin() + static_cast<ptrdiff_t>(span.first), span.count, true);
  return needed;
}

bool needs_all(const CursorInfo& cursor, const TabletSource& source) {
  return std::all_of(cursor.zone_conditions.begin(), cursor.zone_conditions.end(), [&](const ZoneCondition& condition) {
    return may_hold(condition, source.summary(condition.column).tightest);
  });
}

int64_t encoded_bytes(const TabletSource& source, const TabletSpan& span, size_t column) {
  if (span.is_whole) return source.group_summary(span.group, column).bytes;
  int64_t bytes = 0;
  for (size_t tablet = span.first; tablet < span.first + span.count; ++tablet)
    bytes += source.encoded_bytes(tablet, column);
  return bytes;
}

}  // namespace diptych
