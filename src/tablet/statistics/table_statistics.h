// What is known of a table's values besides zone maps and dictionaries: for estimates alone, nothing is proven by it.
//
//   of every tablet, as it is encoded --> sketches, one a column (distinct_sketch.h) --> how many different values
//                                     '-> a sample of rows (row_sample.h)            --> frequencies, ranges
//
// Immutable; versions of a table share it as long as new rows change neither. Thread safety: by many threads at once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tablet/statistics/distinct_sketch.h"
#include "tablet/statistics/sorted_sample.h"

namespace diptych {

class TableStatistics {
 public:
  // Of the same columns, at least one.
  TableStatistics(std::vector<DistinctSketch> sketches, RowSample sample);

  size_t column_count() const { return sketches_.size(); }
  const std::vector<DistinctSketch>& sketches() const { return sketches_; }
  const RowSample& sample() const { return sample_; }

  // How many different values are not NULL, at least 1; not of strings that are codes of a dictionary. Counted when it
  // is first asked for, and so is the next.
  double different(size_t column) const;
  const SortedSample& sorted(size_t column) const;

 private:
  struct Column {
    std::once_flag is_counted, is_sorted;
    double different = 1;
    std::optional<SortedSample> sorted;
  };

  std::vector<DistinctSketch> sketches_;
  RowSample sample_;
  std::unique_ptr<Column[]> columns_;
};

}  // namespace diptych
