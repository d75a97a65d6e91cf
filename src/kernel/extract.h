// EXTRACT and date_trunc. Fields of infinity raise: the binder asks only for those that go to infinity with it.
// date_trunc leaves it as it is.
#pragma once

// ---- fields of a day: dk_extract_<field>_date and dk_extract_<field>_timestamp

#define DK_DAY_FIELD(field, expression)                                             \
  DK_FN dk_i64 dk_##field##_of_day(dk_i64 day) { return expression; }               \
  DK_FN dk_i64 dk_extract_##field##_date(dk_i32 a, DK_PRIVATE dk_i32* error) {      \
    DK_RAISE_IF(!dk_is_finite_date(a), DK_INFINITE_FIELD);                          \
    return dk_##field##_of_day(a);                                                  \
  }                                                                                 \
  DK_FN dk_i64 dk_extract_##field##_timestamp(dk_i64 a, DK_PRIVATE dk_i32* error) { \
    DK_RAISE_IF(!dk_is_finite_timestamp(a), DK_INFINITE_FIELD);                     \
    return dk_##field##_of_day(dk_day_of_timestamp(a));                             \
  }

DK_DAY_FIELD(year, dk_shown_year(dk_civil_of_days(day).year))
DK_DAY_FIELD(month, dk_civil_of_days(day).month)
DK_DAY_FIELD(day, dk_civil_of_days(day).day)
DK_DAY_FIELD(quarter, (dk_civil_of_days(day).month - 1) / 3 + 1)
DK_DAY_FIELD(week, dk_iso_week(day))
DK_DAY_FIELD(isoyear, dk_shown_year(dk_iso_year(day)))
DK_DAY_FIELD(dow, dk_iso_weekday(day) % 7)
DK_DAY_FIELD(isodow, dk_iso_weekday(day))
DK_DAY_FIELD(doy, day - dk_days_of_civil(dk_civil_of_days(day).year, 1, 1) + 1)
DK_DAY_FIELD(decade, dk_decade(dk_civil_of_days(day).year))
DK_DAY_FIELD(century, dk_century(dk_civil_of_days(day).year))
DK_DAY_FIELD(millennium, dk_millennium(dk_civil_of_days(day).year))

DK_FN dk_i64 dk_extract_epoch_date(dk_i32 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(!dk_is_finite_date(a), DK_INFINITE_FIELD);
  return ((dk_i64)a + DK_DAYS_1970_TO_2000) * 86400;
}
DK_FN dk_i64 dk_extract_julian_date(dk_i32 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(!dk_is_finite_date(a), DK_INFINITE_FIELD);
  return (dk_i64)a + DK_JULIAN_DAY_OF_2000;
}

// ---- fields of the time of a timestamp

DK_FN dk_i64 dk_finite_time(dk_i64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(!dk_is_finite_timestamp(a), DK_INFINITE_FIELD);
  return dk_time_of_timestamp(a);
}
DK_FN dk_i64 dk_extract_hour_timestamp(dk_i64 a, DK_PRIVATE dk_i32* error) {
  return dk_finite_time(a, error) / DK_USECS_PER_HOUR;
}
DK_FN dk_i64 dk_extract_minute_timestamp(dk_i64 a, DK_PRIVATE dk_i32* error) {
  return dk_finite_time(a, error) / DK_USECS_PER_MINUTE % 60;
}
DK_FN dk_i64 dk_extract_microseconds_timestamp(dk_i64 a, DK_PRIVATE dk_i32* error) {
  return dk_finite_time(a, error) % DK_USECS_PER_MINUTE;
}
// Microseconds at scale 6 are seconds, at scale 3 milliseconds.
DK_FN dk_i64 dk_extract_second_timestamp(dk_i64 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_extract_microseconds_timestamp(a, error);
}
DK_FN dk_i64 dk_extract_milliseconds_timestamp(dk_i64 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_extract_microseconds_timestamp(a, error);
}

DK_FN dk_i128 dk_extract_epoch_timestamp(dk_i64 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(!dk_is_finite_timestamp(a), DK_INFINITE_FIELD);
  return dk_add_unchecked_i128(dk_widen_i64(a), dk_widen_i64(DK_DAYS_1970_TO_2000 * DK_USECS_PER_DAY));
}

