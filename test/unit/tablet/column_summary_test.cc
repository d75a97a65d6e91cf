#include "tablet/column_summary.h"

#include <gtest/gtest.h>

#include <limits>

namespace diptych {
namespace {

ZoneMap bounds(int low, int high, int64_t nulls = 0) {
  ZoneMap zone;
  zone.has_bounds = true;
  zone.null_count = nulls;
  zone.low = low;
  zone.high = high;
  return zone;
}

TEST(ColumnSummary, JoinsBounds) {
  ColumnSummary summary;
  summary.add(bounds(5, 9), 10, 100);
  summary.add(bounds(-3, 7), 10, 50);
  EXPECT_EQ(summary.widest.low, -3);
  EXPECT_EQ(summary.widest.high, 9);
  EXPECT_EQ(summary.tightest.low, 5);
  EXPECT_EQ(summary.tightest.high, 7);
  EXPECT_TRUE(summary.is_bounded);
  EXPECT_FALSE(summary.has_nulls);
  EXPECT_EQ(summary.bytes, 150);
}

TEST(ColumnSummary, TabletsWithoutBounds) {
  ColumnSummary summary;
  EXPECT_TRUE(summary.is_bounded);
  EXPECT_FALSE(summary.widest.has_bounds);
  ZoneMap only_nulls;
  only_nulls.null_count = 10;
  summary.add(only_nulls, 10, 1);
  EXPECT_TRUE(summary.is_bounded) << "there is no value that could be out of bounds";
  EXPECT_TRUE(summary.has_nulls);
  summary.add(bounds(1, 2), 10, 1);
  EXPECT_EQ(summary.widest.low, 1);
  summary.add(ZoneMap{}, 10, 1);
  EXPECT_FALSE(summary.is_bounded);
}

TEST(ColumnSummary, NanIsNoBound) {
  ZoneMap zone;
  zone.has_bounds = true;
  zone.null_count = 0;
  zone.low_float = 1;
  zone.high_float = std::numeric_limits<double>::quiet_NaN();
  ColumnSummary summary;
  summary.add(zone, 10, 1);
  EXPECT_FALSE(summary.is_bounded);
  EXPECT_FALSE(summary.widest.has_bounds);
}

TEST(ColumnSummary, JoinsSummaries) {
  ColumnSummary one, other, all;
  one.add(bounds(5, 9), 10, 100);
  other.add(bounds(-3, 7, 1), 10, 50);
  all.add(one);
  all.add(other);
  EXPECT_EQ(all.widest.low, -3);
  EXPECT_EQ(all.widest.high, 9);
  EXPECT_EQ(all.tightest.low, 5);
  EXPECT_EQ(all.tightest.high, 7);
  EXPECT_TRUE(all.has_nulls);
  EXPECT_EQ(all.bytes, 150);
  other.is_bounded = false;
  all.add(other);
  EXPECT_FALSE(all.is_bounded);
}

}  // namespace
}  // namespace diptych
