// Casts from text to interval: PostgreSQL's input forms, decoded as it does (datetime.c, DecodeInterval and
// DecodeISO8601Interval):
//
//   1 year 2 months 3 days 04:05:06.7   1.5 weeks   2h 30m   @ 1 day ago   1-2 (years-months)   3 04:05 (days, time)
//   P1Y2M3DT4H5M6.7S   P0001-02-03T04:05:06   P00010203T040506
//
// Months, days and microseconds are kept apart; a fraction of a unit goes to the smaller ones, a month counting 30
// days. Each unit may occur once, but for ISO 8601. Bad syntax raises DK_INVALID_DATETIME, a number too large
// DK_INTERVAL_OVERFLOW.
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
} dk_amount;

typedef struct dk_interval_parser {
  dk_i32 failed;  // a dk_error
  dk_i32 seen;    // a bit for each unit
  dk_i32 fields;  // what a number without a unit may be
  dk_i32 unit;    // of the number to come: the word after it; DK_UNIT_NONE where there is none
  dk_bool ago;
  dk_i64 years;
  dk_i64 months;
  dk_i64 days;
  dk_i64 microseconds;
} dk_interval_parser;

DK_FN void dk_fail_interval(DK_PRIVATE dk_interval_parser* p, dk_i32 code) {
  if (p->failed == 0) p->failed = code;
}

// ---- adding units

// sum + a * factor, both within 64 bits; the sum within 32 bits where `is_small`.
DK_FN dk_i64 dk_add_product(DK_PRIVATE dk_interval_parser* p, dk_i64 sum, dk_i64 a, dk_i64 factor, dk_bool is_small) {
  dk_i32 overflow = 0;
  dk_i64 r = dk_add_i64(sum, dk_mul_i64(a, factor, &overflow), &overflow);
  if (overflow || (is_small && r != (dk_i32)r)) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
  return r;
}

// A fraction of a unit of so many microseconds, to the nearest.
DK_FN void dk_add_time_fraction(DK_PRIVATE dk_interval_parser* p, dk_f64 fraction, dk_i64 unit) {
  dk_f64 microseconds = fraction * (dk_f64)unit;
  dk_i64 whole = (dk_i64)microseconds;
  dk_f64 rest = microseconds - (dk_f64)whole;
  p->microseconds = dk_add_product(p, p->microseconds, whole + (rest > 0.5) - (rest < -0.5), 1, 0);
}

// A fraction of a unit of so many days: whole days, then time.
DK_FN void dk_add_day_fraction(DK_PRIVATE dk_interval_parser* p, dk_f64 fraction, dk_i32 unit) {
  dk_f64 days = fraction * unit;
  p->days = dk_add_product(p, p->days, (dk_i64)days, 1, 1);
  dk_add_time_fraction(p, days - (dk_f64)(dk_i64)days, DK_USECS_PER_DAY);
}

DK_FN void dk_add_time(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i64 unit) {
  p->microseconds = dk_add_product(p, p->microseconds, amount.whole, unit, 0);
  dk_add_time_fraction(p, amount.fraction, unit);
}
DK_FN void dk_add_days(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i32 unit) {
  p->days = dk_add_product(p, p->days, amount.whole, unit, 1);
  dk_add_day_fraction(p, amount.fraction, unit);
}
DK_FN void dk_add_months(DK_PRIVATE dk_interval_parser* p, dk_amount amount) {
  p->months = dk_add_product(p, p->months, amount.whole, 1, 1);
  dk_add_day_fraction(p, amount.fraction, 30);
}
DK_FN void dk_add_years(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i32 years) {
  p->years = dk_add_product(p, p->years, amount.whole, years, 1);
  p->months = dk_add_product(p, p->months, (dk_i64)DK_MATH1_F64(rint, amount.fraction * years * 12), 1, 1);
}