// Days of scale 20: the day's number and its fraction are put together from their own 128-bit products.
DK_FN dk_i128 dk_extract_julian_timestamp(dk_i64 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  dk_i64 day = dk_day_of_timestamp(a) + DK_JULIAN_DAY_OF_2000;
  dk_i128 whole = dk_mul_i128(dk_widen_i64(day), dk_with_sign(dk_power_of_ten(20), 0), error);
  dk_i128 part = dk_div_i128(dk_widen_i64(dk_finite_time(a, error)), dk_widen_i64(DK_USECS_PER_DAY), 20, error);
  return dk_add_unchecked_i128(whole, part);
}

// ---- fields of an interval, each cut towards zero

DK_FN dk_i64 dk_extract_year_interval(dk_interval a) { return a.months / 12; }
DK_FN dk_i64 dk_extract_month_interval(dk_interval a) { return a.months % 12; }
DK_FN dk_i64 dk_extract_day_interval(dk_interval a) { return a.days; }
DK_FN dk_i64 dk_extract_quarter_interval(dk_interval a) { return a.months % 12 / 3 + 1; }
DK_FN dk_i64 dk_extract_decade_interval(dk_interval a) { return a.months / 120; }
DK_FN dk_i64 dk_extract_century_interval(dk_interval a) { return a.months / 1200; }
DK_FN dk_i64 dk_extract_millennium_interval(dk_interval a) { return a.months / 12000; }
DK_FN dk_i64 dk_extract_hour_interval(dk_interval a) { return a.microseconds / DK_USECS_PER_HOUR; }
DK_FN dk_i64 dk_extract_minute_interval(dk_interval a) { return a.microseconds / DK_USECS_PER_MINUTE % 60; }
DK_FN dk_i64 dk_extract_microseconds_interval(dk_interval a) { return a.microseconds % DK_USECS_PER_MINUTE; }
DK_FN dk_i64 dk_extract_second_interval(dk_interval a, dk_i32 precision, dk_i32 scale) {
  return a.microseconds % DK_USECS_PER_MINUTE;
}
DK_FN dk_i64 dk_extract_milliseconds_interval(dk_interval a, dk_i32 precision, dk_i32 scale) {
  return a.microseconds % DK_USECS_PER_MINUTE;
}
// Years of 365.25 days, further months of 30.
DK_FN dk_i128 dk_extract_epoch_interval(dk_interval a, dk_i32 precision, dk_i32 scale) {
  dk_i64 seconds = (dk_i64)(a.months / 12) * 31557600 + ((dk_i64)(a.months % 12) * 30 + a.days) * 86400;
  return dk_add_unchecked_i128(dk_mul_wide_i64(seconds, DK_USECS_PER_SECOND), dk_widen_i64(a.microseconds));
}

// ---- date_trunc

DK_FN dk_i64 dk_truncate_timestamp(dk_i64 t, dk_i64 unit) {
  return dk_is_finite_timestamp(t) ? dk_sub_unchecked_i64(t, dk_floor_mod(t, unit)) : t;
}
DK_FN dk_i64 dk_date_trunc_microseconds(dk_i64 t) { return t; }
DK_FN dk_i64 dk_date_trunc_milliseconds(dk_i64 t) { return dk_truncate_timestamp(t, 1000); }
DK_FN dk_i64 dk_date_trunc_second(dk_i64 t) { return dk_truncate_timestamp(t, DK_USECS_PER_SECOND); }
DK_FN dk_i64 dk_date_trunc_minute(dk_i64 t) { return dk_truncate_timestamp(t, DK_USECS_PER_MINUTE); }
DK_FN dk_i64 dk_date_trunc_hour(dk_i64 t) { return dk_truncate_timestamp(t, DK_USECS_PER_HOUR); }
DK_FN dk_i64 dk_date_trunc_day(dk_i64 t) { return dk_truncate_timestamp(t, DK_USECS_PER_DAY); }

DK_FN dk_i64 dk_date_trunc_week(dk_i64 t, DK_PRIVATE dk_i32* error) {
  if (!dk_is_finite_timestamp(t)) return t;
  dk_i64 day = dk_day_of_timestamp(t);
  return dk_make_timestamp_of(day - dk_iso_weekday(day) + 1, 0, error);
}

