#include "tablet/statistics/sorted_sample.h"

#include <algorithm>

namespace diptych {
namespace {

// The rows that are not NULL, by value.
std::vector<size_t> rows_in_order(const SampledColumn& column) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < column.is_null.size(); ++row)
    if (column.is_null[row] == 0) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return column.compare(a, b) < 0; });
  return rows;
}

template <typename T, typename From>
std::vector<T> picked(const std::vector<From>& values, const std::vector<size_t>& rows) {
  std::vector<T> result;
  if (values.empty()) return result;
  for (const size_t row : rows) result.push_back(T(values[row]));
  return result;
}

template <typename T>
SortedSample::Place place_of(const std::vector<T>& values, T value) {
  const auto [first, last] = std::equal_range(values.begin(), values.end(), value);
  return {static_cast<double>(first - values.begin()), static_cast<double>(last - first)};
}

}  // namespace

SortedSample::SortedSample(const SampledColumn& column, std::span<const uint8_t> clusters)
    : rows_(static_cast<double>(column.is_null.size())),
      nulls_(static_cast<double>(std::count(column.is_null.begin(), column.is_null.end(), 1))) {
  const std::vector<size_t> rows = rows_in_order(column);
  numbers_ = picked<double>(column.numbers, rows);
  texts_ = picked<std::string_view>(column.texts, rows);
  if (!clusters.empty()) clusters_ = picked<uint8_t>(std::vector<uint8_t>(clusters.begin(), clusters.end()), rows);
  for (size_t first = 0, end = 0; first < rows.size(); first = end) {
    for (end = first + 1; end < rows.size() && column.compare(rows[first], rows[end]) == 0;) ++end;
    counts_.push_back(are_of_one_cluster(static_cast<double>(first), static_cast<double>(end))
                          ? 1
                          : static_cast<double>(end - first));
  }
  std::sort(counts_.begin(), counts_.end(), std::greater<>());
  different_ = static_cast<double>(counts_.size());
}

bool SortedSample::are_of_one_cluster(double first, double end) const {
  if (clusters_.empty()) return false;
  ClustersSeen seen;
  for (auto row = static_cast<size_t>(first); row < static_cast<size_t>(end); ++row) seen.add(clusters_[row]);
  return seen.is_one_at_most();
}

SortedSample::Place SortedSample::find(const SampledValue& value) const {
  if (const double* number = std::get_if<double>(&value)) return place_of(numbers_, *number);
  return place_of(texts_, std::get<std::string_view>(value).substr(0, SampledColumn::most_text_bytes));
}

SortedSample::Frequent SortedSample::more_frequent_than(double least) const {
  Frequent frequent;
  for (const double count : counts_) {
    if (count <= least) break;
    frequent.values += 1;
    frequent.rows += count;
  }
  return frequent;
}

}  // namespace diptych
