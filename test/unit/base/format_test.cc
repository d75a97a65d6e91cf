#include "base/format.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

namespace diptych {
namespace {

// What `append` makes of the arguments.
template <typename Append, typename... Args>
std::string made_by(Append append, Args... args) {
  std::string out;
  append(out, args...);
  return out;
}

std::string double_text(double value) { return made_by(append_double, value); }
std::string float_text(float value) { return made_by(append_float, value); }
std::string numeric_text(int128_t value, int scale) { return made_by(append_numeric, value, scale); }
std::string interval_text(int32_t months, int32_t days, int64_t microseconds) {
  return made_by(append_interval, Interval{months, days, microseconds});
}

constexpr int128_t int128_max = static_cast<int128_t>(~uint128_t{0} >> 1);

TEST(Format, Integers) {
  EXPECT_EQ(made_by(append_integer, 0), "0");
  EXPECT_EQ(made_by(append_integer, -7), "-7");
  EXPECT_EQ(made_by(append_integer, 100), "100");
  EXPECT_EQ(made_by(append_integer, std::numeric_limits<int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(made_by(append_integer, std::numeric_limits<int64_t>::min()), "-9223372036854775808");
}

TEST(Format, Int128) {
  EXPECT_EQ(made_by(append_int128, int128_max), "170141183460469231731687303715884105727");
  EXPECT_EQ(made_by(append_int128, -int128_max - 1), "-170141183460469231731687303715884105728");
  // Zeros where the digits are cut into groups of 18.
  int128_t power = 1;
  std::string expected = "1";
  for (int zeros = 0; zeros <= 37; ++zeros, power *= 10, expected += '0')
    EXPECT_EQ(made_by(append_int128, power), expected);
}

TEST(Format, Numeric) {
  EXPECT_EQ(numeric_text(1250, 2), "12.50");
  EXPECT_EQ(numeric_text(-5, 2), "-0.05");
  EXPECT_EQ(numeric_text(0, 3), "0.000");
  EXPECT_EQ(numeric_text(7, 0), "7");
  EXPECT_EQ(numeric_text(100, 2), "1.00");
  EXPECT_EQ(numeric_text(1, 38), "0.00000000000000000000000000000000000001");
  EXPECT_EQ(numeric_text(-int128_max, 38), "-1.70141183460469231731687303715884105727");
}

TEST(Format, DoubleChoosesFormAsPostgres) {
  EXPECT_EQ(double_text(0), "0");
  EXPECT_EQ(double_text(-0.0), "-0");
  EXPECT_EQ(double_text(0.1), "0.1");
  EXPECT_EQ(double_text(100), "100");
  EXPECT_EQ(double_text(-1234.5), "-1234.5");
  EXPECT_EQ(double_text(0.0001), "0.0001");
  EXPECT_EQ(double_text(0.00001), "1e-05");
  EXPECT_EQ(double_text(1.5e-7), "1.5e-07");
  EXPECT_EQ(double_text(999999999999999), "999999999999999");
  EXPECT_EQ(double_text(1e15), "1e+15");
  EXPECT_EQ(double_text(1234567890123456), "1.234567890123456e+15");
  EXPECT_EQ(double_text(123456789012345.67), "123456789012345.67");
  EXPECT_EQ(double_text(1e20), "1e+20");
  EXPECT_EQ(double_text(1e100), "1e+100");
  EXPECT_EQ(double_text(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(double_text(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(double_text(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(double_text(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(double_text(std::numeric_limits<double>::quiet_NaN()), "NaN");
}

// 1e23 lies half way between two doubles and is read as the lower; PostgreSQL does not print it for that.
TEST(Format, DoubleAvoidsMidpoints) {
  EXPECT_EQ(double_text(std::bit_cast<double>(0x44b52d02c7e14af5)), "9.999999999999997e+22");
  EXPECT_EQ(double_text(std::bit_cast<double>(0x44b52d02c7e14af6)), "9.999999999999999e+22");
  EXPECT_EQ(double_text(std::bit_cast<double>(0x44b52d02c7e14af7)), "1.0000000000000001e+23");
}

TEST(Format, Float) {
  EXPECT_EQ(float_text(0.1F), "0.1");
  EXPECT_EQ(float_text(999999), "999999");
  EXPECT_EQ(float_text(1e6F), "1e+06");
  EXPECT_EQ(float_text(1234567), "1.234567e+06");
  EXPECT_EQ(float_text(16777216), "1.6777216e+07");
  EXPECT_EQ(float_text(1e-5F), "1e-05");
  EXPECT_EQ(float_text(3.4028235e38F), "3.4028235e+38");
  EXPECT_EQ(float_text(std::numeric_limits<float>::denorm_min()), "1e-45");
}

TEST(Format, FloatingPointReadsBack) {
  const unsigned seed = 1;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isfinite(value)) {
      const std::string text = double_text(value);
      double back = 0;
      std::from_chars(text.data(), text.data() + text.size(), back);
      ASSERT_EQ(back, value) << text;
    }
    const float single = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(single)) {
      const std::string text = float_text(single);
      float back = 0;
      std::from_chars(text.data(), text.data() + text.size(), back);
      ASSERT_EQ(back, single) << text;
    }
  }
}

TEST(Format, Dates) {
  EXPECT_EQ(made_by(append_date, 0), "2000-01-01");
  EXPECT_EQ(made_by(append_date, -1), "1999-12-31");
  EXPECT_EQ(made_by(append_date, 59), "2000-02-29");
  EXPECT_EQ(made_by(append_date, 60), "2000-03-01");
  EXPECT_EQ(made_by(append_date, 8825), "2024-02-29");
  EXPECT_EQ(made_by(append_date, -730119), "0001-01-01");
  EXPECT_EQ(made_by(append_date, -730120), "0001-12-31 BC");
  EXPECT_EQ(made_by(append_date, -2451545), "4714-11-24 BC");
  EXPECT_EQ(made_by(append_date, 2921940), "10000-01-01");
  EXPECT_EQ(made_by(append_date, 2145031948), "5874897-12-31");
  EXPECT_EQ(made_by(append_date, std::numeric_limits<int32_t>::max()), "infinity");
  EXPECT_EQ(made_by(append_date, std::numeric_limits<int32_t>::min()), "-infinity");
}

TEST(Format, Timestamps) {
  EXPECT_EQ(made_by(append_timestamp, 0), "2000-01-01 00:00:00");
  EXPECT_EQ(made_by(append_timestamp, -1), "1999-12-31 23:59:59.999999");
  EXPECT_EQ(made_by(append_timestamp, 250'000), "2000-01-01 00:00:00.25");
  EXPECT_EQ(made_by(append_timestamp, 10), "2000-01-01 00:00:00.00001");
  EXPECT_EQ(made_by(append_timestamp, -63'082'281'600'000'001), "0001-12-31 23:59:59.999999 BC");
  EXPECT_EQ(made_by(append_timestamp, std::numeric_limits<int64_t>::max()), "infinity");
  EXPECT_EQ(made_by(append_timestamp, std::numeric_limits<int64_t>::min()), "-infinity");
}

TEST(Format, Intervals) {
  const int64_t hour = 3'600'000'000;
  EXPECT_EQ(interval_text(0, 0, 0), "00:00:00");
  EXPECT_EQ(interval_text(14, 0, 0), "1 year 2 mons");
  EXPECT_EQ(interval_text(-13, 1, 0), "-1 years -1 mons +1 day");
  EXPECT_EQ(interval_text(1, -3, 4 * hour + 306'700'000), "1 mon -3 days +04:05:06.7");
  EXPECT_EQ(interval_text(0, 1, -hour), "1 day -01:00:00");
  EXPECT_EQ(interval_text(0, 90, 0), "90 days");
  EXPECT_EQ(interval_text(0, 0, -500'000), "-00:00:00.5");
  EXPECT_EQ(interval_text(0, 0, 123 * hour), "123:00:00");
  EXPECT_EQ(interval_text(0, 0, std::numeric_limits<int64_t>::min()), "-2562047788:00:54.775808");
}

TEST(Format, PaddedCountsCharacters) {
  EXPECT_EQ(made_by(append_padded, "ab", 4U), "ab  ");
  EXPECT_EQ(made_by(append_padded, "äö", 3U), "äö ");
  EXPECT_EQ(made_by(append_padded, "abcde", 3U), "abcde");
}

}  // namespace
}  // namespace diptych
