#include <gtest/gtest.h>

#include <climits>
#include <cmath>

#include "kernel/kernel_testing.h"

namespace diptych::testing {
namespace {

constexpr int invalid = DK_INVALID_TEXT;
constexpr int no_date = DK_INVALID_DATETIME;

TEST(Parse, Boolean) {
  for (const char* s : {"t", "TRUE", " yes ", "y", "on", "1", "tr"}) {
    EXPECT_EQ(ERROR_OF(dk_cast_text_bool, text(s)), 0) << s;
    EXPECT_TRUE(VALUE_OF(dk_cast_text_bool, text(s))) << s;
  }
  for (const char* s : {"f", "FALSE", "no", "n", "of", "off", "0"}) {
    EXPECT_EQ(ERROR_OF(dk_cast_text_bool, text(s)), 0) << s;
    EXPECT_FALSE(VALUE_OF(dk_cast_text_bool, text(s))) << s;
  }
  for (const char* s : {"", "o", "2", "truee", "10"}) EXPECT_EQ(ERROR_OF(dk_cast_text_bool, text(s)), invalid) << s;
}

TEST(Parse, Integers) {
  EXPECT_EQ(VALUE_OF(dk_cast_text_i32, text(" 12\t")), 12);
  EXPECT_EQ(VALUE_OF(dk_cast_text_i32, text("-2147483648")), INT_MIN);
  EXPECT_EQ(VALUE_OF(dk_cast_text_i64, text("-9223372036854775808")), LONG_MIN);
  EXPECT_EQ(VALUE_OF(dk_cast_text_i64, text("+9223372036854775807")), LONG_MAX);
  EXPECT_EQ(ERROR_OF(dk_cast_text_i64, text("9223372036854775808")), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_text_i32, text("2147483648")), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_text_i16, text("32768")), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_text_i16, text("9999999999999999999999")), out_of_range);
  for (const char* s : {"", " ", "-", "+-1", "1.0", "1e3", "1 2", "x", "0x10"}) {
    EXPECT_EQ(ERROR_OF(dk_cast_text_i64, text(s)), invalid) << s;
  }
}

struct NumericCase {
  const char* text;
  int precision, scale, error;
  const char* value;
};

TEST(Parse, Numeric) {
  const NumericCase cases[] = {
      {" 12 ", 38, 2, 0, "12.00"},
      {"1e3", 38, 0, 0, "1000"},
      {"-1.5e-3", 38, 6, 0, "-0.001500"},
      {".5", 38, 1, 0, "0.5"},
      {"5.", 38, 0, 0, "5"},
      {"1.005", 38, 2, 0, "1.01"},
      {"-1.005", 38, 2, 0, "-1.01"},
      {"0.5", 38, 0, 0, "1"},
      {"0.4999999999999999999999", 38, 0, 0, "0"},
      {"999.995", 5, 2, out_of_range, ""},
      {"999.994", 5, 2, 0, "999.99"},
      {"0.05", 38, 0, 0, "0"},
      {"1e-400", 38, 38, 0, "0.00000000000000000000000000000000000000"},
      {"1e400", 38, 0, out_of_range, ""},
      {"0e400", 38, 0, 0, "0"},
      {"99999999999999999999999999999999999999", 38, 0, 0, "99999999999999999999999999999999999999"},
      {"99999999999999999999999999999999999999.5", 38, 0, out_of_range, ""},
      {"1234567890123456789012345678901234567890", 38, 0, out_of_range, ""},
      {"1e99999999999999", 38, 0, out_of_range, ""},
      {"340282366920938463463374607431768211455", 38, 0, out_of_range, ""},
      {"340282366920938463463374607431768211456", 38, 0, out_of_range, ""},
      {"340282366920938463463374607431768211456e-1", 38, 0, 0, "34028236692093846346337460743176821146"},
      {"1e1073741822", 38, 0, out_of_range, ""},
      {"0e1073741822", 38, 0, 0, "0"},
      {"0e1073741823", 38, 0, out_of_range, ""},
      {"1e-16383", 38, 0, 0, "0"},
      {"1e-16384", 38, 0, out_of_range, ""},
      {"NaN", 38, 0, DK_NO_FIXED_POINT, ""},
      {"-inf", 38, 0, DK_NO_FIXED_POINT, ""},
      {"+INFINITY", 38, 0, DK_NO_FIXED_POINT, ""},
      {"-nan", 38, 0, invalid, ""},
      {"--inf", 38, 0, invalid, ""},
      {"", 38, 0, invalid, ""},
      {".", 38, 0, invalid, ""},
      {"1e", 38, 0, invalid, ""},
      {"1.2.3", 38, 0, invalid, ""},
      {"--1", 38, 0, invalid, ""},
  };
  for (const auto& c : cases) {
    auto got = call(dk_cast_text_n128, text(c.text), c.precision, c.scale);
    EXPECT_EQ(got.error, c.error) << c.text;
    if (c.error == 0) {
      EXPECT_EQ(WRITTEN(cast_n128_text, got.value, c.scale), c.value) << c.text;
    }
  }
}

