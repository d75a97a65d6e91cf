// What is known of a source's values besides zone maps and dictionaries: for estimates alone, nothing is proven by it.
//
//   TableStatistics   of a table: made with its tablets, kept in the file  --> sketches --> how many different values
//   MemoryStatistics  of tablets in memory, when they are asked for        -'-> sample  --> frequencies, ranges
//   ParquetSample     of a file of which few rows are read (src/io)        ---> sample  --> all of them
//
// A sample has a few rows of the source, the same ones in every column. Thread safety: by many threads at once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tablet/statistics/sorted_sample.h"

namespace diptych {

class SourceStatistics {
 public:
  explicit SourceStatistics(size_t columns)
      : column_count_(columns), columns_(std::make_unique<CountedColumn[]>(columns)) {}
  virtual ~SourceStatistics() = default;

  size_t column_count() const { return column_count_; }
  // In the sample.
  virtual size_t sampled_rows() const = 0;
  // Of each sampled row its cluster, where rows were drawn from a few stretches of the source: neighbours may be alike,
  // so that many rows of one cluster may tell no more than one. Empty: every row could have been sampled as well.
  virtual std::span<const uint8_t> clusters() const { return {}; }
  // A column of the sample, which lives as long as this; null: it is not known, or no row is.
  virtual const SampledColumn* sampled(size_t column) const = 0;
  // The same in order, made when it is first asked for.
  const SortedSample* sorted(size_t column) const;
  // How many different values are not NULL, at least 1, counted when it is first asked for; infinity: not known. Not of
  // strings that are codes of a dictionary.
  double different(size_t column) const;

 private:
  virtual double count_different(size_t column) const = 0;

  struct CountedColumn {
    std::once_flag is_counted, is_sorted;
    double different = 1;
    std::optional<SortedSample> sorted;
  };

  size_t column_count_;
  std::unique_ptr<CountedColumn[]> columns_;
};

}  // namespace diptych
