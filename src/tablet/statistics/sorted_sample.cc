#include "tablet/statistics/sorted_sample.h"

#include <algorithm>

namespace diptych {
namespace {

template <typename T, typename From>
std::vector<T> sorted(const std::vector<From>& values, const std::vector<uint8_t>& is_null) {
  std::vector<T> result;
  for (size_t i = 0; i < values.size(); ++i)
    if (is_null[i] == 0) result.push_back(T(values[i]));
  std::sort(result.begin(), result.end());
  return result;
}

template <typename T>
std::vector<double> run_lengths(const std::vector<T>& values) {
  std::vector<double> counts;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == 0 || values[i] != values[i - 1]) counts.push_back(0);
    ++counts.back();
  }
  std::sort(counts.begin(), counts.end(), std::greater<>());
  return counts;
}

template <typename T>
SortedSample::Place place_of(const std::vector<T>& values, T value) {
  const auto [first, last] = std::equal_range(values.begin(), values.end(), value);
  return {static_cast<double>(first - values.begin()), static_cast<double>(last - first)};
}

}  // namespace

SortedSample::SortedSample(const SampledColumn& column)
    : rows_(static_cast<double>(column.is_null.size())),
      nulls_(static_cast<double>(std::count(column.is_null.begin(), column.is_null.end(), 1))),
      numbers_(sorted<double>(column.numbers, column.is_null)),
      texts_(sorted<std::string_view>(column.texts, column.is_null)) {
  counts_ = texts_.empty() ? run_lengths(numbers_) : run_lengths(texts_);
  different_ = static_cast<double>(counts_.size());
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
