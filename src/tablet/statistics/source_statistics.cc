#include "tablet/statistics/source_statistics.h"

namespace diptych {

double SourceStatistics::different(size_t column) const {
  CountedColumn& wanted = columns_[column];
  std::call_once(wanted.is_counted, [&] { wanted.different = count_different(column); });
  return wanted.different;
}

const SortedSample* SourceStatistics::sorted(size_t column) const {
  const SampledColumn* sample = sampled(column);
  if (sample == nullptr) return nullptr;
  CountedColumn& wanted = columns_[column];
  std::call_once(wanted.is_sorted, [&] { wanted.sorted.emplace(*sample, clusters()); });
  return &*wanted.sorted;
}

}  // namespace diptych
