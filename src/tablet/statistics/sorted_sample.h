// The sampled values of a column in order: how many rows have a value, and how many a lesser one.
//
//   values 1 1 1 1 4 5 7 7      find(4): 4 below, 1 equal      find(6): 6 below, none equal
#pragma once

#include <string_view>
#include <variant>

#include "tablet/statistics/row_sample.h"

namespace diptych {

// As SampledColumn has it.
using SampledValue = std::variant<double, std::string_view>;

class SortedSample {
 public:
  struct Place {
    double below = 0, equal = 0;  // rows
  };

  // The column outlives it.
  explicit SortedSample(const SampledColumn& column);

  double rows() const { return rows_; }    // sampled, those of NULLs included
  double nulls() const { return nulls_; }  // of them
  double different() const { return different_; }
  // Strings longer than a sampled text are taken to be equal to all that begin as they do.
  Place find(const SampledValue& value) const;
  // Of the values that more than `least` rows have: how many they are, and the rows that have one of them.
  struct Frequent {
    double values = 0, rows = 0;
  };
  Frequent more_frequent_than(double least) const;

 private:
  double rows_ = 0, nulls_ = 0, different_ = 0;
  std::vector<double> numbers_;
  std::vector<std::string_view> texts_;
  std::vector<double> counts_;  // rows of each different value, the greatest counts first
};

}  // namespace diptych