DK_FN void dk_add_unit(DK_PRIVATE dk_interval_parser* p, dk_amount amount, dk_i32 unit) {
  switch (unit) {
    case DK_UNIT_MICROSECONDS: dk_add_time(p, amount, 1); break;
    case DK_UNIT_MILLISECONDS: dk_add_time(p, amount, 1000); break;
    case DK_UNIT_SECOND: dk_add_time(p, amount, DK_USECS_PER_SECOND); break;
    case DK_UNIT_MINUTE: dk_add_time(p, amount, DK_USECS_PER_MINUTE); break;
    case DK_UNIT_HOUR: dk_add_time(p, amount, DK_USECS_PER_HOUR); break;
    case DK_UNIT_DAY: dk_add_days(p, amount, 1); break;
    case DK_UNIT_WEEK: dk_add_days(p, amount, 7); break;
    case DK_UNIT_MONTH: dk_add_months(p, amount); break;
    case DK_UNIT_YEAR: dk_add_years(p, amount, 1); break;
    case DK_UNIT_DECADE: dk_add_years(p, amount, 10); break;
    case DK_UNIT_CENTURY: dk_add_years(p, amount, 100); break;
    case DK_UNIT_MILLENNIUM: dk_add_years(p, amount, 1000); break;
    default: dk_fail_interval(p, DK_INVALID_DATETIME);
  }
}

// ---- pieces, the last one first: a unit stands behind its number

// What a number is that no unit follows: the smallest of the fields, or seconds.
DK_FN dk_i32 dk_default_unit(dk_i32 fields) {
  if (fields & DK_FIELD_SECOND) return DK_UNIT_SECOND;
  if (fields & DK_FIELD_MINUTE) return DK_UNIT_MINUTE;
  if (fields & DK_FIELD_HOUR) return DK_UNIT_HOUR;
  if (fields & DK_FIELD_DAY) return DK_UNIT_DAY;
  return fields & DK_FIELD_MONTH ? DK_UNIT_MONTH : DK_UNIT_YEAR;
}

// Digits with the sign of the piece as a number; *at moves behind them.
DK_FN dk_i64 dk_read_signed(DK_PRIVATE dk_interval_parser* p, dk_piece piece, DK_PRIVATE dk_i32* at) {
  dk_i64 value = 0;
  dk_i32 overflow = 0;
  dk_i64 sign = piece.negative ? -1 : 1;
  for (; dk_is_digit(dk_char_at(piece.text, *at)); *at += 1) {
    value = dk_add_i64(dk_mul_i64(value, 10, &overflow), sign * (dk_char_at(piece.text, *at) - '0'), &overflow);
  }
  if (overflow) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
  return value;
}

DK_FN void dk_see(DK_PRIVATE dk_interval_parser* p, dk_i32 bits) {
  if (p->seen & bits) dk_fail_interval(p, DK_INVALID_DATETIME);
  p->seen |= bits;
}

// Whether the piece is hours:minutes[:seconds], which is added then.
DK_FN dk_bool dk_take_clock(DK_PRIVATE dk_interval_parser* p, dk_piece piece) {
  const dk_i32 seconds = (1 << DK_UNIT_SECOND) | (1 << DK_UNIT_MILLISECONDS) | (1 << DK_UNIT_MICROSECONDS);
  dk_clock clock;
  dk_i32 error = dk_read_clock(piece.text, p->fields == (DK_FIELD_MINUTE | DK_FIELD_SECOND), &clock);
  if (error != DK_OK && piece.kind == DK_PIECE_SIGNED) return 0;
  if (error != DK_OK) dk_fail_interval(p, error == DK_DATETIME_OVERFLOW ? DK_INTERVAL_OVERFLOW : error);
  if (p->failed) return 1;
  dk_see(p, (1 << DK_UNIT_HOUR) | (1 << DK_UNIT_MINUTE) | seconds);
  dk_i64 sign = piece.negative ? -1 : 1;
  dk_i64 hour = clock.hour;
  clock.hour = 0;
  dk_i64 time = dk_add_product(p, dk_time_of_clock(clock), hour, DK_USECS_PER_HOUR, 0);
  p->microseconds = dk_add_product(p, 0, time, sign, 0);  // PostgreSQL forgets the fractions of units after it, too
  if (p->failed && piece.kind == DK_PIECE_SIGNED) p->failed = DK_INVALID_DATETIME;
  p->unit = DK_UNIT_DAY;
  return 1;
}

