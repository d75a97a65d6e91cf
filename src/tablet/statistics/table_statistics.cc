#include "tablet/statistics/table_statistics.h"

#include "base/error.h"

namespace diptych {

TableStatistics::TableStatistics(std::vector<DistinctSketch> sketches, RowSample sample)
    : SourceStatistics(sketches.size()), sketches_(std::move(sketches)), sample_(std::move(sample)) {
  check_invariant(sample_.columns().size() == sketches_.size(), "statistics have a sketch and a sample of each column");
}

}  // namespace diptych
