// The sampled values of a column in order: how many rows have a value, and how many a lesser one.
//
//   values 1 1 1 1 4 5 7 7      find(4): 4 below, 1 equal      find(6): 6 below, none equal
//
// Where rows were taken from clusters (SourceStatistics::clusters()), those of one may be alike since they are
// neighbours: only a value of several clusters is known to be frequent.
#pragma once

#include <bit>
#include <span>
#include <string_view>
#include <variant>

#include "tablet/statistics/row_sample.h"

namespace diptych {

// As SampledColumn has it.
using SampledValue = std::variant<double, std::string_view>;

// Whether some sampled rows are of one cluster at most: the clusters of those rows are added.
class ClustersSeen {
 public:
  static constexpr size_t most_clusters = 64;

  void add(uint8_t cluster) { clusters_ |= uint64_t{1} << cluster; }
  bool is_one_at_most() const { return std::popcount(clusters_) <= 1; }

 private:
  uint64_t clusters_ = 0;
};

class SortedSample {
 public:
  struct Place {
    double below = 0, equal = 0;  // rows
  };

  // The column outlives it. clusters: as of SourceStatistics.
  explicit SortedSample(const SampledColumn& column, std::span<const uint8_t> clusters = {});

  double rows() const { return rows_; }    // sampled, those of NULLs included
  double nulls() const { return nulls_; }  // of them
  double different() const { return different_; }
  // Strings longer than a sampled text are taken to be equal to all that begin as they do.
  Place find(const SampledValue& value) const;
  // Whether the rows [first, end) of those in order are of one cluster, or there are none, where there are clusters.
  bool are_of_one_cluster(double first, double end) const;
  // Of the values that more than `least` rows have: how many they are, and the rows that have one of them.
  struct Frequent {
    double values = 0, rows = 0;
  };
  Frequent more_frequent_than(double least) const;

 private:
  double rows_ = 0, nulls_ = 0, different_ = 0;
  std::vector<double> numbers_;
  std::vector<std::string_view> texts_;
  std::vector<double> counts_;     // rows of each different value, the greatest counts first; one, if of one cluster
  std::vector<uint8_t> clusters_;  // of each row in order; empty: there are no clusters
};

}  // namespace diptych