// A number, or years-months.
DK_FN void dk_take_amount(DK_PRIVATE dk_interval_parser* p, dk_piece piece) {
  dk_i32 at = 0;
  dk_i32 unit = p->unit == DK_UNIT_NONE ? dk_default_unit(p->fields) : p->unit;
  dk_amount amount;
  amount.whole = dk_read_signed(p, piece, &at);
  amount.fraction = 0;
  if (dk_char_at(piece.text, at) == '-') {
    at++;
    dk_i64 months = dk_read_number(piece.text, &at);
    if (months > 11) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
    unit = DK_UNIT_MONTH;
    amount.whole = dk_add_product(p, piece.negative ? -months : months, amount.whole, 12, 0);
  } else if (dk_char_at(piece.text, at) == '.') {
    amount.fraction = dk_read_decimals(piece.text, at, &at);
    if (piece.negative) amount.fraction = -amount.fraction;
  }
  if (at < piece.text.length) dk_fail_interval(p, DK_INVALID_DATETIME);
  if (p->failed) return;
  dk_i32 bits = unit < 0 ? 0 : 1 << unit;
  if (unit == DK_UNIT_SECOND && amount.fraction != 0) bits |= (1 << DK_UNIT_MILLISECONDS) | (1 << DK_UNIT_MICROSECONDS);
  dk_see(p, bits);
  dk_add_unit(p, amount, unit);
  p->unit = unit == DK_UNIT_HOUR ? DK_UNIT_DAY : unit;
}

DK_FN void dk_take_unit_word(DK_PRIVATE dk_interval_parser* p, dk_piece piece) {
  dk_i32 unit = dk_time_unit_of(piece.text);
  dk_bool is_ago = piece.text.length == 3 && dk_lower_char(piece.text.data[0]) == 'a' &&
                   dk_lower_char(piece.text.data[1]) == 'g' && dk_lower_char(piece.text.data[2]) == 'o';
  if (piece.has_sign || (unit == DK_UNIT_NONE && !is_ago)) dk_fail_interval(p, DK_INVALID_DATETIME);
  if (is_ago) p->ago = 1;
  p->unit = is_ago ? DK_UNIT_QUARTER : unit;  // which no number may have
}

DK_FN void dk_take_interval_piece(DK_PRIVATE dk_interval_parser* p, dk_piece piece) {
  if (piece.kind == DK_PIECE_WORD) {
    dk_take_unit_word(p, piece);
  } else if (piece.kind == DK_PIECE_BAD) {
    dk_fail_interval(p, DK_INVALID_DATETIME);
  } else {
    dk_bool has_colon = piece.kind == DK_PIECE_SIGNED && dk_find_byte(piece.text, 0, ':') >= 0;
    if (!(piece.kind == DK_PIECE_TIME || has_colon) || !dk_take_clock(p, piece)) dk_take_amount(p, piece);
  }
}

DK_FN void dk_negate_parts(DK_PRIVATE dk_interval_parser* p) {
  p->years = dk_add_product(p, 0, p->years, -1, 1);
  p->months = dk_add_product(p, 0, p->months, -1, 1);
  p->days = dk_add_product(p, 0, p->days, -1, 1);
  p->microseconds = dk_add_product(p, 0, p->microseconds, -1, 0);
}

DK_FN void dk_start_interval(DK_PRIVATE dk_interval_parser* p, dk_i32 fields) {
  p->failed = 0;
  p->seen = 0;
  p->fields = fields;
  p->unit = DK_UNIT_NONE;
  p->ago = 0;
  p->years = 0;
  p->months = 0;
  p->days = 0;
  p->microseconds = 0;
}