TEST(Parse, NumericRoundTrips) {
  Random random;
  for (int i = 0; i < 50000; i++) {
    dk_i128 value = i128(random.any_decimal(38));
    int scale = static_cast<int>(random.below(39));
    std::string shown = WRITTEN(cast_n128_text, value, scale);
    auto read = call(dk_cast_text_n128, text(shown), 38, scale);
    EXPECT_EQ(read.error, 0) << shown;
    EXPECT_TRUE(dk_eq_i128(read.value, value)) << shown;
    dk_i64 number = random.any_i64();
    EXPECT_EQ(WRITTEN(cast_i64_text, number), std::to_string(number));
  }
}

TEST(Parse, FloatingPoint) {
  EXPECT_EQ(VALUE_OF(dk_cast_text_f64, text(" 1e3 ")), 1000);
  EXPECT_EQ(VALUE_OF(dk_cast_text_f64, text("+.5")), 0.5);
  EXPECT_EQ(VALUE_OF(dk_cast_text_f64, text("-Infinity")), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(VALUE_OF(dk_cast_text_f64, text("nan"))));
  EXPECT_EQ(ERROR_OF(dk_cast_text_f64, text("1e400")), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_text_f64, text("1e-400")), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_text_f32, text("1e39")), out_of_range);
  EXPECT_EQ(VALUE_OF(dk_cast_text_f64, text("4.9e-324")), std::numeric_limits<double>::denorm_min());
  for (const char* s : {"", "x", "1x", "1e", "--1", "+-1", "- 1"})
    EXPECT_EQ(ERROR_OF(dk_cast_text_f64, text(s)), invalid) << s;
}

TEST(Print, FloatingPoint) {
  EXPECT_EQ(WRITTEN(cast_f64_text, 0.1), "0.1");
  EXPECT_EQ(WRITTEN(cast_f64_text, -0.0), "-0");
  EXPECT_EQ(WRITTEN(cast_f64_text, 1e15), "1e+15");
  EXPECT_EQ(WRITTEN(cast_f64_text, 123456789012345.0), "123456789012345");
  EXPECT_EQ(WRITTEN(cast_f64_text, 0.0001), "0.0001");
  EXPECT_EQ(WRITTEN(cast_f64_text, 0.00001), "1e-05");
  EXPECT_EQ(WRITTEN(cast_f64_text, -1.8604747836617882e+17), "-1.8604747836617882e+17");  // half way: a digit more
  EXPECT_EQ(WRITTEN(cast_f64_text, std::nan("")), "NaN");
  EXPECT_EQ(WRITTEN(cast_f64_text, -HUGE_VAL), "-Infinity");
  EXPECT_EQ(WRITTEN(cast_f32_text, 1e6F), "1e+06");
  EXPECT_EQ(WRITTEN(cast_f32_text, 0.1F), "0.1");
  EXPECT_EQ(WRITTEN(cast_f32_text, 43150449.48F), "4.3150448e+07");
  EXPECT_EQ(decimal(dk_native(VALUE_OF(dk_cast_f64_n128, 0.1 + 0.2, 38, 17))), "30000000000000000");  // 15 digits
  EXPECT_EQ(ERROR_OF(dk_cast_f64_n64, 1e18, 18, 0), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_f64_n64, HUGE_VAL, 18, 0), DK_NO_FIXED_POINT);
}

