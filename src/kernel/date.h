// Arithmetic on dates, timestamps and intervals as PostgreSQL has it.
//
// Infinite dates and timestamps stay infinite under addition of an interval or days. Adding months keeps the day of the
// month, or takes the last of a shorter month. An interval compares as if a month had 30 days and a day 24 hours.
#pragma once

// ---- intervals

DK_FN dk_interval dk_make_interval_of(dk_i32 months, dk_i32 days, dk_i64 microseconds) {
  dk_interval r;
  r.months = months;
  r.days = days;
  r.microseconds = microseconds;
  return r;
}

// Each part is computed with its own error, so that any of them raises the one of intervals.
DK_FN dk_interval dk_add_interval(dk_interval a, dk_interval b, DK_PRIVATE dk_i32* error) {
  dk_i32 overflow = 0;
  dk_i32 months = dk_add_i32(a.months, b.months, &overflow);
  dk_i32 days = dk_add_i32(a.days, b.days, &overflow);
  dk_i64 microseconds = dk_add_i64(a.microseconds, b.microseconds, &overflow);
  DK_RAISE_IF(overflow, DK_DATETIME_OVERFLOW);
  return dk_make_interval_of(months, days, microseconds);
}

DK_FN dk_interval dk_sub_interval(dk_interval a, dk_interval b, DK_PRIVATE dk_i32* error) {
  dk_i32 overflow = 0;
  dk_i32 months = dk_sub_i32(a.months, b.months, &overflow);
  dk_i32 days = dk_sub_i32(a.days, b.days, &overflow);
  dk_i64 microseconds = dk_sub_i64(a.microseconds, b.microseconds, &overflow);
  DK_RAISE_IF(overflow, DK_DATETIME_OVERFLOW);
  return dk_make_interval_of(months, days, microseconds);
}

DK_FN dk_interval dk_neg_interval(dk_interval a, DK_PRIVATE dk_i32* error) {
  return dk_sub_interval(dk_make_interval_of(0, 0, 0), a, error);
}

// The same with wrapping, for subtracting: an interval of INT_MIN months then ends in a range error.
DK_FN dk_interval dk_neg_unchecked_interval(dk_interval a) {
  return dk_make_interval_of(dk_neg_unchecked_i32(a.months), dk_neg_unchecked_i32(a.days),
                             dk_neg_unchecked_i64(a.microseconds));
}

// Length in microseconds: what comparison and hashing go by.
DK_FN dk_i128 dk_span_of_interval(dk_interval a) {
  dk_i64 days = (dk_i64)a.months * 30 + a.days;
  return dk_add_unchecked_i128(dk_mul_wide_i64(days, DK_USECS_PER_DAY), dk_widen_i64(a.microseconds));
}

DK_FN dk_i32 dk_cmp_interval(dk_interval a, dk_interval b) {
  return dk_cmp_i128(dk_span_of_interval(a), dk_span_of_interval(b));
}
DK_FN dk_bool dk_eq_interval(dk_interval a, dk_interval b) { return dk_cmp_interval(a, b) == 0; }
DK_FN dk_bool dk_ne_interval(dk_interval a, dk_interval b) { return dk_cmp_interval(a, b) != 0; }
DK_FN dk_bool dk_lt_interval(dk_interval a, dk_interval b) { return dk_cmp_interval(a, b) < 0; }
DK_FN dk_bool dk_le_interval(dk_interval a, dk_interval b) { return dk_cmp_interval(a, b) <= 0; }
DK_FN dk_bool dk_gt_interval(dk_interval a, dk_interval b) { return dk_cmp_interval(a, b) > 0; }
DK_FN dk_bool dk_ge_interval(dk_interval a, dk_interval b) { return dk_cmp_interval(a, b) >= 0; }
DK_FN dk_u64 dk_hash_interval(dk_interval a) { return dk_hash_i128(dk_span_of_interval(a)); }

// Seconds rounded to microseconds, to shake off what binary fractions leave behind.
DK_FN dk_f64 dk_round_seconds(dk_f64 a) { return DK_MATH1_F64(rint, a * 1000000.0) / 1000000.0; }

// A whole number within [-limit, limit), or an error. NaN is not within.
DK_FN dk_f64 dk_check_part(dk_f64 a, dk_f64 limit, DK_PRIVATE dk_i32* error) {
  dk_bool within = a >= -limit && a < limit;
  DK_RAISE_IF(!within, DK_DATETIME_OVERFLOW);
  return within ? a : 0;
}

