#include "plan/series_source.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace diptych {

namespace {

struct alignas(64) CodeCounts {
  std::array<uint16_t, SeriesSource::tablet_rows> up, down;
  CodeCounts() {
    for (size_t i = 0; i < up.size(); ++i) {
      up[i] = static_cast<uint16_t>(i);
      down[i] = static_cast<uint16_t>(up.size() - 1 - i);
    }
  }
};

const CodeCounts& code_counts() {
  static const CodeCounts counts;
  return counts;
}

int64_t count_rows(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) throw Error(SqlState::invalid_parameter_value, "step size cannot equal zero");
  if (step > 0 ? start > stop : start < stop) return 0;
  const auto distance = static_cast<int128_t>(stop) - start;
  return static_cast<int64_t>(std::min<int128_t>(distance / step, INT64_MAX - 1)) + 1;
}

}  // namespace

SeriesSource::SeriesSource(ColumnDefinition column, int64_t start, int64_t stop, int64_t step)
    : columns_{std::move(column)}, start_(start), step_(step), rows_(count_rows(start, stop, step)) {}

int64_t SeriesSource::rows_in(size_t tablet) const {
  return std::min(tablet_rows, rows_ - static_cast<int64_t>(tablet) * tablet_rows);
}

ZoneMap SeriesSource::zone_map(size_t tablet, size_t) const {
  const int64_t first = static_cast<int64_t>(tablet) * tablet_rows;
  const int64_t a = at(first);
  const int64_t b = at(first + rows_in(tablet) - 1);
  ZoneMap zone;
  zone.has_bounds = true;
  zone.null_count = 0;
  zone.low = std::min(a, b);
  zone.high = std::max(a, b);
  return zone;
}

std::unique_ptr<PinnedTablet> SeriesSource::pin(size_t tablet, std::span<const size_t> wanted) const {
  auto pinned = std::make_unique<PinnedTablet>();
  const int64_t first = static_cast<int64_t>(tablet) * tablet_rows;
  pinned->rows = rows_in(tablet);
  pinned->first_position = first;
  ColumnView view;
  view.physical = columns_.front().type.physical();
  view.width = sizeof(uint16_t);
  // Codes are unsigned and factors positive, so a falling series counts down to the value a full tablet would end with.
  view.base = step_ > 0 ? at(first) : at(first + tablet_rows - 1);
  view.factor = step_ > 0 ? step_ : -step_;
  view.data = reinterpret_cast<const std::byte*>(step_ > 0 ? code_counts().up.data() : code_counts().down.data());
  pinned->views.assign(wanted.size(), view);
  return pinned;
}

}  // namespace diptych
