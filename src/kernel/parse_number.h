// Casts from text to boolean, integers and numeric, accepting what PostgreSQL's input functions accept.
//
// double precision and real are in convert_host.h: reading them correctly rounded is the C++ library's.
#pragma once

DK_FN dk_bool dk_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
DK_FN dk_bool dk_is_digit(char c) { return c >= '0' && c <= '9'; }
DK_FN dk_bool dk_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Without white space at both ends.
DK_FN dk_text dk_strip(dk_text a) {
  dk_i32 from = 0;
  dk_i32 to = a.length;
  while (from < to && dk_is_space(a.data[from])) from++;
  while (to > from && dk_is_space(a.data[to - 1])) to--;
  return dk_slice(a, from, to);
}

// The byte at a place, 0 past the end.
DK_FN char dk_char_at(dk_text a, dk_i32 at) { return at < a.length ? a.data[at] : 0; }

// Whether a is, in any case, the beginning of a word of up to 8 letters that is given as a number.
DK_FN dk_bool dk_begins_word(dk_text a, dk_u64 word) {
  for (dk_i32 i = 0; i < a.length; i++) {
    if (word == 0 || dk_lower_char(a.data[i]) != (char)(word & 0xFF)) return 0;
    word >>= 8;
  }
  return 1;
}

// A beginning of a word will do; "o" alone could be on or off.
DK_FN dk_bool dk_cast_text_bool(dk_text a, DK_PRIVATE dk_i32* error) {
  a = dk_strip(a);
  if (a.length > 0 &&
      (dk_begins_word(a, DK_WORD4('t', 'r', 'u', 'e')) || dk_begins_word(a, DK_WORD4('y', 'e', 's', 0)) ||
       dk_begins_word(a, '1') || (a.length == 2 && dk_begins_word(a, DK_WORD4('o', 'n', 0, 0))))) {
    return 1;
  }
  if (a.length > 0 &&
      (dk_begins_word(a, DK_WORD8('f', 'a', 'l', 's', 'e', 0, 0, 0)) || dk_begins_word(a, DK_WORD4('n', 'o', 0, 0)) ||
       dk_begins_word(a, '0') || (a.length > 1 && dk_begins_word(a, DK_WORD4('o', 'f', 'f', 0))))) {
    return 0;
  }
  dk_raise(error, DK_INVALID_TEXT);
  return 0;
}

// Accumulates downwards from zero for negative numbers, so that the least one needs no case of its own.
DK_FN dk_i64 dk_cast_text_i64(dk_text a, DK_PRIVATE dk_i32* error) {
  a = dk_strip(a);
  dk_bool negative = dk_char_at(a, 0) == '-';
  dk_i32 at = negative || dk_char_at(a, 0) == '+';
  dk_bool valid = at < a.length;
  dk_i64 r = 0;
  dk_i32 overflow = 0;
  for (; at < a.length; at++) {
    dk_i32 digit = a.data[at] - '0';
    valid = valid && digit >= 0 && digit <= 9;
    r = dk_add_i64(dk_mul_i64(r, 10, &overflow), negative ? -digit : digit, &overflow);
  }
  if (overflow) dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
  if (!valid) dk_raise(error, DK_INVALID_TEXT);
  return r;
}

// Keeps an error of the text; a number that is one but does not fit is out of range.
DK_FN dk_i32 dk_cast_text_i32(dk_text a, DK_PRIVATE dk_i32* error) {
  dk_i32 failed = 0;
  dk_i64 r = dk_cast_text_i64(a, &failed);
  if (failed) dk_raise(error, failed);
  return failed ? 0 : dk_narrow_i32(r, error);
}
DK_FN dk_i32 dk_cast_text_i16(dk_text a, DK_PRIVATE dk_i32* error) {
  dk_i32 failed = 0;
  dk_i32 r = dk_cast_text_i32(a, &failed);
  if (failed) dk_raise(error, failed);
  return failed ? 0 : dk_check_i16(r, error);
}

// ---- numeric

// The parts of a decimal number in a text: digits in [from, to), among which there may be a point.
typedef struct dk_decimal_text {
  dk_bool valid;
  dk_bool negative;
  dk_i32 from;
  dk_i32 to;
  dk_bool overflow;  // an exponent, or places after the point, beyond all limits
  dk_i32 digits;
  dk_i64 exponent;  // of the last digit
} dk_decimal_text;

// Exponents from here on are out of range, even of zero, and so are more places than this; as in PostgreSQL.
#define DK_EXPONENT_LIMIT 1073741823
#define DK_MOST_PLACES 16383