// The interval whose parts are those products: fractions of a month become days of which there are 30, fractions of a
// day become time. `months` and `days` are the exact products, truncated here.
DK_FN dk_interval dk_spill_fractions(dk_f64 months, dk_f64 days, dk_f64 microseconds, DK_PRIVATE dk_i32* error) {
  months = dk_check_part(months, 2147483648.0, error);
  days = dk_check_part(days, 2147483648.0, error);
  dk_i32 whole_months = (dk_i32)months;
  dk_i32 whole_days = (dk_i32)days;
  dk_f64 spilled_days = dk_round_seconds((months - whole_months) * 30);
  dk_f64 seconds = dk_round_seconds((days - whole_days + spilled_days - (dk_i32)spilled_days) * 86400);
  dk_f64 more_days = (dk_i32)spilled_days;
  if (seconds >= 86400 || seconds <= -86400) {
    dk_i32 full = (dk_i32)(seconds / 86400);
    more_days += full;
    seconds -= full * 86400.0;
  }
  dk_f64 all_days = dk_check_part(whole_days + more_days, 2147483648.0, error);
  dk_f64 time = DK_MATH1_F64(rint, microseconds + seconds * 1000000.0);
  time = dk_check_part(time, 9223372036854775808.0, error);
  return dk_make_interval_of(whole_months, (dk_i32)all_days, (dk_i64)time);
}

DK_FN dk_interval dk_mul_interval_f64(dk_interval a, dk_f64 b, DK_PRIVATE dk_i32* error) {
  return dk_spill_fractions(a.months * b, a.days * b, (dk_f64)a.microseconds * b, error);
}
DK_FN dk_interval dk_mul_f64_interval(dk_f64 a, dk_interval b, DK_PRIVATE dk_i32* error) {
  return dk_mul_interval_f64(b, a, error);
}

DK_FN dk_interval dk_div_interval_f64(dk_interval a, dk_f64 b, DK_PRIVATE dk_i32* error) {
  if (b == 0) {
    dk_raise(error, DK_DIVISION_BY_ZERO);
    return a;
  }
  return dk_spill_fractions(a.months / b, a.days / b, (dk_f64)a.microseconds / b, error);
}

// Two parts of unlike sign are made alike: `high` gives one of its units, `unit` of the low ones.
DK_FN dk_interval dk_justify_hours(dk_interval a, DK_PRIVATE dk_i32* error) {
  dk_i64 days = a.days + a.microseconds / DK_USECS_PER_DAY;
  dk_i64 time = a.microseconds % DK_USECS_PER_DAY;
  if (days > 0 && time < 0) {
    time += DK_USECS_PER_DAY;
    days--;
  } else if (days < 0 && time > 0) {
    time -= DK_USECS_PER_DAY;
    days++;
  }
  DK_RAISE_IF(days != (dk_i32)days, DK_DATETIME_OVERFLOW);
  return dk_make_interval_of(a.months, (dk_i32)days, time);
}

DK_FN dk_interval dk_justify_days(dk_interval a, DK_PRIVATE dk_i32* error) {
  dk_i64 months = (dk_i64)a.months + a.days / 30;
  dk_i32 days = a.days % 30;
  if (months > 0 && days < 0) {
    days += 30;
    months--;
  } else if (months < 0 && days > 0) {
    days -= 30;
    months++;
  }
  DK_RAISE_IF(months != (dk_i32)months, DK_DATETIME_OVERFLOW);
  return dk_make_interval_of((dk_i32)months, days, a.microseconds);
}

// ---- dates

DK_FN dk_bool dk_isfinite_date(dk_i32 a) { return dk_is_finite_date(a); }
DK_FN dk_bool dk_isfinite_timestamp(dk_i64 a) { return dk_is_finite_timestamp(a); }

DK_FN dk_i32 dk_add_date_i32(dk_i32 date, dk_i32 days, DK_PRIVATE dk_i32* error) {
  return dk_is_finite_date(date) ? dk_check_date((dk_i64)date + days, error) : date;
}
DK_FN dk_i32 dk_add_i32_date(dk_i32 days, dk_i32 date, DK_PRIVATE dk_i32* error) {
  return dk_add_date_i32(date, days, error);
}
DK_FN dk_i32 dk_sub_date_i32(dk_i32 date, dk_i32 days, DK_PRIVATE dk_i32* error) {
  return dk_is_finite_date(date) ? dk_check_date((dk_i64)date - days, error) : date;
}
DK_FN dk_i32 dk_sub_date(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  dk_i64 days = (dk_i64)a - b;
  DK_RAISE_IF(!dk_is_finite_date(a) || !dk_is_finite_date(b) || days != (dk_i32)days, DK_DATETIME_OVERFLOW);
  return (dk_i32)days;
}

