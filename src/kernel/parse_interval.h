// Casts from text to interval: PostgreSQL's input forms.
//
//   1 year 2 months 3 days 04:05:06.7   1.5 weeks   2h 30m   @ 1 day ago   1-2 (years-months)   3 04:05 (days, time)
//   P1Y2M3DT4H5M6.7S
//
// Months, days and microseconds are kept apart; a fraction of a unit goes to the smaller ones, a month counting 30
// days. Each unit may occur once. Bad syntax raises DK_INVALID_DATETIME, a number too large DK_INTERVAL_OVERFLOW.
#pragma once

// Bits of the fields that a type interval year to month and the like names: those of libpg_query's type modifier.
#define DK_FIELD_MONTH 2
#define DK_FIELD_YEAR 4
#define DK_FIELD_DAY 8
#define DK_FIELD_HOUR 1024
#define DK_FIELD_MINUTE 2048
#define DK_FIELD_SECOND 4096
#define DK_FIELD_ALL 0x7FFF

// A number with its fraction, both of the number's sign.
typedef struct dk_amount {
  dk_i64 whole;
  dk_f64 fraction;
  dk_bool negative;
  dk_bool has_fraction;
  dk_bool valid;
} dk_amount;

typedef struct dk_interval_parser {
  dk_text text;
  dk_i32 at;
  dk_i32 failed;  // a dk_error
  dk_i32 seen;    // a bit for each unit
  dk_i32 fields;  // what a number without a unit may be
  dk_bool has_waiting;
  dk_amount waiting;  // a number without a unit before another number: the days before hours or a time
  dk_i64 months;
  dk_i64 days;
  dk_i64 microseconds;
} dk_interval_parser;

DK_FN char dk_peek_interval(const DK_PRIVATE dk_interval_parser* p, dk_i32 ahead) {
  return dk_char_at(p->text, p->at + ahead);
}

DK_FN void dk_fail_interval(DK_PRIVATE dk_interval_parser* p, dk_i32 code) {
  if (p->failed == 0) p->failed = code;
}

// Commas are read over, too.
DK_FN void dk_skip_spaces(DK_PRIVATE dk_interval_parser* p) {
  while (dk_is_space(dk_peek_interval(p, 0)) || dk_peek_interval(p, 0) == ',') p->at++;
}

DK_FN dk_i64 dk_read_whole(DK_PRIVATE dk_interval_parser* p) {
  dk_i64 value = 0;
  dk_i32 overflow = 0;
  for (; dk_is_digit(dk_peek_interval(p, 0)); p->at++) {
    value = dk_add_i64(dk_mul_i64(value, 10, &overflow), dk_peek_interval(p, 0) - '0', &overflow);
  }
  if (overflow) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
  return value;
}

// The digits after a point as a number below 1: those past the 18th do not count.
DK_FN dk_f64 dk_read_part(DK_PRIVATE dk_interval_parser* p) {
  dk_u64 value = 0;
  dk_i32 digits = 0;
  for (; dk_is_digit(dk_peek_interval(p, 0)); p->at++) {
    if (digits >= 18) continue;
    value = value * 10 + (dk_u64)(dk_peek_interval(p, 0) - '0');
    digits++;
  }
  return (dk_f64)value / (dk_f64)dk_powers_of_ten[digits];
}

DK_FN dk_amount dk_read_amount(DK_PRIVATE dk_interval_parser* p) {
  dk_amount r;
  r.negative = dk_peek_interval(p, 0) == '-';
  if (r.negative || dk_peek_interval(p, 0) == '+') p->at++;
  dk_skip_spaces(p);
  dk_i32 from = p->at;
  r.whole = dk_read_whole(p);
  r.valid = p->at > from;
  r.fraction = 0;
  r.has_fraction = dk_peek_interval(p, 0) == '.';
  if (r.has_fraction) {
    p->at++;
    r.valid = r.valid || dk_is_digit(dk_peek_interval(p, 0));
    r.fraction = dk_read_part(p);
  }
  if (!r.valid) dk_fail_interval(p, DK_INVALID_DATETIME);
  if (r.negative) {
    r.whole = dk_neg_unchecked_i64(r.whole);
    r.fraction = -r.fraction;
  }
  return r;
}

// ---- adding units

