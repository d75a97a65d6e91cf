#include "tablet/statistics/memory_statistics.h"

#include "tablet/statistics/distinct_sketch.h"

namespace diptych {

MemoryStatistics::MemoryStatistics(size_t columns, std::span<const EncodedTablet> tablets)
    : SourceStatistics(columns), tablets_(tablets), sample_(columns) {
  int64_t position = 0;
  for (const EncodedTablet& tablet : tablets_) {
    sample_.append(RowSample::of(tablet, position));
    if (sample_.rows() > 4 * RowSample::most_rows) sample_.settle();
    position += tablet.rows;
  }
  sample_.settle();
}

double MemoryStatistics::count_different(size_t column) const {
  DistinctSketch sketch;
  int64_t position = 0;
  for (const EncodedTablet& tablet : tablets_) {
    sketch.add(tablet.columns[column].view(), tablet.rows, diptych::sampled_rows(position, tablet.rows));
    position += tablet.rows;
  }
  return sketch.estimate();
}

}  // namespace diptych