struct DateCase {
  const char* text;
  int error;
  const char* value;  // as a timestamp
};

TEST(Parse, DatesAndTimestamps) {
  const DateCase cases[] = {
      {"2024-02-29", 0, "2024-02-29 00:00:00"},
      {" 20240229 ", 0, "2024-02-29 00:00:00"},
      {"240229", 0, "2024-02-29 00:00:00"},
      {"02/29/2024", 0, "2024-02-29 00:00:00"},
      {"29-Feb-2024", 0, "2024-02-29 00:00:00"},
      {"Feb 29, 2024", 0, "2024-02-29 00:00:00"},
      {"Thursday, 29 February 2024", 0, "2024-02-29 00:00:00"},
      {"J2460370", 0, "2024-02-29 00:00:00"},
      {"70-01-01", DK_DATETIME_OVERFLOW, ""},
      {"1/2/69", 0, "2069-01-02 00:00:00"},
      {"1/2/70", 0, "1970-01-02 00:00:00"},
      {"0044-03-15 BC", 0, "0044-03-15 00:00:00 BC"},
      {"2024-02-29 12:34:56.789", 0, "2024-02-29 12:34:56.789"},
      {"2024-02-29T12:34:56Z", 0, "2024-02-29 12:34:56"},
      {"2024-02-29 12:34:56+02:30", 0, "2024-02-29 12:34:56"},
      {"2024-02-29 12:34:56.1234567", 0, "2024-02-29 12:34:56.123457"},
      {"2024-02-29 24:00:00", 0, "2024-03-01 00:00:00"},
      {"2024-12-31 23:59:60", 0, "2025-01-01 00:00:00"},
      {"2024-02-29 12:00 am", 0, "2024-02-29 00:00:00"},
      {"2024-02-29 01:30PM", 0, "2024-02-29 13:30:00"},
      {"epoch", 0, "1970-01-01 00:00:00"},
      {"infinity", 0, "infinity"},
      {"-Infinity", 0, "-infinity"},
      {"2023-02-29", DK_DATETIME_OVERFLOW, ""},
      {"1900-02-29", DK_DATETIME_OVERFLOW, ""},
      {"2024-13-01", DK_DATETIME_OVERFLOW, ""},
      {"2024-00-01", DK_DATETIME_OVERFLOW, ""},
      {"0000-01-01", DK_DATETIME_OVERFLOW, ""},
      {"2024-01-01 25:00", DK_DATETIME_OVERFLOW, ""},
      {"2024-01-01 24:00:01", DK_DATETIME_OVERFLOW, ""},
      {"2024-01-01 13:00 PM", DK_DATETIME_OVERFLOW, ""},
      {"", no_date, ""},
      {"abc", no_date, ""},
      {"2024-01", no_date, ""},
      {"2024", no_date, ""},
      {"2024-01-01x", no_date, ""},
      {"12:34", no_date, ""},
  };
  for (const auto& c : cases) {
    auto got = call(dk_cast_text_timestamp, text(c.text));
    EXPECT_EQ(got.error, c.error) << c.text;
    if (c.error == 0) {
      EXPECT_EQ(WRITTEN(cast_timestamp_text, got.value), c.value) << c.text;
    }
    EXPECT_EQ(ERROR_OF(dk_cast_text_date, text(c.text)), c.error) << c.text;
  }
}

