// Words of sort keys compare as the values do.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernel/kernel.h"

namespace diptych {
namespace {

int order_of(dk_u64 a, dk_u64 b) { return a < b ? -1 : a > b ? 1 : 0; }

class SortKey : public ::testing::Test {
 protected:
  SortKey() { std::cout << "seed " << seed_ << "\n"; }
  uint64_t seed_ = std::random_device()();
  std::mt19937_64 random_{seed_};
};

TEST_F(SortKey, Integers) {
  std::vector<dk_i64> values = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX, INT32_MIN, INT32_MAX};
  for (int i = 0; i < 50; ++i) values.push_back(static_cast<dk_i64>(random_()));
  for (const dk_i64 a : values) {
    for (const dk_i64 b : values) {
      EXPECT_EQ(order_of(dk_sort_word_i64(a), dk_sort_word_i64(b)), a < b ? -1 : a > b);
      const auto c = static_cast<dk_i32>(a), d = static_cast<dk_i32>(b);
      EXPECT_EQ(order_of(dk_sort_word_i32(c), dk_sort_word_i32(d)), c < d ? -1 : c > d);
    }
  }
  EXPECT_LT(dk_sort_word_bool(0), dk_sort_word_bool(1));
}

TEST_F(SortKey, FloatsWithOneZeroAndNanLast) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> values = {-infinity, -1e300, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.5, infinity, NAN, -NAN};
  std::uniform_real_distribution<double> between(-10, 10);
  for (int i = 0; i < 50; ++i) values.push_back(between(random_));
  for (const double a : values) {
    for (const double b : values) {
      EXPECT_EQ(order_of(dk_sort_word_f64(a), dk_sort_word_f64(b)), dk_cmp_f64(a, b)) << a << " " << b;
      const auto c = static_cast<float>(a), d = static_cast<float>(b);
      EXPECT_EQ(order_of(dk_sort_word_f32(c), dk_sort_word_f32(d)), dk_cmp_f32(c, d)) << c << " " << d;
    }
  }
}

int order_of_words(dk_u64 a_high, dk_u64 a_low, dk_u64 b_high, dk_u64 b_low) {
  return a_high != b_high ? order_of(a_high, b_high) : order_of(a_low, b_low);
}

TEST_F(SortKey, WideIntegersAndIntervals) {
  std::vector<std::pair<dk_i128, dk_interval>> values;
  for (const dk_i64 high : {INT64_MIN, dk_i64{-1}, dk_i64{0}, INT64_MAX}) {
    for (const dk_u64 low : {dk_u64{0}, dk_u64{1}, ~dk_u64{0}}) values.push_back({{low, high}, {}});
  }
  std::uniform_int_distribution<dk_i32> parts(-40, 40);
  for (auto& [wide, interval] : values) interval = {parts(random_), parts(random_), parts(random_) * DK_USECS_PER_DAY};
  for (const auto& [a, c] : values) {
    for (const auto& [b, d] : values) {
      EXPECT_EQ(order_of_words(dk_sort_high_i128(a), dk_sort_low_i128(a), dk_sort_high_i128(b), dk_sort_low_i128(b)),
                dk_cmp_i128(a, b));
      EXPECT_EQ(order_of_words(dk_sort_high_interval(c), dk_sort_low_interval(c), dk_sort_high_interval(d),
                               dk_sort_low_interval(d)),
                dk_cmp_interval(c, d));
    }
  }
}

TEST_F(SortKey, NullsAndDescending) {
  EXPECT_LT(dk_sort_null(0, 1), dk_sort_null(1, 1));
  EXPECT_GT(dk_sort_null(0, 0), dk_sort_null(1, 0));
  EXPECT_EQ(dk_sort_value(0, 5, 1), dk_sort_value(0, 6, 1));
  EXPECT_GT(dk_sort_value(1, 5, 1), dk_sort_value(1, 6, 1));
  EXPECT_LT(dk_sort_value(1, 5, 0), dk_sort_value(1, 6, 0));
}

TEST_F(SortKey, CodesOfBoundedIntegers) {
  // Values of [-2, 3], NULLs first: ascending 1 to 6, descending the other way round.
  EXPECT_EQ(dk_sort_code(1, -2, 0, -2, 1, 0), 1U);
  EXPECT_EQ(dk_sort_code(1, 3, 0, -2, 1, 0), 6U);
  EXPECT_EQ(dk_sort_code(1, 3, 1, 3, 1, 0), 1U);
  EXPECT_EQ(dk_sort_code(1, -2, 1, 3, 1, 0), 6U);
  EXPECT_EQ(dk_sort_code(0, 77, 1, 3, 1, 0), 0U);
  EXPECT_EQ(dk_sort_code(1, INT64_MAX, 0, INT64_MIN, 0, 0), ~dk_u64{0});
}

}  // namespace
}  // namespace diptych
