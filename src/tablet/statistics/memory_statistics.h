// The statistics of tablets that stay in memory, as those of a table would be: the sample is made at once, a column's
// sketch when its different values are asked for.
#pragma once

#include "tablet/encoded_tablet.h"
#include "tablet/statistics/row_sample.h"
#include "tablet/statistics/source_statistics.h"

namespace diptych {

class MemoryStatistics : public SourceStatistics {
 public:
  // The tablets, all of a source, outlive it.
  MemoryStatistics(size_t columns, std::span<const EncodedTablet> tablets);

  size_t sampled_rows() const override { return sample_.rows(); }
  const SampledColumn* sampled(size_t column) const override { return sample_.column(column); }

 private:
  double count_different(size_t column) const override;

  std::span<const EncodedTablet> tablets_;
  RowSample sample_;
};

}  // namespace diptych