TEST(Parse, TimestampsRoundTrip) {
  Random random;
  for (int i = 0; i < 50000; i++) {
    dk_i64 t = DK_TIMESTAMP_MIN + random.below(LONG_MAX) % (DK_TIMESTAMP_END - 1);
    std::string shown = WRITTEN(cast_timestamp_text, t);
    auto read = call(dk_cast_text_timestamp, text(shown));
    ASSERT_EQ(read.error, 0) << shown;
    ASSERT_EQ(read.value, t) << shown;
    dk_interval value{random.any_i32(), random.any_i32(), random.any_i64()};
    shown = WRITTEN(cast_interval_text, value);
    if (value.months == INT_MIN || value.microseconds == LONG_MIN) continue;  // their magnitudes have no positive form
    auto again = call(dk_cast_text_interval, text(shown));
    ASSERT_EQ(again.error, 0) << shown;
    ASSERT_EQ(WRITTEN(cast_interval_text, again.value), shown);
  }
}

TEST(Parse, Intervals) {
  const DateCase cases[] = {
      {"1 year 2 months 3 days 04:05:06.7", 0, "1 year 2 mons 3 days 04:05:06.7"},
      {"@ 1 day 2 hours ago", 0, "-1 days -02:00:00"},
      {"1.5 days", 0, "1 day 12:00:00"},
      {"1.5 months", 0, "1 mon 15 days"},
      {"0.1 years", 0, "1 mon"},
      {"1.5 weeks", 0, "10 days 12:00:00"},
      {"2h30m", 0, "02:30:00"},
      {"2h 30m", 0, "02:30:00"},
      {"1-2", 0, "1 year 2 mons"},
      {"-1-2", 0, "-1 years -2 mons"},
      {"3 04:05", 0, "3 days 04:05:00"},
      {"-04:05:06", 0, "-04:05:06"},
      {"04:05.6", 0, "00:04:05.6"},
      {"1 day -2 hours", 0, "1 day -02:00:00"},
      {"-1 day +2 hours", 0, "-1 days +02:00:00"},
      {"90", 0, "00:01:30"},
      {"P1Y2M3DT4H5M6.7S", 0, "1 year 2 mons 3 days 04:05:06.7"},
      {"P1W", 0, "7 days"},
      {"PT36H", 0, "36:00:00"},
      {"2 centuries 1 decade", 0, "210 years"},
      {"1 day 2 days", no_date, ""},
      {"1 foo", no_date, ""},
      {"", no_date, ""},
      {"ago", no_date, ""},
      {"12:60:00", DK_INTERVAL_OVERFLOW, ""},
      {"2147483648 months", DK_INTERVAL_OVERFLOW, ""},
      {"99999999999999999999 us", DK_INTERVAL_OVERFLOW, ""},
  };
  for (const auto& c : cases) {
    auto got = call(dk_cast_text_interval, text(c.text));
    EXPECT_EQ(got.error, c.error) << c.text;
    if (c.error == 0) {
      EXPECT_EQ(WRITTEN(cast_interval_text, got.value), c.value) << c.text;
    }
  }
}

TEST(Parse, IntervalFields) {
  auto shown = [](const char* s, int fields) {
    return WRITTEN(cast_interval_text, dk_fit_interval(VALUE_OF(dk_parse_interval, text(s), fields), fields, 6));
  };
  EXPECT_EQ(shown("90", DK_FIELD_DAY), "90 days");
  EXPECT_EQ(shown("3", DK_FIELD_MONTH), "3 mons");
  EXPECT_EQ(shown("1", DK_FIELD_YEAR), "1 year");
  EXPECT_EQ(shown("5", DK_FIELD_HOUR), "05:00:00");
  EXPECT_EQ(shown("1 2", DK_FIELD_DAY | DK_FIELD_HOUR), "1 day 02:00:00");
  EXPECT_EQ(shown("2:03", DK_FIELD_MINUTE | DK_FIELD_SECOND), "00:02:03");
  EXPECT_EQ(shown("1 day 02:03:04", DK_FIELD_DAY), "1 day");
  EXPECT_EQ(shown("14 months", DK_FIELD_YEAR), "1 year");
}

TEST(Parse, IntervalPrecision) {
  auto rounded = [](dk_i64 microseconds, int digits) {
    return dk_fit_interval(dk_make_interval_of(0, 0, microseconds), DK_FIELD_ALL, digits).microseconds;
  };
  EXPECT_EQ(rounded(1500000, 0), 2000000);
  EXPECT_EQ(rounded(-1500000, 0), -2000000);
  EXPECT_EQ(rounded(1499999, 0), 1000000);
  EXPECT_EQ(rounded(1555555, 5), 1555560);
  EXPECT_EQ(rounded(1555555, 6), 1555555);
  EXPECT_EQ(rounded(1555555, 9), 1555555);
}