// The timestamp of midnight, infinity for infinity.
DK_FN dk_i64 dk_cast_date_timestamp(dk_i32 a, DK_PRIVATE dk_i32* error) {
  if (a == DK_DATE_INFINITY) return DK_TIMESTAMP_INFINITY;
  if (a == DK_DATE_MINUS_INFINITY) return DK_TIMESTAMP_MINUS_INFINITY;
  return dk_make_timestamp_of(a, 0, error);
}
// What a date is beside a timestamp in a comparison: days after the last timestamp come after all finite ones.
DK_FN dk_i64 dk_comparable_date(dk_i32 a) {
  dk_i32 failed = 0;
  dk_i64 t = dk_cast_date_timestamp(a, &failed);
  return failed ? DK_TIMESTAMP_INFINITY - 1 : t;
}

DK_FN dk_i32 dk_cast_timestamp_date(dk_i64 a) {
  if (a == DK_TIMESTAMP_INFINITY) return DK_DATE_INFINITY;
  if (a == DK_TIMESTAMP_MINUS_INFINITY) return DK_DATE_MINUS_INFINITY;
  return (dk_i32)dk_day_of_timestamp(a);
}

// ---- timestamps

// A day so many months later. The year of a date is within +-10^7, that of the sum within +-2 * 10^8.
DK_FN dk_i64 dk_add_months_to_day(dk_i64 days, dk_i32 months) {
  dk_civil c = dk_civil_of_days(days);
  dk_i64 month = c.year * 12 + (c.month - 1) + months;
  dk_i64 year = dk_floor_div(month, 12);
  dk_i32 month_of_year = (dk_i32)(month - year * 12) + 1;
  dk_i32 last = dk_days_in_month(year, month_of_year);
  return dk_days_of_civil(year, month_of_year, c.day < last ? c.day : last);
}

DK_FN dk_i64 dk_add_timestamp_interval(dk_i64 t, dk_interval interval, DK_PRIVATE dk_i32* error) {
  if (!dk_is_finite_timestamp(t)) return t;
  dk_i32 failed = 0;
  if (interval.months != 0) {
    dk_i64 day = dk_add_months_to_day(dk_day_of_timestamp(t), interval.months);
    t = dk_make_timestamp_of(day, dk_time_of_timestamp(t), &failed);
  }
  if (interval.days != 0) {
    t = dk_make_timestamp_of(dk_day_of_timestamp(t) + interval.days, dk_time_of_timestamp(t), &failed);
  }
  t = dk_check_timestamp(dk_add_i64(t, interval.microseconds, &failed), &failed);
  DK_RAISE_IF(failed, DK_DATETIME_OVERFLOW);
  return t;
}
DK_FN dk_i64 dk_add_interval_timestamp(dk_interval interval, dk_i64 t, DK_PRIVATE dk_i32* error) {
  return dk_add_timestamp_interval(t, interval, error);
}
DK_FN dk_i64 dk_sub_timestamp_interval(dk_i64 t, dk_interval interval, DK_PRIVATE dk_i32* error) {
  return dk_add_timestamp_interval(t, dk_neg_unchecked_interval(interval), error);
}
DK_FN dk_i64 dk_add_date_interval(dk_i32 date, dk_interval interval, DK_PRIVATE dk_i32* error) {
  dk_i32 failed = 0;
  dk_i64 t = dk_add_timestamp_interval(dk_cast_date_timestamp(date, &failed), interval, &failed);
  DK_RAISE_IF(failed, DK_DATETIME_OVERFLOW);
  return t;
}
DK_FN dk_i64 dk_add_interval_date(dk_interval interval, dk_i32 date, DK_PRIVATE dk_i32* error) {
  return dk_add_date_interval(date, interval, error);
}
DK_FN dk_i64 dk_sub_date_interval(dk_i32 date, dk_interval interval, DK_PRIVATE dk_i32* error) {
  return dk_add_date_interval(date, dk_neg_unchecked_interval(interval), error);
}