// a * factor + more, where a product that leaves 64 bits is an error.
DK_FN dk_i64 dk_add_product(DK_PRIVATE dk_interval_parser* p, dk_i64 more, dk_i64 a, dk_i64 factor) {
  dk_i32 overflow = 0;
  dk_i64 r = dk_add_i64(more, dk_mul_i64(a, factor, &overflow), &overflow);
  if (overflow) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
  return r;
}

// A fraction of a unit of so many microseconds, to the nearest.
DK_FN void dk_add_time_fraction(DK_PRIVATE dk_interval_parser* p, dk_f64 fraction, dk_i64 unit) {
  dk_f64 microseconds = fraction * (dk_f64)unit;
  dk_i64 whole = (dk_i64)microseconds;
  dk_f64 rest = microseconds - (dk_f64)whole;
  p->microseconds = dk_add_product(p, p->microseconds, whole + (rest > 0.5) - (rest < -0.5), 1);
}

// A fraction of a unit of so many days: whole days, then time.
DK_FN void dk_add_day_fraction(DK_PRIVATE dk_interval_parser* p, dk_f64 fraction, dk_i32 unit) {
  dk_f64 days = fraction * unit;
  p->days = dk_add_product(p, p->days, (dk_i64)days, 1);
  dk_add_time_fraction(p, days - (dk_f64)(dk_i64)days, DK_USECS_PER_DAY);
}

DK_FN void dk_add_time(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i64 unit) {
  p->microseconds = dk_add_product(p, p->microseconds, amount.whole, unit);
  dk_add_time_fraction(p, amount.fraction, unit);
}
DK_FN void dk_add_days(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i32 unit) {
  p->days = dk_add_product(p, p->days, amount.whole, unit);
  dk_add_day_fraction(p, amount.fraction, unit);
}
DK_FN void dk_add_years(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i32 years) {
  p->months = dk_add_product(p, p->months, amount.whole, (dk_i64)years * 12);
  p->months = dk_add_product(p, p->months, (dk_i64)DK_MATH1_F64(rint, amount.fraction * years * 12), 1);
}

DK_FN void dk_add_waiting_days(DK_PRIVATE dk_interval_parser* p) {
  if ((p->seen >> DK_UNIT_DAY) & 1) dk_fail_interval(p, DK_INVALID_DATETIME);
  p->seen |= 1 << DK_UNIT_DAY;
  p->has_waiting = 0;
  dk_add_days(p, p->waiting, 1);
}

DK_FN void dk_add_unit(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i32 unit) {
  if (unit == DK_UNIT_NONE || unit == DK_UNIT_QUARTER || ((p->seen >> unit) & 1)) {
    dk_fail_interval(p, DK_INVALID_DATETIME);
    return;
  }
  p->seen |= 1 << unit;
  if (unit == DK_UNIT_HOUR && p->has_waiting) dk_add_waiting_days(p);
  switch (unit) {
    case DK_UNIT_MICROSECONDS: dk_add_time(p, amount, 1); break;
    case DK_UNIT_MILLISECONDS: dk_add_time(p, amount, 1000); break;
    case DK_UNIT_SECOND: dk_add_time(p, amount, DK_USECS_PER_SECOND); break;
    case DK_UNIT_MINUTE: dk_add_time(p, amount, DK_USECS_PER_MINUTE); break;
    case DK_UNIT_HOUR: dk_add_time(p, amount, DK_USECS_PER_HOUR); break;
    case DK_UNIT_DAY: dk_add_days(p, amount, 1); break;
    case DK_UNIT_WEEK: dk_add_days(p, amount, 7); break;
    case DK_UNIT_MONTH:
      p->months = dk_add_product(p, p->months, amount.whole, 1);
      dk_add_day_fraction(p, amount.fraction, 30);
      break;
    case DK_UNIT_YEAR: dk_add_years(p, amount, 1); break;
    case DK_UNIT_DECADE: dk_add_years(p, amount, 10); break;
    case DK_UNIT_CENTURY: dk_add_years(p, amount, 100); break;
    case DK_UNIT_MILLENNIUM: dk_add_years(p, amount, 1000); break;
  }
}

// ---- tokens

