#include "tablet/statistics/table_statistics.h"

#include "base/error.h"

namespace diptych {

TableStatistics::TableStatistics(std::vector<DistinctSketch> sketches, RowSample sample)
    : sketches_(std::move(sketches)),
      sample_(std::move(sample)),
      columns_(std::make_unique<Column[]>(sketches_.size())) {
  check_invariant(sample_.columns().size() == sketches_.size(), "statistics have a sketch and a sample of each column");
}

double TableStatistics::different(size_t column) const {
  Column& wanted = columns_[column];
  std::call_once(wanted.is_counted, [&] { wanted.different = sketches_[column].estimate(); });
  return wanted.different;
}

const SortedSample& TableStatistics::sorted(size_t column) const {
  Column& wanted = columns_[column];
  std::call_once(wanted.is_sorted, [&] { wanted.sorted.emplace(sample_.columns()[column]); });
  return *wanted.sorted;
}

}  // namespace diptych
