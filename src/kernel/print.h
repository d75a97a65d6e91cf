// Casts to text: numbers, dates, timestamps and intervals as PostgreSQL shows them with DateStyle ISO and IntervalStyle
// postgres. Each has a _size, the most bytes it can take, and a _write; see text_out.h.
#pragma once

// ---- numbers

DK_FN dk_i32 dk_count_digits(dk_u64 a) {
  dk_i32 digits = 1;
  while (digits < 20 && a >= dk_powers_of_ten[digits]) digits++;
  return digits;
}

// `digits` decimal digits of a, with leading zeros, at out + at. Returns the place after them.
DK_FN dk_i32 dk_put_digits(dk_u64 a, dk_i32 digits, DK_GLOBAL char* out, dk_i32 at) {
  for (dk_i32 i = digits - 1; i >= 0; i--) {
    out[at + i] = (char)('0' + (dk_i32)(a % 10));
    a /= 10;
  }
  return at + digits;
}
DK_FN dk_i32 dk_put_number(dk_u64 a, DK_GLOBAL char* out, dk_i32 at) {
  return dk_put_digits(a, dk_count_digits(a), out, at);
}
DK_FN dk_i32 dk_put_char(char c, DK_GLOBAL char* out, dk_i32 at) {
  out[at] = c;
  return at + 1;
}

DK_FN dk_i32 dk_cast_i64_text_size(dk_i64 a) { return 20; }
DK_FN dk_i32 dk_cast_i64_text_write(dk_i64 a, DK_GLOBAL char* out) {
  dk_i32 at = a < 0 ? dk_put_char('-', out, 0) : 0;
  return dk_put_number(dk_magnitude_i64(a), out, at);
}
DK_FN dk_i32 dk_cast_i32_text_size(dk_i32 a) { return 11; }
DK_FN dk_i32 dk_cast_i32_text_write(dk_i32 a, DK_GLOBAL char* out) { return dk_cast_i64_text_write(a, out); }
DK_FN dk_i32 dk_cast_i16_text_size(dk_i32 a) { return 11; }
DK_FN dk_i32 dk_cast_i16_text_write(dk_i32 a, DK_GLOBAL char* out) { return dk_cast_i64_text_write(a, out); }

// Sign, digits, point, `scale` digits; at least one digit before the point.
DK_FN dk_i32 dk_put_decimal(dk_u128 magnitude, dk_bool negative, dk_i32 scale, DK_GLOBAL char* out) {
  char digits[40];
  dk_i32 count = 0;
  while (!dk_is_zero_u128(magnitude) || count <= scale) {
    dk_u128 chunk;
    magnitude = dk_divide_u128(magnitude, dk_make_u128(0, dk_powers_of_ten[19]), &chunk);
    for (dk_i32 i = 0; i < 19 && count < 40; i++) {
      digits[count++] = (char)('0' + (dk_i32)(chunk.lo % 10));
      chunk.lo /= 10;
      if (chunk.lo == 0 && dk_is_zero_u128(magnitude) && count > scale) break;
    }
    if (count >= 40) break;
  }
  dk_i32 at = negative ? dk_put_char('-', out, 0) : 0;
  for (dk_i32 i = count - 1; i >= 0; i--) {
    at = dk_put_char(digits[i], out, at);
    if (i == scale && i > 0) at = dk_put_char('.', out, at);
  }
  return at;
}

DK_FN dk_i32 dk_cast_n128_text_size(dk_i128 a, dk_i32 scale_a) { return 42; }
DK_FN dk_i32 dk_cast_n128_text_write(dk_i128 a, dk_i32 scale_a, DK_GLOBAL char* out) {
  return dk_put_decimal(dk_magnitude_i128(a), a.hi < 0, scale_a, out);
}
DK_FN dk_i32 dk_cast_n64_text_size(dk_i64 a, dk_i32 scale_a) { return 42; }
DK_FN dk_i32 dk_cast_n64_text_write(dk_i64 a, dk_i32 scale_a, DK_GLOBAL char* out) {
  return dk_put_decimal(dk_make_u128(0, dk_magnitude_i64(a)), a < 0, scale_a, out);
}

// ---- words

// The first characters of a word given as a number: up to 8, the first one lowest.
DK_FN dk_i32 dk_put_word(dk_u64 word, DK_GLOBAL char* out, dk_i32 at) {
  for (; word != 0; word >>= 8) at = dk_put_char((char)(word & 0xFF), out, at);
  return at;
}
#define DK_WORD4(a, b, c, d) ((dk_u64)(a) | ((dk_u64)(b) << 8) | ((dk_u64)(c) << 16) | ((dk_u64)(d) << 24))
#define DK_WORD8(a, b, c, d, e, f, g, h) (DK_WORD4(a, b, c, d) | (DK_WORD4(e, f, g, h) << 32))

DK_FN dk_i32 dk_cast_bool_text_size(dk_bool a) { return 5; }
DK_FN dk_i32 dk_cast_bool_text_write(dk_bool a, DK_GLOBAL char* out) {
  return dk_put_word(a ? DK_WORD4('t', 'r', 'u', 'e') : DK_WORD8('f', 'a', 'l', 's', 'e', 0, 0, 0), out, 0);
}

