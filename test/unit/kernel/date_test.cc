#include <gtest/gtest.h>

#include <climits>
#include <ctime>

#include "kernel/kernel_testing.h"

namespace diptych::testing {
namespace {

dk_i32 date(const char* s) { return VALUE_OF(dk_cast_text_date, text(s)); }
dk_i64 timestamp(const char* s) { return VALUE_OF(dk_cast_text_timestamp, text(s)); }
dk_interval interval(const char* s) { return VALUE_OF(dk_cast_text_interval, text(s)); }
std::string shown(dk_i64 t) { return WRITTEN(cast_timestamp_text, t); }
std::string shown_date(dk_i32 d) { return WRITTEN(cast_date_text, d); }
std::string shown(dk_interval i) { return WRITTEN(cast_interval_text, i); }

// The C library's calendar is the oracle, one day after another over 1200 years.
TEST(Calendar, AgreesWithTheCLibrary) {
  for (dk_i64 days = -366000; days < 73000; days++) {
    time_t seconds = (days + DK_DAYS_1970_TO_2000) * 86400;
    tm parts;
    gmtime_r(&seconds, &parts);
    dk_civil c = dk_civil_of_days(days);
    ASSERT_EQ(c.year, parts.tm_year + 1900) << days;
    ASSERT_EQ(c.month, parts.tm_mon + 1) << days;
    ASSERT_EQ(c.day, parts.tm_mday) << days;
    ASSERT_EQ(dk_days_of_civil(c.year, c.month, c.day), days);
    ASSERT_EQ(dk_iso_weekday(days) % 7, parts.tm_wday) << days;
    ASSERT_EQ(dk_doy_of_day(days), parts.tm_yday + 1) << days;
    char week[16];
    strftime(week, sizeof week, "%G %V", &parts);
    ASSERT_EQ(std::to_string(dk_iso_year(days)), std::to_string(std::atoi(week))) << days;
    ASSERT_EQ(dk_iso_week(days), std::atoi(std::string(week).substr(std::string(week).find(' ')).c_str())) << days;
  }
}

TEST(Calendar, EveryMonthEnd) {
  for (int year : {1900, 2000, 2023, 2024, 2100}) {
    for (int month = 1; month <= 12; month++) {
      int last = dk_days_in_month(year, month);
      EXPECT_EQ(dk_days_of_civil(year, month, last) + 1,
                month == 12 ? dk_days_of_civil(year + 1, 1, 1) : dk_days_of_civil(year, month + 1, 1));
      EXPECT_EQ(ERROR_OF(dk_make_date, year, month, last), 0);
      EXPECT_EQ(ERROR_OF(dk_make_date, year, month, last + 1), DK_DATETIME_OVERFLOW);
    }
  }
}

TEST(Calendar, LimitsRoundTrip) {
  EXPECT_EQ(shown_date(DK_DATE_MIN), "4714-11-24 BC");
  EXPECT_EQ(shown_date(DK_DATE_END - 1), "5874897-12-31");
  EXPECT_EQ(date("4714-11-24 BC"), DK_DATE_MIN);
  EXPECT_EQ(date("5874897-12-31"), DK_DATE_END - 1);
  EXPECT_EQ(ERROR_OF(dk_cast_text_date, text("4714-11-23 BC")), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_cast_text_date, text("5874898-01-01")), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(shown(DK_TIMESTAMP_END - 1), "294276-12-31 23:59:59.999999");
  EXPECT_EQ(shown(DK_TIMESTAMP_MIN), "4714-11-24 00:00:00 BC");
  EXPECT_EQ(ERROR_OF(dk_cast_date_timestamp, DK_DATE_END - 1), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(dk_comparable_date(DK_DATE_END - 1), DK_TIMESTAMP_INFINITY - 1);
  EXPECT_EQ(dk_comparable_date(DK_DATE_INFINITY), DK_TIMESTAMP_INFINITY);
  EXPECT_EQ(dk_comparable_date(DK_DATE_MINUS_INFINITY), DK_TIMESTAMP_MINUS_INFINITY);
  EXPECT_EQ(dk_comparable_date(1), DK_USECS_PER_DAY);
}

TEST(Date, DaysAddUp) {
  EXPECT_EQ(shown_date(VALUE_OF(dk_add_date_i32, date("2024-02-28"), 2)), "2024-03-01");
  EXPECT_EQ(shown_date(VALUE_OF(dk_sub_date_i32, date("2023-03-01"), 1)), "2023-02-28");
  EXPECT_EQ(VALUE_OF(dk_sub_date, date("2024-03-01"), date("2023-03-01")), 366);
  EXPECT_EQ(ERROR_OF(dk_add_date_i32, date("2024-01-01"), INT_MAX), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_add_date_i32, date("2024-01-01"), INT_MIN), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(VALUE_OF(dk_add_date_i32, DK_DATE_INFINITY, -5), DK_DATE_INFINITY);
  EXPECT_EQ(ERROR_OF(dk_sub_date, DK_DATE_INFINITY, 0), DK_DATETIME_OVERFLOW);
}

struct AddCase {
  const char *start, *interval, *sum;
};

TEST(Timestamp, AddingIntervals) {
  const AddCase cases[] = {
      {"2024-01-31", "1 month", "2024-02-29 00:00:00"},
      {"2023-01-31", "1 month", "2023-02-28 00:00:00"},
      {"2024-02-29", "1 year", "2025-02-28 00:00:00"},
      {"2024-02-29", "4 years", "2028-02-29 00:00:00"},
      {"2024-03-31", "-1 month", "2024-02-29 00:00:00"},
      {"2024-01-31", "1 month 1 day", "2024-03-01 00:00:00"},
      {"2024-12-31 23:59:59", "1 second", "2025-01-01 00:00:00"},
      {"2024-01-01", "-13 months", "2022-12-01 00:00:00"},
      {"2024-01-01", "-1 microsecond", "2023-12-31 23:59:59.999999"},
      {"infinity", "-1 year", "infinity"},
      {"0001-01-01", "-1 day", "0001-12-31 00:00:00 BC"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(shown(VALUE_OF(dk_add_timestamp_interval, timestamp(c.start), interval(c.interval))), c.sum) << c.start;
  }
  EXPECT_EQ(shown(VALUE_OF(dk_sub_date_interval, date("1998-12-01"), interval("90 days"))), "1998-09-02 00:00:00");
  EXPECT_EQ(ERROR_OF(dk_add_timestamp_interval, DK_TIMESTAMP_END - 1, interval("1 us")), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_add_timestamp_interval, 0L, dk_interval{INT_MAX, 0, 0}), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_add_timestamp_interval, 0L, dk_interval{0, INT_MIN, LONG_MIN}), DK_DATETIME_OVERFLOW);
}

TEST(Timestamp, Differences) {
  EXPECT_EQ(shown(VALUE_OF(dk_sub_timestamp, timestamp("2024-03-01"), timestamp("2024-02-28 12:00"))),
            "1 day 12:00:00");
  EXPECT_EQ(shown(VALUE_OF(dk_sub_timestamp, timestamp("2024-02-28 12:00"), timestamp("2024-03-01"))),
            "-1 days -12:00:00");
  EXPECT_EQ(ERROR_OF(dk_sub_timestamp, DK_TIMESTAMP_INFINITY, 0L), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_sub_timestamp, DK_TIMESTAMP_END, DK_TIMESTAMP_MIN), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(shown(VALUE_OF(dk_age_timestamp, timestamp("2001-04-10"), timestamp("1957-06-13"))),
            "43 years 9 mons 27 days");
  EXPECT_EQ(shown(VALUE_OF(dk_age_timestamp, timestamp("2024-01-31"), timestamp("2024-03-01"))), "-1 mons -1 days");
}

TEST(Timestamp, FieldsBefore1AD) {
  dk_i64 t = timestamp("0044-03-15 10:20:30.5 BC");
  EXPECT_EQ(VALUE_OF(dk_extract_year_timestamp, t), -44);
  EXPECT_EQ(VALUE_OF(dk_extract_century_timestamp, t), -1);
  EXPECT_EQ(VALUE_OF(dk_extract_decade_timestamp, t), -5);
  EXPECT_EQ(VALUE_OF(dk_extract_hour_timestamp, t), 10);
  EXPECT_EQ(VALUE_OF(dk_extract_second_timestamp, t, 18, 6), 30500000);
  EXPECT_EQ(ERROR_OF(dk_extract_year_timestamp, DK_TIMESTAMP_INFINITY), DK_INFINITE_FIELD);
  EXPECT_EQ(ERROR_OF(dk_extract_year_date, DK_DATE_MINUS_INFINITY), DK_INFINITE_FIELD);
}

struct TruncateCase {
  const char *unit, *result;
};

TEST(Timestamp, Truncation) {
  const TruncateCase cases[] = {
      {"microseconds", "2024-08-15 13:14:15.678912"},
      {"milliseconds", "2024-08-15 13:14:15.678"},
      {"second", "2024-08-15 13:14:15"},
      {"minute", "2024-08-15 13:14:00"},
      {"hour", "2024-08-15 13:00:00"},
      {"day", "2024-08-15 00:00:00"},
      {"week", "2024-08-12 00:00:00"},
      {"month", "2024-08-01 00:00:00"},
      {"quarter", "2024-07-01 00:00:00"},
      {"year", "2024-01-01 00:00:00"},
      {"decade", "2020-01-01 00:00:00"},
      {"century", "2001-01-01 00:00:00"},
      {"millennium", "2001-01-01 00:00:00"},
      {"YEARS", "2024-01-01 00:00:00"},
  };
  for (const auto& c : cases) {
    dk_i64 t = timestamp("2024-08-15 13:14:15.678912");
    EXPECT_EQ(shown(VALUE_OF(dk_date_trunc_timestamp, text(c.unit), t)), c.result) << c.unit;
  }
  EXPECT_EQ(ERROR_OF(dk_date_trunc_timestamp, text("fortnight"), 0L), DK_INVALID_PARAMETER);
  EXPECT_EQ(VALUE_OF(dk_date_trunc_year, DK_TIMESTAMP_INFINITY), DK_TIMESTAMP_INFINITY);
  EXPECT_EQ(shown(dk_date_trunc_day(-1)), "1999-12-31 00:00:00");
}

TEST(Interval, Arithmetic) {
  EXPECT_EQ(shown(VALUE_OF(dk_add_interval, interval("1 month 2 days"), interval("1 day 3 hours"))),
            "1 mon 3 days 03:00:00");
  EXPECT_EQ(shown(VALUE_OF(dk_mul_interval_f64, interval("1 month"), 1.5)), "1 mon 15 days");
  EXPECT_EQ(shown(VALUE_OF(dk_mul_interval_f64, interval("1 year 1 day"), 0.5)), "6 mons 12:00:00");
  EXPECT_EQ(shown(VALUE_OF(dk_div_interval_f64, interval("1 month"), 4.0)), "7 days 12:00:00");
  EXPECT_EQ(ERROR_OF(dk_div_interval_f64, interval("1 month"), 0.0), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_mul_interval_f64, interval("1 month"), 1e300), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_mul_interval_f64, interval("1 month"), std::nan("")), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_add_interval, dk_interval{INT_MAX, 0, 0}, dk_interval{1, 0, 0}), DK_DATETIME_OVERFLOW);
  EXPECT_EQ(ERROR_OF(dk_neg_interval, dk_interval{INT_MIN, 0, 0}), DK_DATETIME_OVERFLOW);
  EXPECT_TRUE(dk_eq_interval(interval("1 month"), interval("30 days")));
  EXPECT_TRUE(dk_lt_interval(interval("29 days 23:59:59"), interval("1 month")));
  EXPECT_TRUE(dk_lt_interval(dk_interval{INT_MIN, INT_MIN, LONG_MIN}, dk_interval{INT_MAX, INT_MAX, LONG_MAX}));
}

}  // namespace
}  // namespace diptych::testing