DK_FN void dk_read_interval(DK_PRIVATE dk_interval_parser* p, dk_text a) {
  dk_i32 starts[DK_MOST_PIECES];
  dk_i32 count = 0;
  dk_piece piece = dk_next_piece(a, 0);
  for (dk_i32 at = 0; piece.kind != DK_PIECE_END && p->failed == 0; piece = dk_next_piece(a, at)) {
    if (count == DK_MOST_PIECES || piece.kind == DK_PIECE_BAD) dk_fail_interval(p, DK_INVALID_DATETIME);
    if (p->failed == 0) starts[count++] = at;
    at = piece.end;
  }
  while (count > 0 && p->failed == 0) {
    count--;
    dk_take_interval_piece(p, dk_next_piece(a, starts[count]));
  }
  if (p->seen == 0) dk_fail_interval(p, DK_INVALID_DATETIME);
  if (p->ago && p->failed == 0) dk_negate_parts(p);
}

// ---- ISO 8601

// A number with sign, fraction and exponent from *at on; *digits are those of its whole part as it is written.
DK_FN dk_amount dk_read_iso_number(DK_PRIVATE dk_interval_parser* p, dk_text a, DK_PRIVATE dk_i32* at,
                                   DK_PRIVATE dk_i32* digits) {
  dk_amount r;
  dk_bool negative = dk_char_at(a, *at) == '-';
  dk_i32 from = *at + negative;
  dk_i32 power = 0;
  dk_u64 value = 0;
  dk_i32 exponent = 0;
  *at = dk_after_digits(a, from);
  *digits = *at - from;
  dk_i32 point = *at;
  if (dk_char_at(a, *at) == '.') *at = dk_after_digits(a, *at + 1);
  if (*at - from - (*at > point) < 1) dk_fail_interval(p, DK_INVALID_DATETIME);
  for (dk_i32 i = from; i < *at; i++) {
    if (i == point) continue;
    if (value < DK_U64(100000000000000000)) {
      value = value * 10 + (dk_u64)(a.data[i] - '0');
      power -= i > point;
    } else {
      power += i < point;
    }
  }
  dk_i32 sign_at = *at + 1 + (dk_char_at(a, *at + 1) == '-' || dk_char_at(a, *at + 1) == '+');
  if ((dk_char_at(a, *at) == 'e' || dk_char_at(a, *at) == 'E') && dk_is_digit(dk_char_at(a, sign_at))) {
    dk_bool down = dk_char_at(a, *at + 1) == '-';
    *at = sign_at;
    for (; dk_is_digit(dk_char_at(a, *at)); *at += 1)
      exponent = exponent < 1000 ? exponent * 10 + (a.data[*at] - '0') : 1000;
    power += down ? -exponent : exponent;
  }
  dk_f64 number = (dk_f64)value;
  for (; power > 0 && number != 0 && number < 1e16; power--) number *= 10;
  if (power < 0) number = power < -18 ? 0 : number / (dk_f64)dk_powers_of_ten[-power];
  if (number > 1e15) dk_fail_interval(p, DK_INTERVAL_OVERFLOW);
  if (number > 1e15) number = 0;
  if (negative) number = -number;
  r.whole = (dk_i64)number;
  r.fraction = number - (dk_f64)r.whole;
  return r;
}

DK_FN dk_amount dk_whole_amount(dk_i64 whole) {
  dk_amount r;
  r.whole = whole;
  r.fraction = 0;
  return r;
}

// Designators: the unit of a letter before or after the T.
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

