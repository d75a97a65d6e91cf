// The proleptic Gregorian calendar: days since 2000-01-01 to year, month, day and back, week numbers, limits.
//
// Years count astronomically here: 0 is 1 BC, -1 is 2 BC. Algorithms: H. Hinnant, "chrono-Compatible Low-Level Date
// Algorithms" (days_from_civil, civil_from_days), on eras of 400 years whose years begin in March, with the epoch moved
// to 2000-01-01.
#pragma once

#define DK_USECS_PER_SECOND DK_I64(1000000)
#define DK_USECS_PER_MINUTE DK_I64(60000000)
#define DK_USECS_PER_HOUR DK_I64(3600000000)
#define DK_USECS_PER_DAY DK_I64(86400000000)

#define DK_DATE_INFINITY 2147483647
#define DK_DATE_MINUS_INFINITY (-2147483647 - 1)
#define DK_TIMESTAMP_INFINITY DK_I64(0x7FFFFFFFFFFFFFFF)
#define DK_TIMESTAMP_MINUS_INFINITY (-DK_I64(0x7FFFFFFFFFFFFFFF) - 1)

// PostgreSQL's limits: from 4714-11-24 BC; dates to 5874897-12-31, timestamps to 294276-12-31.
#define DK_DATE_MIN (-2451545)
#define DK_DATE_END 2145031949
#define DK_TIMESTAMP_MIN (-DK_I64(211813488000000000))
#define DK_TIMESTAMP_END DK_I64(9223371331200000000)

#define DK_DAYS_1970_TO_2000 10957
#define DK_JULIAN_DAY_OF_2000 2451545

typedef struct dk_civil {
  dk_i64 year;
  dk_i32 month;  // 1..12
  dk_i32 day;    // 1..31
} dk_civil;

DK_FN dk_civil dk_make_civil(dk_i64 year, dk_i32 month, dk_i32 day) {
  dk_civil c;
  c.year = year;
  c.month = month;
  c.day = day;
  return c;
}

DK_FN dk_bool dk_is_finite_date(dk_i32 date) { return date != DK_DATE_INFINITY && date != DK_DATE_MINUS_INFINITY; }
DK_FN dk_bool dk_is_finite_timestamp(dk_i64 t) {
  return t != DK_TIMESTAMP_INFINITY && t != DK_TIMESTAMP_MINUS_INFINITY;
}

// Floor division by a positive divisor.
DK_FN dk_i64 dk_floor_div(dk_i64 a, dk_i64 b) { return a / b - (a % b < 0); }
DK_FN dk_i64 dk_floor_mod(dk_i64 a, dk_i64 b) { return a % b + (a % b < 0 ? b : 0); }

DK_FN dk_bool dk_is_leap_year(dk_i64 year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

DK_FN dk_i32 dk_days_in_month(dk_i64 year, dk_i32 month) {
  if (month == 2) return dk_is_leap_year(year) ? 29 : 28;
  return 30 + ((month + (month >> 3)) & 1);
}

// Days since 2000-01-01. Any year within +-10^9; a day beyond its month counts on.
DK_FN dk_i64 dk_days_of_civil(dk_i64 year, dk_i32 month, dk_i32 day) {
  dk_i64 y = year - (month <= 2);
  dk_i64 era = dk_floor_div(y, 400);
  dk_i64 year_of_era = y - era * 400;
  dk_i64 day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  dk_i64 day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468 - DK_DAYS_1970_TO_2000;
}

DK_FN dk_civil dk_civil_of_days(dk_i64 days) {
  dk_i64 z = days + 719468 + DK_DAYS_1970_TO_2000;
  dk_i64 era = dk_floor_div(z, 146097);
  dk_u32 day_of_era = (dk_u32)(z - era * 146097);
  dk_u32 year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  dk_u32 day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  dk_u32 shifted_month = (5 * day_of_year + 2) / 153;  // 0 is March
  dk_i32 month = (dk_i32)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  dk_i32 day = (dk_i32)(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  return dk_make_civil((dk_i64)year_of_era + era * 400 + (month <= 2), month, day);
}

// Monday 1 to Sunday 7; 2000-01-01 was a Saturday.
DK_FN dk_i32 dk_iso_weekday(dk_i64 days) { return (dk_i32)dk_floor_mod(days + 5, 7) + 1; }

// The year that an ISO week belongs to is the year of its Thursday.
DK_FN dk_i64 dk_iso_year(dk_i64 days) { return dk_civil_of_days(days - dk_iso_weekday(days) + 4).year; }

DK_FN dk_i32 dk_iso_week(dk_i64 days) {
  dk_i64 thursday = days - dk_iso_weekday(days) + 4;
  return (dk_i32)((thursday - dk_days_of_civil(dk_civil_of_days(thursday).year, 1, 1)) / 7) + 1;
}

// Days and microseconds of the day of a timestamp.
DK_FN dk_i64 dk_day_of_timestamp(dk_i64 t) { return dk_floor_div(t, DK_USECS_PER_DAY); }
DK_FN dk_i64 dk_time_of_timestamp(dk_i64 t) { return dk_floor_mod(t, DK_USECS_PER_DAY); }

// ---- numbers of years as SQL shows them: there is no year 0

DK_FN dk_i64 dk_shown_year(dk_i64 year) { return year > 0 ? year : year - 1; }
DK_FN dk_i64 dk_decade(dk_i64 year) { return dk_floor_div(year, 10); }
DK_FN dk_i64 dk_century(dk_i64 year) { return year > 0 ? (year + 99) / 100 : (year - 100) / 100; }
DK_FN dk_i64 dk_millennium(dk_i64 year) { return year > 0 ? (year + 999) / 1000 : (year - 1000) / 1000; }

// ---- results within the limits

DK_FN dk_i32 dk_check_date(dk_i64 days, DK_PRIVATE dk_i32* error) {
  dk_bool within = days >= DK_DATE_MIN && days < DK_DATE_END;
  DK_RAISE_IF(!within, DK_DATETIME_OVERFLOW);
  return within ? (dk_i32)days : 0;
}

DK_FN dk_i64 dk_check_timestamp(dk_i64 t, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(t < DK_TIMESTAMP_MIN || t >= DK_TIMESTAMP_END, DK_DATETIME_OVERFLOW);
  return t;
}

// The timestamp of a day and the time after its midnight, at most a day.
DK_FN dk_i64 dk_make_timestamp_of(dk_i64 days, dk_i64 time, DK_PRIVATE dk_i32* error) {
  if (days < DK_DATE_MIN - 1 || days > DK_TIMESTAMP_END / DK_USECS_PER_DAY) {
    dk_raise(error, DK_DATETIME_OVERFLOW);
    return 0;
  }
  return dk_check_timestamp(days * DK_USECS_PER_DAY + time, error);
}
