// How far estimates from rows of a few clusters are off, for columns whose values are spread in different ways.
#include "tablet/statistics/different_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <random>

namespace diptych {
namespace {

constexpr int64_t rows = 3'000'000, cluster_rows = 8192, sampled_of_cluster = 128, cluster_count = 8;

uint64_t any_seed() {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  return seed;
}

struct ClusteredSample {
  SampledColumn column;
  std::vector<uint8_t> clusters;
  std::vector<double> rows_of_clusters;
};

// NaN is NULL.
ClusteredSample sample_of(const std::function<double(int64_t)>& value_at, std::mt19937_64& random) {
  ClusteredSample sample;
  for (int64_t cluster = 0; cluster < cluster_count; ++cluster) {
    const int64_t first = rows / cluster_count * cluster + rows / cluster_count / 2;
    std::vector<int64_t> all(cluster_rows), drawn;
    for (int64_t i = 0; i < cluster_rows; ++i) all[static_cast<size_t>(i)] = first + i;
    std::sample(all.begin(), all.end(), std::back_inserter(drawn), sampled_of_cluster, random);
    for (const int64_t row : drawn) {
      const double value = value_at(row);
      sample.column.is_null.push_back(std::isnan(value));
      sample.column.numbers.push_back(std::isnan(value) ? 0 : value);
      sample.clusters.push_back(static_cast<uint8_t>(cluster));
    }
    sample.rows_of_clusters.push_back(cluster_rows);
  }
  return sample;
}

// The median of several samples: one may have too few rows that are alike, or too many.
double estimate_of(const std::function<double(int64_t)>& value_at, std::mt19937_64& random) {
  std::vector<double> estimates;
  for (int i = 0; i < 9; ++i) {
    const ClusteredSample sample = sample_of(value_at, random);
    estimates.push_back(
        different_values(sample.column, sample.clusters, sample.rows_of_clusters, static_cast<double>(rows)));
  }
  std::sort(estimates.begin(), estimates.end());
  return estimates[estimates.size() / 2];
}

// A number below the end that is always the same for a row.
double drawn(int64_t row, int64_t end) {
  std::minstd_rand random(static_cast<uint32_t>(row * 2654435761));
  random.discard(3);
  return static_cast<double>(random() % static_cast<uint64_t>(end));
}

TEST(DifferentValues, OfAKeyAreItsRows) {
  std::mt19937_64 random(any_seed());
  EXPECT_EQ(estimate_of([](int64_t row) { return static_cast<double>(row); }, random), rows);
}

TEST(DifferentValues, OfFewAreAllFound) {
  std::mt19937_64 random(any_seed());
  EXPECT_EQ(estimate_of([](int64_t) { return 5; }, random), 1);
  EXPECT_EQ(estimate_of([](int64_t row) { return drawn(row, 7); }, random), 7);
  EXPECT_NEAR(estimate_of([](int64_t row) { return drawn(row, 200); }, random), 200, 30);
}

TEST(DifferentValues, OfRowsInNoOrder) {
  std::mt19937_64 random(any_seed());
  for (const int64_t different : {1000, 10'000, 50'000}) {
    const double found = estimate_of([&](int64_t row) { return drawn(row, different); }, random);
    EXPECT_GT(found, static_cast<double>(different) / 3);
    EXPECT_LT(found, static_cast<double>(different) * 3);
  }
}

// Four rows of each value in a row, as lines of an order.
TEST(DifferentValues, OfRowsInTheirOrder) {
  std::mt19937_64 random(any_seed());
  const double found = estimate_of([](int64_t row) { return static_cast<double>(row / 4); }, random);
  EXPECT_GT(found, rows / 4.0 / 3);
  EXPECT_LE(found, rows);
  const double of_days = estimate_of([](int64_t row) { return static_cast<double>(row / 2000); }, random);
  EXPECT_GT(of_days, 1500 / 3.0);
  EXPECT_LT(of_days, 1500 * 3.0);
}

// Four rows of each value in a row, and the same value again elsewhere.
TEST(DifferentValues, OfRowsInGroupsThatComeAgain) {
  std::mt19937_64 random(any_seed());
  const double found = estimate_of([](int64_t row) { return drawn(row / 4, 20'000); }, random);
  EXPECT_GT(found, 20'000 / 3.0);
  EXPECT_LT(found, 20'000 * 3.0);
}

// Half of the rows have a value of their own.
TEST(DifferentValues, OfRareOnesBesideFrequentOnes) {
  std::mt19937_64 random(any_seed());
  const double found = estimate_of(
      [](int64_t row) { return drawn(row, 2) == 0 ? -1 - drawn(row, 5) : static_cast<double>(row); }, random);
  EXPECT_GT(found, rows / 6.0);
}

TEST(DifferentValues, DoNotCountNulls) {
  std::mt19937_64 random(any_seed());
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(estimate_of([&](int64_t) { return nothing; }, random), 0);
  EXPECT_EQ(estimate_of([&](int64_t row) { return row % 3 == 0 ? 1 : nothing; }, random), 1);
}

TEST(DifferentValues, OfAllRowsAreCounted) {
  SampledColumn column;
  std::vector<uint8_t> clusters;
  for (int i = 0; i < 100; ++i) {
    column.is_null.push_back(i % 10 == 0);
    column.texts.push_back(i % 10 == 0 ? "" : "w" + std::to_string(i % 40));
    clusters.push_back(static_cast<uint8_t>(i / 50));
  }
  const std::vector<double> rows_of_clusters{50, 50};
  EXPECT_EQ(different_values(column, clusters, rows_of_clusters, 100), 36);
}

}  // namespace
}  // namespace diptych