// What a number is that no unit follows: the smallest of the fields, or seconds.
DK_FN dk_i32 dk_default_unit(dk_i32 fields) {
  if (fields & DK_FIELD_SECOND) return DK_UNIT_SECOND;
  if (fields & DK_FIELD_MINUTE) return DK_UNIT_MINUTE;
  if (fields & DK_FIELD_HOUR) return DK_UNIT_HOUR;
  if (fields & DK_FIELD_DAY) return DK_UNIT_DAY;
  return fields & DK_FIELD_MONTH ? DK_UNIT_MONTH : DK_UNIT_YEAR;
}

// The rest of hours:minutes[:seconds], where the hours have been read. minutes:seconds when the type says so, or when
// the second number has a fraction.
DK_FN void dk_read_interval_time(DK_PRIVATE dk_interval_parser* p, dk_amount first) {
  const dk_i32 bits = (1 << DK_UNIT_HOUR) | (1 << DK_UNIT_MINUTE) | (1 << DK_UNIT_SECOND);
  dk_i64 hour = first.negative ? dk_neg_unchecked_i64(first.whole) : first.whole;
  dk_amount last;
  p->at++;
  if (!dk_is_digit(dk_peek_interval(p, 0)) || (p->seen & bits) || first.has_fraction) {
    dk_fail_interval(p, DK_INVALID_DATETIME);
    return;
  }
  p->seen |= bits;
  if (p->has_waiting) dk_add_waiting_days(p);
  last = dk_read_amount(p);
  dk_i64 minute = last.whole;
  dk_i64 second = 0;
  if (dk_peek_interval(p, 0) == ':' && !last.has_fraction) {
    p->at++;
    if (!dk_is_digit(dk_peek_interval(p, 0))) dk_fail_interval(p, DK_INVALID_DATETIME);
    last = dk_read_amount(p);
    second = last.whole;
  } else if (last.has_fraction || p->fields == (DK_FIELD_MINUTE | DK_FIELD_SECOND)) {
    second = minute;
    minute = hour;
    hour = 0;
  }
  if (minute > 59 || second > 60) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
  if (p->failed) return;
  dk_i64 sign = first.negative ? -1 : 1;
  p->microseconds = dk_add_product(p, p->microseconds, sign * hour, DK_USECS_PER_HOUR);
  dk_i64 rest = minute * DK_USECS_PER_MINUTE + second * DK_USECS_PER_SECOND;
  p->microseconds = dk_add_product(p, p->microseconds, sign, rest);
  dk_add_time_fraction(p, first.negative ? -last.fraction : last.fraction, DK_USECS_PER_SECOND);
}

DK_FN void dk_read_years_months(DK_PRIVATE dk_interval_parser* p, dk_amount years) {
  p->at++;
  dk_amount months = dk_read_amount(p);
  if (months.whole > 11) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
  if (months.has_fraction || years.has_fraction) dk_fail_interval(p, DK_INVALID_DATETIME);
  if (years.negative) months.whole = dk_neg_unchecked_i64(months.whole);
  dk_add_unit(p, years, DK_UNIT_YEAR);
  dk_add_unit(p, months, DK_UNIT_MONTH);
}

DK_FN void dk_read_interval_number(DK_PRIVATE dk_interval_parser* p) {
  dk_amount amount = dk_read_amount(p);
  if (p->failed) return;
  char next = dk_peek_interval(p, 0);
  if (next == ':') {
    dk_read_interval_time(p, amount);
    return;
  }
  if (next == '-' && dk_is_digit(dk_peek_interval(p, 1))) {
    dk_read_years_months(p, amount);
    return;
  }
  dk_skip_spaces(p);
  dk_i32 from = p->at;
  while (dk_is_letter(dk_peek_interval(p, 0))) p->at++;
  dk_i32 unit = dk_time_unit_of(dk_slice(p->text, from, p->at));
  if (p->at == from && p->at < p->text.length && !p->has_waiting) {
    p->has_waiting = 1;
    p->waiting = amount;
    return;
  }
  if (p->at == from && p->at == p->text.length) unit = dk_default_unit(p->fields);
  if (dk_is_digit(dk_peek_interval(p, 0))) unit = DK_UNIT_NONE;
  dk_add_unit(p, amount, unit);
}