// Any bytes give a value or an error; the sanitizers see to the rest.
TEST(Parse, SurvivesGarbage) {
  Random random;
  const std::string alphabet = "0123456789:-+. ,/eETPYMDHSjagoinfbc@%\xC3\xA9";
  for (int i = 0; i < 200000; i++) {
    std::string garbage;
    for (dk_i64 n = random.below(24); n > 0; n--) {
      garbage += random.below(3) == 0
                     ? '9'
                     : alphabet[static_cast<size_t>(random.below(static_cast<dk_i64>(alphabet.size())))];
    }
    dk_i32 error = 0;
    dk_text t = text(garbage);
    dk_cast_text_bool(t, &error);
    dk_cast_text_i16(t, &error);
    dk_cast_text_n128(t, static_cast<dk_i32>(random.below(39)), static_cast<dk_i32>(random.below(39)), &error);
    dk_cast_text_f64(t, &error);
    dk_cast_text_date(t, &error);
    dk_cast_text_timestamp(t, &error);
    dk_parse_interval(t, static_cast<dk_i32>(random.below(0x8000)), &error);
  }
}

// Lanes that are not selected are computed with whatever they hold.
TEST(Arithmetic, SurvivesGarbage) {
  Random random;
  for (int i = 0; i < 100000; i++) {
    dk_i32 error = 0;
    char out[128];
    dk_i64 a = random.any_i64();
    dk_i64 b = random.any_i64();
    dk_interval x{random.any_i32(), random.any_i32(), a};
    dk_interval y{random.any_i32(), random.any_i32(), b};
    dk_i128 wide = i128(random.any_i128());
    dk_i128 other = i128(random.any_i128());
    dk_f64 real = DK_F64_OF_BITS(random.bits());
    dk_add_timestamp_interval(a, x, &error);
    dk_sub_date_interval(static_cast<dk_i32>(b), y, &error);
    dk_sub_timestamp(a, b, &error);
    dk_age_timestamp(a, b, &error);
    dk_mul_interval_f64(x, real, &error);
    dk_div_interval_f64(y, real, &error);
    dk_justify_hours(x, &error);
    dk_justify_days(y, &error);
    dk_make_date(x.months, x.days, y.days, &error);
    dk_make_timestamp(x.months, x.days, y.days, y.months, 5, real, &error);
    dk_make_interval(x.months, x.days, y.days, y.months, x.days, y.days, real, &error);
    dk_extract_julian_timestamp(a, 38, 20, &error);
    dk_extract_week_timestamp(a, &error);
    dk_extract_epoch_interval(x, 38, 6);
    dk_date_trunc_millennium(a, &error);
    dk_date_trunc_week(b, &error);
    dk_cast_timestamp_text_write(a, out);
    dk_cast_date_text_write(x.days, out);
    dk_cast_interval_text_write(x, out);
    dk_cast_n128_text_write(wide, 38, out);
    dk_mul_i128(wide, other, &error);
    dk_div_i128(wide, other, static_cast<dk_i32>(random.below(77)), &error);
    dk_mod_i128(wide, other, &error);
    dk_div_whole_n128(wide, other, static_cast<dk_i32>(random.below(39)), static_cast<dk_i32>(random.below(39)), 38, 0,
                      &error);
    dk_round_digits_n128(wide, x.days, 10, 38, 10, &error);
    dk_round_digits_n64(a, x.days, 10, 18, 10, &error);
    dk_cast_n128_f64(wide, static_cast<dk_i32>(random.below(39)));
    dk_power_f64(real, DK_F64_OF_BITS(random.bits()), &error);
    dk_cast_f64_i64(real, &error);
    dk_cast_f64_f32(real, &error);
  }
}

}  // namespace
}  // namespace diptych::testing
