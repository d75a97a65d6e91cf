// A few rows of a table, every one equally likely to be among them.
//
// A row's priority is a hash of its position; the sample is the rows of the least priorities (bottom-k: Cohen and
// Kaplan, Summarizing data using bottom-k sketches, PODC 2007). So the same rows in the same order have the same
// sample, however many threads and transactions brought them, and a row that is offered again changes nothing. From
// position `all_rows_end` on only one row in `run_rows` is drawn a priority, which is the least of all of theirs:
// hashing every position would cost as much as a column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tablet/encoded_tablet.h"
#include "tablet/row_batch.h"

namespace diptych {

// A column's values by row, those of NULLs 0 or empty: numbers, of what is no string (row_sample.cc tells how), or
// texts, which are cut.
struct SampledColumn {
  static constexpr size_t most_text_bytes = 64;

  std::vector<uint8_t> is_null;
  std::vector<double> numbers;
  std::vector<std::string> texts;

  void reserve(PhysicalType physical, size_t rows);
  void append(const SampledColumn& other, size_t first, size_t count);
  void append(const ColumnView& view, int64_t row);
  void append(const BatchColumn& batch, int64_t row);
  // Of two rows that are not NULL: below 0 if the first one's value is less, 0 if they are equal.
  int compare(size_t a, size_t b) const;
  bool operator==(const SampledColumn&) const = default;
};

// A value that is not NULL as the number that orders it: integers, dates and timestamps themselves, numerics unscaled,
// intervals in microseconds, NaN as the greatest. Exact up to 2^53.
double sampled_number(int128_t value);
double sampled_number(double value);
double sampled_number(const Interval& value);

class RowSample {
 public:
  static constexpr size_t most_rows = 1024;

  RowSample() = default;
  explicit RowSample(size_t columns) : columns_(columns) {}
  // Ascending priorities, and columns of as many rows.
  RowSample(std::vector<uint64_t> priorities, std::vector<SampledColumn> columns)
      : priorities_(std::move(priorities)), columns_(std::move(columns)) {}

  size_t rows() const { return priorities_.size(); }
  const std::vector<uint64_t>& priorities() const { return priorities_; }
  const std::vector<SampledColumn>& columns() const { return columns_; }
  // null: there are no rows.
  const SampledColumn* column(size_t number) const { return rows() == 0 ? nullptr : &columns_[number]; }

  // The rows of least priorities of a tablet that a sample of all rows up to it may have.
  static RowSample of(const EncodedTablet& tablet, int64_t first_position);
  // Puts the other's rows behind its own, in no order.
  void append(const RowSample& other) { append(other, 0, other.rows()); }
  // Whether none of the other's rows would be among its own, or all that would be are.
  bool would_stay_with(const RowSample& other) const;
  // Puts the rows in order and keeps those of least priority, each once.
  void settle() { *this = least_of({this}); }
  // The rows of least priority of all of them, which have the same columns, in order and each once.
  static RowSample least_of(const std::vector<const RowSample*>& samples);
  bool operator==(const RowSample&) const = default;

 private:
  void append(const RowSample& other, size_t first, size_t count);

  std::vector<uint64_t> priorities_;
  std::vector<SampledColumn> columns_;
};

}  // namespace diptych
