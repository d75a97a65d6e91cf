#include "engine/cpu/zone_test.h"

#include <algorithm>
#include <cmath>

namespace diptych::cpu {
namespace {

template <typename T>
bool may_hold(Opcode comparison, T bound, T low, T high) {
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
    return may_hold(condition.comparison, bound, zone.low_float, zone.high_float);
  }
  if (type.id == TypeId::Boolean)
    return may_hold(condition.comparison, int128_t{condition.bound.as_boolean()}, zone.low, zone.high);
  if (type.is_string() || type.id == TypeId::Interval) return true;
  return may_hold(condition.comparison, condition.bound.as_integral(), zone.low, zone.high);
}

bool is_needed(const CursorInfo& cursor, const TabletSource& source, size_t tablet) {
  return std::all_of(cursor.zone_conditions.begin(), cursor.zone_conditions.end(), [&](const ZoneCondition& condition) {
    return may_hold(condition, source.zone_map(tablet, condition.column));
  });
}

}  // namespace diptych::cpu