// The word ago, at the end, turns every sign.
DK_FN void dk_read_ago(DK_PRIVATE dk_interval_parser* p) {
  dk_text rest = dk_slice(p->text, p->at, p->text.length);
  dk_bool valid =
      !p->has_waiting && rest.length == 3 && dk_begins_word(rest, DK_WORD4('a', 'g', 'o', 0)) && p->seen != 0;
  if (!valid) dk_fail_interval(p, DK_INVALID_DATETIME);
  p->at = p->text.length;
  p->months = dk_neg_unchecked_i64(p->months);
  p->days = dk_neg_unchecked_i64(p->days);
  p->microseconds = dk_neg_unchecked_i64(p->microseconds);
}

// The unit of a letter of ISO 8601, before or after the T.
DK_FN dk_i32 dk_iso_unit(char letter, dk_bool after_t) {
  if (after_t) {
    return letter == 'H'   ? DK_UNIT_HOUR
           : letter == 'M' ? DK_UNIT_MINUTE
           : letter == 'S' ? DK_UNIT_SECOND
                           : DK_UNIT_NONE;
  }
  if (letter == 'Y') return DK_UNIT_YEAR;
  if (letter == 'M') return DK_UNIT_MONTH;
  return letter == 'W' ? DK_UNIT_WEEK : letter == 'D' ? DK_UNIT_DAY : DK_UNIT_NONE;
}

DK_FN void dk_read_iso_interval(DK_PRIVATE dk_interval_parser* p) {
  dk_bool after_t = 0;
  p->at++;
  while (p->at < p->text.length && p->failed == 0) {
    if (dk_peek_interval(p, 0) == 'T' && !after_t) {
      after_t = 1;
      p->seen |= 1 << DK_UNIT_MILLENNIUM;  // a T alone is an empty interval
      p->at++;
      continue;
    }
    dk_amount amount = dk_read_amount(p);
    dk_add_unit(p, amount, dk_iso_unit(dk_peek_interval(p, 0), after_t));
    p->at++;
  }
}

// ---- the whole

// What a type with fields keeps: parts smaller than its smallest field become zero.
DK_FN dk_interval dk_cut_to_fields(dk_interval a, dk_i32 fields) {
  if (fields & DK_FIELD_SECOND) return a;
  if (fields & DK_FIELD_MINUTE) return dk_truncate_interval_time(a, DK_USECS_PER_MINUTE);
  if (fields & DK_FIELD_HOUR) return dk_truncate_interval_time(a, DK_USECS_PER_HOUR);
  if (fields & DK_FIELD_DAY) return dk_make_interval_of(a.months, a.days, 0);
  return dk_truncate_interval_months(a, fields & DK_FIELD_MONTH ? 1 : 12);
}

// For interval '3' day: `fields` are the bits of the fields that the type names, DK_FIELD_ALL for a plain interval.
DK_FN dk_interval dk_parse_interval(dk_text a, dk_i32 fields, DK_PRIVATE dk_i32* error) {
  dk_interval_parser p;
  p.text = dk_strip(a);
  p.at = 0;
  p.failed = 0;
  p.seen = 0;
  p.fields = fields;
  p.has_waiting = 0;
  p.months = 0;
  p.days = 0;
  p.microseconds = 0;
  if (dk_char_at(p.text, 0) == '@') p.at++;
  dk_skip_spaces(&p);
  if (dk_peek_interval(&p, 0) == 'P') dk_read_iso_interval(&p);
  while (p.at < p.text.length && p.failed == 0) {
    if (dk_is_letter(dk_peek_interval(&p, 0))) {
      dk_read_ago(&p);
    } else {
      dk_read_interval_number(&p);
    }
    dk_skip_spaces(&p);
  }
  if (p.seen == 0 || p.has_waiting) dk_fail_interval(&p, DK_INVALID_DATETIME);
  if (p.months != (dk_i32)p.months || p.days != (dk_i32)p.days) dk_fail_interval(&p, DK_INTERVAL_OVERFLOW);
  if (p.failed) dk_raise(error, p.failed);
  return dk_cut_to_fields(dk_make_interval_of((dk_i32)p.months, (dk_i32)p.days, p.microseconds), fields);
}

DK_FN dk_interval dk_cast_text_interval(dk_text a, DK_PRIVATE dk_i32* error) {
  return dk_parse_interval(a, DK_FIELD_ALL, error);
}