// ---- dates and times

// Year of at least four digits, month, day. Years BC are written as positive numbers; the caller appends " BC".
DK_FN dk_i32 dk_put_date(dk_civil c, DK_GLOBAL char* out, dk_i32 at) {
  dk_u64 year = (dk_u64)(c.year > 0 ? c.year : 1 - c.year);
  dk_i32 digits = dk_count_digits(year);
  at = dk_put_digits(year, digits < 4 ? 4 : digits, out, at);
  at = dk_put_char('-', out, at);
  at = dk_put_digits((dk_u64)c.month, 2, out, at);
  at = dk_put_char('-', out, at);
  return dk_put_digits((dk_u64)c.day, 2, out, at);
}

// Hours of at least two digits, minutes, seconds, and the fraction of the second without trailing zeros.
DK_FN dk_i32 dk_put_time(dk_u64 microseconds, DK_GLOBAL char* out, dk_i32 at) {
  dk_u64 seconds = microseconds / 1000000;
  dk_u64 fraction = microseconds % 1000000;
  dk_u64 hours = seconds / 3600;
  at = hours < 100 ? dk_put_digits(hours, 2, out, at) : dk_put_number(hours, out, at);
  at = dk_put_char(':', out, at);
  at = dk_put_digits(seconds / 60 % 60, 2, out, at);
  at = dk_put_char(':', out, at);
  at = dk_put_digits(seconds % 60, 2, out, at);
  if (fraction == 0) return at;
  at = dk_put_digits(fraction, 6, out, dk_put_char('.', out, at));
  while (out[at - 1] == '0') at--;
  return at;
}

DK_FN dk_i32 dk_put_infinity(dk_bool negative, DK_GLOBAL char* out) {
  dk_i32 at = negative ? dk_put_char('-', out, 0) : 0;
  return dk_put_word(DK_WORD8('i', 'n', 'f', 'i', 'n', 'i', 't', 'y'), out, at);
}
DK_FN dk_i32 dk_put_era(dk_civil c, DK_GLOBAL char* out, dk_i32 at) {
  return c.year > 0 ? at : dk_put_word(DK_WORD4(' ', 'B', 'C', 0), out, at);
}

DK_FN dk_i32 dk_cast_date_text_size(dk_i32 a) { return 16; }
DK_FN dk_i32 dk_cast_date_text_write(dk_i32 a, DK_GLOBAL char* out) {
  if (!dk_is_finite_date(a)) return dk_put_infinity(a < 0, out);
  dk_civil c = dk_civil_of_days(a);
  return dk_put_era(c, out, dk_put_date(c, out, 0));
}

DK_FN dk_i32 dk_cast_timestamp_text_size(dk_i64 a) { return 32; }
DK_FN dk_i32 dk_cast_timestamp_text_write(dk_i64 a, DK_GLOBAL char* out) {
  if (!dk_is_finite_timestamp(a)) return dk_put_infinity(a < 0, out);
  dk_civil c = dk_civil_of_days(dk_day_of_timestamp(a));
  dk_i32 at = dk_put_char(' ', out, dk_put_date(c, out, 0));
  return dk_put_era(c, out, dk_put_time((dk_u64)dk_time_of_timestamp(a), out, at));
}

// ---- intervals

// One part, "-3 mons", unless it is zero. `negative_before` tells that the part before was negative: then a positive
// one carries a plus sign.
DK_FN dk_i32 dk_put_part(dk_i64 value, dk_u64 unit, DK_PRIVATE dk_bool* negative_before, DK_GLOBAL char* out,
                         dk_i32 at) {
  if (value == 0) return at;
  if (at > 0) at = dk_put_char(' ', out, at);
  if (value < 0 || *negative_before) at = dk_put_char(value < 0 ? '-' : '+', out, at);
  at = dk_put_char(' ', out, dk_put_number(dk_magnitude_i64(value), out, at));
  at = dk_put_word(unit, out, at);
  *negative_before = value < 0;
  return value == 1 ? at : dk_put_char('s', out, at);
}

// 16 + 8 + 17 + 25 bytes at most.
DK_FN dk_i32 dk_cast_interval_text_size(dk_interval a) { return 72; }
DK_FN dk_i32 dk_cast_interval_text_write(dk_interval a, DK_GLOBAL char* out) {
  dk_bool negative_before = 0;
  dk_i32 at = dk_put_part(a.months / 12, DK_WORD4('y', 'e', 'a', 'r'), &negative_before, out, 0);
  at = dk_put_part(a.months % 12, DK_WORD4('m', 'o', 'n', 0), &negative_before, out, at);
  at = dk_put_part(a.days, DK_WORD4('d', 'a', 'y', 0), &negative_before, out, at);
  if (at > 0 && a.microseconds == 0) return at;
  if (at > 0) at = dk_put_char(' ', out, at);
  if (a.microseconds < 0 || negative_before) at = dk_put_char(a.microseconds < 0 ? '-' : '+', out, at);
  return dk_put_time(dk_magnitude_i64(a.microseconds), out, at);
}
