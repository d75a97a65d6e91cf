// Sketches and samples of tablets: how far estimates are off, and that neither threads nor transactions change them.
#include "tablet/statistics/table_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <set>
#include <string>

#include "tablet/builder.h"
#include "tablet/statistics/memory_statistics.h"
#include "tablet/statistics/statistics_builder.h"

namespace diptych {
namespace {

constexpr int64_t tablet_rows = 65536;

uint64_t any_seed() {
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  return seed;
}

// A tablet of one column.
EncodedTablet tablet_of(const std::vector<int64_t>& values) {
  const std::vector<ColumnDefinition> columns{{"c", {TypeId::BigInt}}};
  TabletBuilder builder(columns, static_cast<int64_t>(values.size()) + 1, {nullptr});
  const BatchColumn column{.physical = PhysicalType::Int64, .values = values.data()};
  builder.append({static_cast<int64_t>(values.size()), {&column, 1}}, 0, static_cast<int64_t>(values.size()));
  return builder.finish();
}

EncodedTablet tablet_of(const std::vector<std::string>& values) {
  const std::vector<ColumnDefinition> columns{{"c", {TypeId::Text}}};
  TabletBuilder builder(columns, static_cast<int64_t>(values.size()) + 1, {nullptr});
  std::vector<uint32_t> offsets{0};
  std::string bytes;
  for (const std::string& value : values) {
    bytes += value;
    offsets.push_back(static_cast<uint32_t>(bytes.size()));
  }
  const BatchColumn column{.physical = PhysicalType::Text, .offsets = offsets.data(), .bytes = bytes.data()};
  builder.append({static_cast<int64_t>(values.size()), {&column, 1}}, 0, static_cast<int64_t>(values.size()));
  return builder.finish();
}

// Of a table of these values, tablet by tablet.
template <typename T>
std::shared_ptr<const TableStatistics> statistics_of(const std::vector<T>& values, int64_t rows = tablet_rows) {
  StatisticsBuilder builder(1, nullptr);
  for (size_t at = 0; at < values.size(); at += static_cast<size_t>(rows)) {
    const size_t end = std::min(values.size(), at + static_cast<size_t>(rows));
    builder.add(tablet_of(std::vector<T>(values.begin() + static_cast<std::ptrdiff_t>(at),
                                         values.begin() + static_cast<std::ptrdiff_t>(end))),
                static_cast<int64_t>(at));
  }
  return builder.finish();
}

TEST(HyperLogLog, IsAFewHundredthsOff) {
  std::mt19937_64 random(any_seed());
  for (const int count : {1, 10, 100, 1000, 3000, 10'000, 1'000'000}) {
    HyperLogLog sketch;
    for (int i = 0; i < count; ++i) sketch.add(random());
    EXPECT_NEAR(sketch.estimate(), count, 0.2 * count) << count;
  }
  EXPECT_EQ(HyperLogLog().estimate(), 0);
}

TEST(HyperLogLog, PartsMergeIntoTheWhole) {
  std::mt19937_64 random(any_seed());
  HyperLogLog whole, even, odd;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t hash = random();
    whole.add(hash);
    (i % 2 == 0 ? even : odd).add(hash);
  }
  odd.merge(even);
  EXPECT_EQ(odd, whole);
  odd.merge(even);
  EXPECT_EQ(odd, whole);
}

TEST(TableStatistics, CountsDifferentIntegers) {
  std::mt19937_64 random(any_seed());
  for (const int64_t different : {1, 3, 100, 256, 1000, 5000, 70'000, 400'000}) {
    for (const int64_t stride : {1, 100, 1 << 20}) {
      std::vector<int64_t> values;
      for (int i = 0; i < 400'000; ++i)
        values.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(different)) * stride - 50);
      const auto seen = static_cast<double>(std::set<int64_t>(values.begin(), values.end()).size());
      EXPECT_NEAR(statistics_of(values)->different(0), seen, 0.5 * seen) << different << " by " << stride;
    }
  }
}

// Of 300,000 rows a tenth has a value of its own, and all others have one of ten.
TEST(TableStatistics, CountsRareValuesBesideFrequentOnes) {
  std::vector<int64_t> values;
  for (int i = 0; i < 300'000; ++i) values.push_back(i % 10 == 0 ? i : i % 10);
  EXPECT_NEAR(statistics_of(values)->different(0), 30'009, 10'000);
}

// In order, so that all rows of a value are neighbours.
TEST(TableStatistics, CountsClusteredValues) {
  std::vector<int64_t> values;
  for (int i = 0; i < 400'000; ++i) values.push_back(i / 4);
  EXPECT_NEAR(statistics_of(values)->different(0), 100'000, 30'000);
}

TEST(TableStatistics, CountsDifferentStrings) {
  std::vector<std::string> values;
  for (int i = 0; i < 200'000; ++i) values.push_back("Customer#" + std::to_string(i % 50'000 * 37) + " of the list");
  EXPECT_NEAR(statistics_of(values)->different(0), 50'000, 20'000);
  for (std::string& value : values) value.insert(9, 100, 'x');
  EXPECT_NEAR(statistics_of(values)->different(0), 50'000, 20'000);
}

TEST(TableStatistics, ASampleOfAFewRowsIsAllOfThem) {
  std::vector<int64_t> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i % 7);
  const auto statistics = statistics_of(values, 64);
  EXPECT_EQ(statistics->sample().rows(), 1000);
  EXPECT_EQ(statistics->sorted(0)->different(), 7);
  const SortedSample::Place place = statistics->sorted(0)->find(3.0);
  EXPECT_EQ(place.equal, 143);
  EXPECT_EQ(place.below, 3 * 143);
}

TEST(TableStatistics, ASampleHasRowsFromEverywhere) {
  std::vector<int64_t> values;
  for (int i = 0; i < 1'000'000; ++i) values.push_back(i);
  const auto statistics = statistics_of(values);
  const RowSample& sample = statistics->sample();
  ASSERT_EQ(sample.rows(), RowSample::most_rows);
  EXPECT_TRUE(std::is_sorted(sample.priorities().begin(), sample.priorities().end()));
  for (int tenth = 1; tenth < 10; ++tenth) {
    const double below = statistics->sorted(0)->find(tenth * 1e5).below;
    EXPECT_NEAR(below / 1024, tenth / 10.0, 0.06);
  }
}

TEST(TableStatistics, FrequentValuesAreCounted) {
  std::vector<std::string> values;
  for (int i = 0; i < 200'000; ++i) values.push_back(i % 4 == 0 ? "often" : "seldom " + std::to_string(i));
  const auto statistics = statistics_of(values);
  const SortedSample& sorted = *statistics->sorted(0);
  EXPECT_NEAR(sorted.find(std::string_view("often")).equal / sorted.rows(), 0.25, 0.06);
  const SortedSample::Frequent frequent = sorted.more_frequent_than(3);
  EXPECT_EQ(frequent.values, 1);
  EXPECT_EQ(frequent.rows, sorted.find(std::string_view("often")).equal);
}

// The same rows at the same places, in whatever tablets and order they come.
TEST(TableStatistics, OrderAndRepetitionChangeNothing) {
  std::mt19937_64 random(any_seed());
  std::vector<int64_t> values;
  for (int i = 0; i < 150'000; ++i) values.push_back(static_cast<int64_t>(random() % 1000));
  const auto expected = statistics_of(values);
  const auto part = [&](size_t first, size_t end) {
    return tablet_of(std::vector<int64_t>(values.begin() + static_cast<std::ptrdiff_t>(first),
                                          values.begin() + static_cast<std::ptrdiff_t>(end)));
  };
  StatisticsBuilder builder(1, nullptr);
  builder.add(part(131'072, 150'000), 131'072);
  builder.add(part(0, 65'536), 0);
  builder.add(part(140'000, 150'000), 140'000);
  builder.add(part(65'536, 131'072), 65'536);
  const auto first = builder.finish();
  EXPECT_EQ(first->sample(), expected->sample());
  EXPECT_EQ(first->sketches()[0].of_values(), expected->sketches()[0].of_values());
  // Rows that are there already leave the statistics themselves.
  StatisticsBuilder again(1, first);
  again.add(part(131'072, 150'000), 131'072);
  EXPECT_EQ(again.finish(), first);
}

TEST(TableStatistics, NullsAreCountedApart) {
  const std::vector<ColumnDefinition> columns{{"c", {TypeId::Integer}}};
  const std::vector<int32_t> values{1, 0, 3, 0, 1};
  const uint8_t validity = 0b10101;
  TabletBuilder tablet(columns, 64, {nullptr});
  const BatchColumn column{.physical = PhysicalType::Int32, .values = values.data(), .validity = &validity};
  tablet.append({5, {&column, 1}}, 0, 5);
  StatisticsBuilder builder(1, nullptr);
  builder.add(tablet.finish(), 0);
  const auto statistics = builder.finish();
  EXPECT_EQ(statistics->sorted(0)->nulls(), 2);
  EXPECT_EQ(statistics->sorted(0)->different(), 2);
  EXPECT_NEAR(statistics->different(0), 2, 0.1);
}

TEST(MemoryStatistics, AreThoseOfATableOfTheSameRows) {
  std::vector<int64_t> values;
  for (int i = 0; i < 300'000; ++i) values.push_back(i % 50'000 * 3);
  std::vector<EncodedTablet> tablets;
  for (size_t at = 0; at < values.size(); at += tablet_rows) {
    const size_t end = std::min(values.size(), at + tablet_rows);
    tablets.push_back(tablet_of(std::vector<int64_t>(values.begin() + static_cast<std::ptrdiff_t>(at),
                                                     values.begin() + static_cast<std::ptrdiff_t>(end))));
  }
  const MemoryStatistics statistics(1, tablets);
  const auto of_table = statistics_of(values);
  EXPECT_EQ(*statistics.sampled(0), of_table->sample().columns()[0]);
  EXPECT_EQ(statistics.different(0), of_table->different(0));
}

TEST(MemoryStatistics, NothingIsKnownOfNoRows) {
  const MemoryStatistics statistics(2, {});
  EXPECT_EQ(statistics.sampled_rows(), 0);
  EXPECT_EQ(statistics.sampled(1), nullptr);
  EXPECT_EQ(statistics.sorted(1), nullptr);
  EXPECT_EQ(statistics.different(1), 1);
}

TEST(TableStatistics, NothingIsKnownOfNoRows) {
  const auto statistics = StatisticsBuilder(2, nullptr).finish();
  EXPECT_EQ(statistics->different(1), 1);
  EXPECT_EQ(statistics->sampled(1), nullptr);
  EXPECT_EQ(statistics->sorted(1), nullptr);
}

}  // namespace
}  // namespace diptych