// The exponent after an e, at most DK_EXPONENT_LIMIT in magnitude.
DK_FN dk_i32 dk_scan_exponent(dk_text a, dk_i32 at, DK_PRIVATE dk_bool* valid) {
  dk_bool negative = dk_char_at(a, at) == '-';
  if (negative || dk_char_at(a, at) == '+') at++;
  dk_i64 exponent = 0;
  *valid = at < a.length;
  for (; at < a.length; at++) {
    if (!dk_is_digit(a.data[at])) {
      *valid = 0;
      break;
    }
    exponent = exponent * 10 + (a.data[at] - '0');
    if (exponent > DK_EXPONENT_LIMIT) exponent = DK_EXPONENT_LIMIT;
  }
  return (dk_i32)(negative ? -exponent : exponent);
}

DK_FN dk_decimal_text dk_scan_decimal(dk_text a) {
  dk_decimal_text r;
  dk_i32 at = 0;
  dk_bool after_point = 0;
  r.negative = dk_char_at(a, 0) == '-';
  if (r.negative || dk_char_at(a, 0) == '+') at++;
  r.from = at;
  r.digits = 0;
  r.exponent = 0;
  r.overflow = 0;
  for (; at < a.length; at++) {
    if (a.data[at] == '.' && !after_point) {
      after_point = 1;
    } else if (dk_is_digit(a.data[at])) {
      r.digits++;
      r.exponent -= after_point;
    } else {
      break;
    }
  }
  r.to = at;
  r.valid = r.digits > 0;
  if (at < a.length) {
    dk_bool valid = 0;
    dk_i32 exponent = 0;
    if (dk_lower_char(a.data[at]) == 'e') exponent = dk_scan_exponent(a, at + 1, &valid);
    r.exponent += exponent;
    r.valid = r.valid && valid;
    r.overflow = exponent >= DK_EXPONENT_LIMIT;
  }
  r.overflow = r.overflow || r.exponent < -DK_MOST_PLACES;
  return r;
}

// inf or infinity in any case.
DK_FN dk_bool dk_is_infinity(dk_text a) {
  return (a.length == 3 && dk_begins_word(a, DK_WORD4('i', 'n', 'f', 0))) ||
         (a.length == 8 && dk_begins_word(a, DK_WORD8('i', 'n', 'f', 'i', 'n', 'i', 't', 'y')));
}

DK_FN dk_bool dk_is_nan_word(dk_text a) { return a.length == 3 && dk_begins_word(a, DK_WORD4('n', 'a', 'n', 0)); }

// What a text is that has no decimal number: NaN, which has no sign, and infinity are none that fixed point can hold.
DK_FN dk_i32 dk_no_decimal_error(dk_text a) {
  dk_bool sign = dk_char_at(a, 0) == '-' || dk_char_at(a, 0) == '+';
  return dk_is_nan_word(a) || dk_is_infinity(dk_slice(a, sign, a.length)) ? DK_NO_FIXED_POINT : DK_INVALID_TEXT;
}

// magnitude * 10 + digit; stays at 2^128 - 1 once it would leave 38 digits.
DK_FN dk_u128 dk_append_digit(dk_u128 magnitude, dk_i32 digit) {
  if (magnitude.hi == 0 && magnitude.lo < dk_powers_of_ten[18]) {
    return dk_make_u128(0, magnitude.lo * 10 + (dk_u64)digit);
  }
  if (!dk_lt_u128(magnitude, dk_power_of_ten(37))) return dk_make_u128(~DK_U64(0), ~DK_U64(0));
  return dk_add_u128(dk_mul_u128(magnitude, dk_make_u128(0, 10)).lo, dk_make_u128(0, (dk_u64)digit));
}

// The digits that stand at or above 10^-scale; the first one below rounds.
DK_FN dk_i128 dk_cast_text_n128(dk_text a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  a = dk_strip(a);
  dk_decimal_text parts = dk_scan_decimal(a);
  if (!parts.valid) {
    dk_raise(error, dk_no_decimal_error(a));
    return dk_make_i128(0, 0);
  }
  dk_i64 kept = parts.digits + parts.exponent + scale;
  dk_u128 magnitude = dk_make_u128(0, 0);
  dk_i64 seen = 0;
  for (dk_i32 at = parts.from; at < parts.to && seen <= kept; at++) {
    if (a.data[at] == '.') continue;
    dk_i32 digit = a.data[at] - '0';
    if (seen < kept) magnitude = dk_append_digit(magnitude, digit);
    if (seen == kept && digit >= 5)
      magnitude = dk_add_u128(magnitude, dk_make_u128(0, !dk_exceeds_38_digits(magnitude)));
    seen++;
  }
  for (; seen < kept && !dk_is_zero_u128(magnitude) && !dk_exceeds_38_digits(magnitude); seen++) {
    magnitude = dk_append_digit(magnitude, 0);
  }
  if (parts.overflow || dk_exceeds_38_digits(magnitude)) {
    dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
    return dk_make_i128(0, 0);
  }
  return dk_check_digits_i128(dk_with_sign(magnitude, parts.negative), precision, error);
}

DK_FN dk_i64 dk_cast_text_n64(dk_text a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return (dk_i64)dk_cast_text_n128(a, precision, scale, error).lo;
}