// The rest of a date or time without designators, whose first number has been read: yyyymmdd, yyyy[-mm[-dd]], hhmmss,
// hh[:mm[:ss]]. Returns the byte after it.
DK_FN dk_i32 dk_read_iso_parts(DK_PRIVATE dk_interval_parser* p, dk_text a, dk_i32 at, dk_amount first, dk_i32 digits,
                               dk_bool after_t) {
  char end = dk_char_at(a, at);
  if (digits == (after_t ? 6 : 8) && (end == 0 || (end == 'T' && !after_t))) {
    dk_add_unit(p, dk_whole_amount(first.whole / 10000), after_t ? DK_UNIT_HOUR : DK_UNIT_YEAR);
    dk_add_unit(p, dk_whole_amount(first.whole / 100 % 100), after_t ? DK_UNIT_MINUTE : DK_UNIT_MONTH);
    dk_add_unit(p, dk_whole_amount(first.whole % 100), after_t ? DK_UNIT_SECOND : DK_UNIT_DAY);
    dk_add_time_fraction(p, first.fraction, after_t ? 1 : DK_USECS_PER_DAY);
    return at;
  }
  dk_add_unit(p, first, after_t ? DK_UNIT_HOUR : DK_UNIT_YEAR);
  for (dk_i32 part = 1; part < 3 && at < a.length && p->failed == 0; part++) {
    if (dk_char_at(a, at) != (after_t ? ':' : '-')) break;
    at++;
    dk_amount amount = dk_read_iso_number(p, a, &at, &digits);
    dk_i32 unit = part == 1 ? (after_t ? DK_UNIT_MINUTE : DK_UNIT_MONTH) : (after_t ? DK_UNIT_SECOND : DK_UNIT_DAY);
    dk_add_unit(p, amount, unit);
  }
  if (at < a.length && (after_t || dk_char_at(a, at) != 'T')) dk_fail_interval(p, DK_INVALID_DATETIME);
  return at;
}

DK_FN void dk_read_iso_interval(DK_PRIVATE dk_interval_parser* p, dk_text a) {
  dk_bool after_t = 0;
  dk_bool has_designator = 0;
  if (a.length < 2 || a.data[0] != 'P') dk_fail_interval(p, DK_INVALID_DATETIME);
  for (dk_i32 at = 1; at < a.length && p->failed == 0;) {
    if (a.data[at] == 'T') {
      after_t = 1;
      has_designator = 0;
      at++;
      continue;
    }
    dk_i32 digits = 0;
    dk_amount amount = dk_read_iso_number(p, a, &at, &digits);
    char letter = dk_char_at(a, at);
    dk_i32 unit = dk_iso_unit(letter, after_t);
    if (p->failed) return;
    if (unit != DK_UNIT_NONE) {
      dk_add_unit(p, amount, unit);
      has_designator = 1;
      at++;
    } else if (has_designator || !(letter == 0 || letter == (after_t ? ':' : '-') || (letter == 'T' && !after_t))) {
      dk_fail_interval(p, DK_INVALID_DATETIME);
    } else {
      at = dk_read_iso_parts(p, a, at, amount, digits, after_t);
    }
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

// An interval as one of the type interval [fields] (digits): cut to the fields, seconds rounded to so many digits. Six
// digits and more change nothing.
DK_FN dk_interval dk_fit_interval(dk_interval a, dk_i32 fields, dk_i32 digits) {
  dk_interval r = dk_cut_to_fields(a, fields);
  if (digits < 0 || digits > 5) return r;
  dk_i64 unit = 1;
  for (dk_i32 i = digits; i < 6; i++) unit *= 10;
  dk_i64 to_nearest = r.microseconds >= 0 ? unit / 2 : -(unit / 2);
  dk_i64 moved = dk_add_unchecked_i64(r.microseconds, to_nearest);
  r.microseconds = moved - moved % unit;
  return r;
}

// For interval '3' day: `fields` are the bits of the fields that the type names, DK_FIELD_ALL for a plain interval.
DK_FN dk_interval dk_parse_interval(dk_text a, dk_i32 fields, DK_PRIVATE dk_i32* error) {
  dk_interval_parser p;
  dk_start_interval(&p, fields);
  dk_read_interval(&p, a);
  if (p.failed == DK_INVALID_DATETIME) {
    dk_start_interval(&p, fields);
    dk_read_iso_interval(&p, a);
  }
  dk_i64 months = p.failed ? 0 : p.years * 12 + p.months;
  if (months != (dk_i32)months && p.failed == 0) p.failed = DK_DATETIME_OVERFLOW;
  if (p.failed) {
    dk_raise(error, p.failed);
    return dk_make_interval_of(0, 0, 0);
  }
  return dk_make_interval_of((dk_i32)months, (dk_i32)p.days, p.microseconds);
}

DK_FN dk_interval dk_cast_text_interval(dk_text a, DK_PRIVATE dk_i32* error) {
  return dk_parse_interval(a, DK_FIELD_ALL, error);
}
