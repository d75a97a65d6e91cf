// The statistics of a Parquet file: from its meta data, and from a few rows of it, for which few pages are decoded. A
// column is read when it is first asked for.
//
//   row groups  |------------|------------|------------|------------|
//   clusters          ****         ****         ****         ****         8,192 rows each, of which 128 are drawn
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "io/parquet/parquet_file.h"
#include "tablet/statistics/source_statistics.h"

namespace diptych {

// Rows of a row group next to each other, and those of them that are drawn, in ascending order.
struct SampleCluster {
  size_t row_group = 0;
  int64_t first = 0, rows = 0;
  std::vector<int64_t> drawn;
};

// Spread evenly over all rows; all of them, where they are few. The same for the same row groups.
std::vector<SampleCluster> sample_clusters(std::span<const int64_t> row_group_rows);

class ParquetSample : public SourceStatistics {
 public:
  // The file outlives it.
  explicit ParquetSample(const ParquetReader& file);

  size_t sampled_rows() const override { return clusters_.size(); }
  std::span<const uint8_t> clusters() const override { return clusters_; }
  const SampledColumn* sampled(size_t column) const override;

 private:
  struct DrawnRows {
    size_t row_group;
    std::vector<int64_t> rows;
  };
  struct ReadColumn {
    std::once_flag is_read;
    std::optional<SampledColumn> sample;  // nothing: it takes too many bytes, or can't be read
  };

  double count_different(size_t column) const override;
  SampledColumn read(size_t column) const;

  const ParquetReader& file_;
  std::vector<DrawnRows> drawn_;   // of each row group that has some, in order
  std::vector<uint8_t> clusters_;  // of each drawn row
  std::vector<double> rows_of_clusters_;
  std::unique_ptr<ReadColumn[]> columns_;
};

}  // namespace diptych