DK_FN dk_interval dk_sub_timestamp(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  dk_i32 failed = 0;
  dk_i64 time = dk_sub_i64(a, b, &failed);
  DK_RAISE_IF(failed || !dk_is_finite_timestamp(a) || !dk_is_finite_timestamp(b), DK_DATETIME_OVERFLOW);
  return dk_make_interval_of(0, (dk_i32)(time / DK_USECS_PER_DAY), time % DK_USECS_PER_DAY);
}

// later - earlier in calendar units: a borrowed month has the days of the month that `earlier` is in.
DK_FN dk_interval dk_age_timestamp(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  if (!dk_is_finite_timestamp(a) || !dk_is_finite_timestamp(b)) {
    dk_raise(error, DK_DATETIME_OVERFLOW);
    return dk_make_interval_of(0, 0, 0);
  }
  dk_i64 later = a < b ? b : a;
  dk_i64 earlier = a < b ? a : b;
  dk_civil from = dk_civil_of_days(dk_day_of_timestamp(earlier));
  dk_civil to = dk_civil_of_days(dk_day_of_timestamp(later));
  dk_i64 time = dk_time_of_timestamp(later) - dk_time_of_timestamp(earlier);
  dk_i32 days = to.day - from.day;
  dk_i64 months = (to.year - from.year) * 12 + to.month - from.month;
  if (time < 0) {
    time += DK_USECS_PER_DAY;
    days--;
  }
  while (days < 0) {
    days += dk_days_in_month(from.year, from.month);
    months--;
  }
  dk_interval r = dk_make_interval_of((dk_i32)months, days, time);
  return a < b ? dk_neg_unchecked_interval(r) : r;
}

// ---- from parts

DK_FN dk_i32 dk_make_date(dk_i32 year, dk_i32 month, dk_i32 day, DK_PRIVATE dk_i32* error) {
  dk_i64 astronomical = year < 0 ? (dk_i64)year + 1 : year;
  if (year == 0 || month < 1 || month > 12 || day < 1 || day > dk_days_in_month(astronomical, month)) {
    dk_raise(error, DK_DATETIME_OVERFLOW);
    return 0;
  }
  return dk_check_date(dk_days_of_civil(astronomical, month, day), error);
}

// Seconds up to 60, and 24:00:00, are the start of the next minute and day.
DK_FN dk_i64 dk_make_timestamp(dk_i32 year, dk_i32 month, dk_i32 day, dk_i32 hour, dk_i32 minute, dk_f64 seconds,
                               DK_PRIVATE dk_i32* error) {
  dk_i32 failed = 0;
  dk_i32 date = dk_make_date(year, month, day, &failed);
  dk_bool valid = hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && seconds >= 0 && seconds <= 60;
  dk_i64 time =
      valid ? hour * DK_USECS_PER_HOUR + minute * DK_USECS_PER_MINUTE + (dk_i64)DK_MATH1_F64(rint, seconds * 1000000.0)
            : 0;
  if (time > DK_USECS_PER_DAY) valid = 0;
  dk_i64 t = dk_make_timestamp_of(date, valid ? time : 0, &failed);
  DK_RAISE_IF(failed || !valid, DK_DATETIME_OVERFLOW);
  return t;
}

DK_FN dk_interval dk_make_interval(dk_i32 years, dk_i32 months, dk_i32 weeks, dk_i32 days, dk_i32 hours, dk_i32 minutes,
                                   dk_f64 seconds, DK_PRIVATE dk_i32* error) {
  dk_i64 all_months = (dk_i64)years * 12 + months;
  dk_i64 all_days = (dk_i64)weeks * 7 + days;
  dk_f64 rounded = DK_MATH1_F64(rint, seconds * 1000000.0);
  dk_bool valid = all_months == (dk_i32)all_months && all_days == (dk_i32)all_days && rounded > -4e18 && rounded < 4e18;
  dk_i64 time = hours * DK_USECS_PER_HOUR + minutes * DK_USECS_PER_MINUTE;  // at most 7.8e18
  dk_i32 failed = 0;
  time = dk_add_i64(time, valid ? (dk_i64)rounded : 0, &failed);
  DK_RAISE_IF(failed || !valid, DK_DATETIME_OVERFLOW);
  return dk_make_interval_of((dk_i32)all_months, (dk_i32)all_days, time);
}
