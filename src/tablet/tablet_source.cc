#include "tablet/tablet_source.h"

namespace diptych {

ColumnSummary TabletSource::group_summary(size_t number, size_t column) const {
  const TabletGroup all = group(number);
  ColumnSummary result;
  for (size_t tablet = all.first; tablet < all.first + all.count; ++tablet)
    result.add(zone_map(tablet, column), rows_in(tablet), encoded_bytes(tablet, column));
  return result;
}

ColumnSummary TabletSource::summary(size_t column) const {
  ColumnSummary result;
  for (size_t number = 0; number < group_count(); ++number) result.add(group_summary(number, column));
  return result;
}

}  // namespace diptych
