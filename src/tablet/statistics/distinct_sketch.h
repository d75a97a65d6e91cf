// How many different values a column has, at a few hundred picoseconds a row: loading may not wait for it.
//
//   rows     every 32nd row, and the first 16,384  --> HyperLogLog "of rows"     sees all that are not rare
//   values   every row whose value hashes to       --> HyperLogLog "of values"   has a 64th of the different values,
//            a 64th of all numbers                                               however often each is there
//
// A sample of rows alone tells little of how many values it has not seen (Charikar and others, Towards estimation error
// guarantees for distinct values, PODC 2000); a sample of values is as good for rare ones (Gibbons, Distinct sampling
// for highly-accurate answers to distinct values queries, VLDB 2001), but says little of few.
#pragma once

#include <span>
#include <vector>

#include "tablet/column_view.h"
#include "tablet/statistics/hyper_log_log.h"

namespace diptych {

class DistinctSketch {
 public:
  DistinctSketch() = default;
  DistinctSketch(const HyperLogLog& of_rows, const HyperLogLog& of_values) : of_rows_(of_rows), of_values_(of_values) {}

  // One value has one hash, however its tablet stores it. NULLs may be taken for one value more. Codes of a dictionary
  // are left out: it knows how many strings it has. Of long strings the beginning, the end and the length count.
  // sampled: rows of the view, as sampled_rows() gives them.
  void add(const ColumnView& view, int64_t rows, std::span<const int32_t> sampled);
  void merge(const DistinctSketch& other);
  // At least 1.
  double estimate() const;

  const HyperLogLog& of_rows() const { return of_rows_; }
  const HyperLogLog& of_values() const { return of_values_; }
  bool operator==(const DistinctSketch&) const = default;

 private:
  HyperLogLog of_rows_, of_values_;
};

// Of rows that so many of the table are before: one of each 32, not always the same one, and all at the beginning.
std::vector<int32_t> sampled_rows(int64_t first_position, int64_t rows);

}  // namespace diptych