// The first day of such a month of such a year, both expressions in c, the civil date of t.
#define DK_TRUNCATE_TO_MONTH(unit, year_expression, month_expression)                              \
  DK_FN dk_i64 dk_date_trunc_##unit(dk_i64 t, DK_PRIVATE dk_i32* error) {                          \
    if (!dk_is_finite_timestamp(t)) return t;                                                      \
    dk_civil c = dk_civil_of_days(dk_day_of_timestamp(t));                                         \
    return dk_make_timestamp_of(dk_days_of_civil(year_expression, month_expression, 1), 0, error); \
  }

// Centuries and millennia AD begin with the year after a multiple, those BC end with the year before one.
DK_TRUNCATE_TO_MONTH(month, c.year, c.month)
DK_TRUNCATE_TO_MONTH(quarter, c.year, (c.month - 1) / 3 * 3 + 1)
DK_TRUNCATE_TO_MONTH(year, c.year, 1)
DK_TRUNCATE_TO_MONTH(decade, dk_decade(c.year) * 10, 1)
DK_TRUNCATE_TO_MONTH(century, (dk_century(c.year) - (c.year > 0)) * 100 + 1, 1)
DK_TRUNCATE_TO_MONTH(millennium, (dk_millennium(c.year) - (c.year > 0)) * 1000 + 1, 1)

// ---- date_trunc with the unit in a text

DK_FN dk_i64 dk_date_trunc_timestamp(dk_text unit, dk_i64 t, DK_PRIVATE dk_i32* error) {
  switch (dk_time_unit_of(unit)) {
    case DK_UNIT_MICROSECONDS: return t;
    case DK_UNIT_MILLISECONDS: return dk_date_trunc_milliseconds(t);
    case DK_UNIT_SECOND: return dk_date_trunc_second(t);
    case DK_UNIT_MINUTE: return dk_date_trunc_minute(t);
    case DK_UNIT_HOUR: return dk_date_trunc_hour(t);
    case DK_UNIT_DAY: return dk_date_trunc_day(t);
    case DK_UNIT_WEEK: return dk_date_trunc_week(t, error);
    case DK_UNIT_MONTH: return dk_date_trunc_month(t, error);
    case DK_UNIT_QUARTER: return dk_date_trunc_quarter(t, error);
    case DK_UNIT_YEAR: return dk_date_trunc_year(t, error);
    case DK_UNIT_DECADE: return dk_date_trunc_decade(t, error);
    case DK_UNIT_CENTURY: return dk_date_trunc_century(t, error);
    case DK_UNIT_MILLENNIUM: return dk_date_trunc_millennium(t, error);
  }
  dk_raise(error, DK_INVALID_PARAMETER);
  return t;
}

// The time cut to a multiple of the unit, towards zero.
DK_FN dk_interval dk_truncate_interval_time(dk_interval a, dk_i64 unit) {
  return dk_make_interval_of(a.months, a.days, a.microseconds - a.microseconds % unit);
}
DK_FN dk_interval dk_truncate_interval_months(dk_interval a, dk_i32 months) {
  return dk_make_interval_of(a.months - a.months % months, 0, 0);
}

// Weeks raise: months do not divide into them.
DK_FN dk_interval dk_date_trunc_interval(dk_text unit, dk_interval a, DK_PRIVATE dk_i32* error) {
  switch (dk_time_unit_of(unit)) {
    case DK_UNIT_MICROSECONDS: return a;
    case DK_UNIT_MILLISECONDS: return dk_truncate_interval_time(a, 1000);
    case DK_UNIT_SECOND: return dk_truncate_interval_time(a, DK_USECS_PER_SECOND);
    case DK_UNIT_MINUTE: return dk_truncate_interval_time(a, DK_USECS_PER_MINUTE);
    case DK_UNIT_HOUR: return dk_truncate_interval_time(a, DK_USECS_PER_HOUR);
    case DK_UNIT_DAY: return dk_make_interval_of(a.months, a.days, 0);
    case DK_UNIT_MONTH: return dk_truncate_interval_months(a, 1);
    case DK_UNIT_QUARTER: return dk_truncate_interval_months(a, 3);
    case DK_UNIT_YEAR: return dk_truncate_interval_months(a, 12);
    case DK_UNIT_DECADE: return dk_truncate_interval_months(a, 120);
    case DK_UNIT_CENTURY: return dk_truncate_interval_months(a, 1200);
    case DK_UNIT_MILLENNIUM: return dk_truncate_interval_months(a, 12000);
  }
  dk_raise(error, DK_INVALID_PARAMETER);
  return a;
}
