// The statistics of a table, as its file keeps them: of every tablet, while it is encoded.
//
//   tablet --> sketches, one a column (distinct_sketch.h)
//         '-> a sample of rows (row_sample.h)
//
// Immutable; versions of a table share it as long as new rows change neither.
#pragma once

#include <vector>

#include "tablet/statistics/distinct_sketch.h"
#include "tablet/statistics/source_statistics.h"

namespace diptych {

class TableStatistics : public SourceStatistics {
 public:
  // Of the same columns, at least one.
  TableStatistics(std::vector<DistinctSketch> sketches, RowSample sample);

  const std::vector<DistinctSketch>& sketches() const { return sketches_; }
  const RowSample& sample() const { return sample_; }

  size_t sampled_rows() const override { return sample_.rows(); }
  const SampledColumn* sampled(size_t column) const override { return sample_.column(column); }

 private:
  double count_different(size_t column) const override { return sketches_[column].estimate(); }

  std::vector<DistinctSketch> sketches_;
  RowSample sample_;
};

}  // namespace diptych
