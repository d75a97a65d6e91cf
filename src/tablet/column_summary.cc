#include "tablet/column_summary.h"

#include <algorithm>
#include <cmath>

namespace diptych {
namespace {

void widen(ZoneMap& zone, const ZoneMap& other) {
  if (!other.has_bounds) return;
  if (!zone.has_bounds) {
    zone = other;
    return;
  }
  zone.low = std::min(zone.low, other.low);
  zone.high = std::max(zone.high, other.high);
  zone.low_float = std::min(zone.low_float, other.low_float);
  zone.high_float = std::max(zone.high_float, other.high_float);
}

void tighten(ZoneMap& zone, const ZoneMap& other) {
  if (!other.has_bounds) return;
  if (!zone.has_bounds) {
    zone = other;
    return;
  }
  zone.low = std::max(zone.low, other.low);
  zone.high = std::min(zone.high, other.high);
  zone.low_float = std::max(zone.low_float, other.low_float);
  zone.high_float = std::min(zone.high_float, other.high_float);
}

}  // namespace

void ColumnSummary::add(const ZoneMap& zone, int64_t rows, int64_t encoded_bytes) {
  bytes += encoded_bytes;
  if (zone.null_count != 0) has_nulls = true;
  // Bounds are missing for good reason only when every row is NULL; NaN, the greatest value, compares as none.
  const bool holds_nan = std::isnan(zone.low_float) || std::isnan(zone.high_float);
  if (holds_nan || (!zone.has_bounds && zone.null_count != rows)) is_bounded = false;
  if (holds_nan) return;
  widen(widest, zone);
  tighten(tightest, zone);
}

void ColumnSummary::add(const ColumnSummary& other) {
  has_nulls |= other.has_nulls;
  is_bounded &= other.is_bounded;
  bytes += other.bytes;
  widen(widest, other.widest);
  tighten(tightest, other.tightest);
}

}  // namespace diptych
