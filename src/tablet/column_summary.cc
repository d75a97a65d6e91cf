#include "tablet/column_summary.h"

#include <algorithm>
#include <cmath>

namespace diptych {
namespace {

// Bounds of both: the lower or the higher of each, as the functions choose.
template <typename Low, typename High>
void join(ZoneMap& zone, const ZoneMap& other, Low of_lows, High of_highs) {
  if (!other.has_bounds) return;
  if (!zone.has_bounds) {
    zone = other;
    return;
  }
  zone.low = of_lows(zone.low, other.low);
  zone.high = of_highs(zone.high, other.high);
  zone.low_float = of_lows(zone.low_float, other.low_float);
  zone.high_float = of_highs(zone.high_float, other.high_float);
}

constexpr auto lesser = [](auto a, auto b) { return std::min(a, b); };
constexpr auto greater = [](auto a, auto b) { return std::max(a, b); };

void widen(ZoneMap& zone, const ZoneMap& other) { join(zone, other, lesser, greater); }
void tighten(ZoneMap& zone, const ZoneMap& other) { join(zone, other, greater, lesser); }

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
