// The casts that only the CPU computes: between floating point and decimal digits, correctly rounded by the C++
// library. Not part of the kernel subset; rows of functions.def that end here carry DK_HOST.
#pragma once

#include <charconv>
#include <cmath>
#include <limits>

// ---- text to floating point

// Digits with point and exponent, inf, infinity or nan in any case, white space around. A number that overflows, or
// that is not zero and underflows to it, is out of range.
template <typename Float>
static inline Float dk_parse_float(dk_text a, dk_i32* error) {
  a = dk_strip(a);
  bool negative = dk_char_at(a, 0) == '-';
  if (negative || dk_char_at(a, 0) == '+') a = dk_slice(a, 1, a.length);
  Float value = 0;
  if (a.length > 0 && (dk_is_digit(a.data[0]) || a.data[0] == '.')) {
    auto [end, code] = std::from_chars(a.data, a.data + a.length, value);
    if (code == std::errc::result_out_of_range) dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
    if (code == std::errc::invalid_argument || end != a.data + a.length) dk_raise(error, DK_INVALID_TEXT);
  } else if (dk_is_nan_word(a) || dk_is_infinity(a)) {
    value = dk_is_nan_word(a) ? std::numeric_limits<Float>::quiet_NaN() : std::numeric_limits<Float>::infinity();
  } else {
    dk_raise(error, DK_INVALID_TEXT);
  }
  return negative ? -value : value;
}

static inline dk_f64 dk_cast_text_f64(dk_text a, dk_i32* error) { return dk_parse_float<dk_f64>(a, error); }
static inline dk_f32 dk_cast_text_f32(dk_text a, dk_i32* error) { return dk_parse_float<dk_f32>(a, error); }

// ---- floating point to text

// Whether decimal digits lie exactly half way between a floating-point number and a neighbour of it. That takes at most
// 17 digits only among whole numbers, and below 10^37 those are compared exactly; above, the answer is no.
template <typename Float>
static inline bool dk_is_half_way(const char* begin, const char* end, Float a) {
  Float magnitude = std::fabs(a);
  if (magnitude < std::ldexp(Float{1}, std::numeric_limits<Float>::digits) || magnitude > static_cast<Float>(1e37)) {
    return false;
  }
  dk_i32 error = 0;
  dk_int128_t decimal =
      dk_native(dk_cast_text_n128(dk_make_text(begin, static_cast<dk_i32>(end - begin)), 38, 0, &error));
  dk_int128_t twice = 2 * (decimal < 0 ? -decimal : decimal);
  dk_int128_t exact = static_cast<dk_int128_t>(magnitude);
  return twice == exact + static_cast<dk_int128_t>(std::nextafter(magnitude, std::numeric_limits<Float>::infinity())) ||
         twice == exact + static_cast<dk_int128_t>(std::nextafter(magnitude, Float{0}));
}

// The shortest digits that read back as the same number; with an exponent below 10^-4 and from fixed_limit on. As in
// PostgreSQL, digits that read back only because a half is rounded to even do not count: then there are more.
template <typename Float>
static inline dk_i32 dk_print_float(Float a, Float fixed_limit, char* out) {
  if (a != a) return dk_put_word(DK_WORD4('N', 'a', 'N', 0), out, 0);
  if (std::isinf(a)) {
    dk_i32 at = a < 0 ? dk_put_char('-', out, 0) : 0;
    return dk_put_word(DK_WORD8('I', 'n', 'f', 'i', 'n', 'i', 't', 'y'), out, at);
  }
  Float magnitude = std::fabs(a);
  bool fixed = magnitude == 0 || (magnitude >= static_cast<Float>(1e-4) && magnitude < fixed_limit);
  if (fixed) return static_cast<dk_i32>(std::to_chars(out, out + 32, a, std::chars_format::fixed).ptr - out);
  char* end = std::to_chars(out, out + 32, a, std::chars_format::scientific).ptr;
  bool half_way = dk_is_half_way(out, end, a);
  for (int places = 1; half_way && places < 17; places++) {
    Float read = 0;
    end = std::to_chars(out, out + 32, a, std::chars_format::scientific, places).ptr;
    std::from_chars(out, end, read);
    half_way = read != a || dk_is_half_way(out, end, a);
  }
  return static_cast<dk_i32>(end - out);
}

static inline dk_i32 dk_cast_f64_text_size(dk_f64) { return 32; }
static inline dk_i32 dk_cast_f64_text_write(dk_f64 a, char* out) { return dk_print_float<dk_f64>(a, 1e15, out); }
static inline dk_i32 dk_cast_f32_text_size(dk_f32) { return 32; }
static inline dk_i32 dk_cast_f32_text_write(dk_f32 a, char* out) { return dk_print_float<dk_f32>(a, 1e6F, out); }

// ---- functions of numeric (numeric_math.cc)

dk_i128 dk_exp_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, dk_i32* error);
dk_i128 dk_ln_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, dk_i32* error);
dk_i128 dk_log10_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, dk_i32* error);
dk_i128 dk_log_base_n128(dk_i128 base, dk_i128 a, dk_i32 scale_base, dk_i32 scale_a, dk_i32 precision, dk_i32 scale,
                         dk_i32* error);
dk_i128 dk_power_n128(dk_i128 a, dk_i128 b, dk_i32 scale_a, dk_i32 scale_b, dk_i32 precision, dk_i32 scale,
                      dk_i32* error);

// ---- floating point to numeric: what its first `digits` significant digits say

static inline dk_i128 dk_decimal_of_float(dk_f64 a, int digits, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  if (!std::isfinite(a)) {
    dk_raise(error, DK_NO_FIXED_POINT);
    return dk_make_i128(0, 0);
  }
  char text[48];
  auto end = std::to_chars(text, text + sizeof text, a, std::chars_format::scientific, digits - 1).ptr;
  return dk_cast_text_n128(dk_make_text(text, static_cast<dk_i32>(end - text)), precision, scale, error);
}

static inline dk_i128 dk_cast_f64_n128(dk_f64 a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  return dk_decimal_of_float(a, 15, precision, scale, error);
}
static inline dk_i64 dk_cast_f64_n64(dk_f64 a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  return static_cast<dk_i64>(dk_cast_f64_n128(a, precision, scale, error).lo);
}
static inline dk_i128 dk_cast_f32_n128(dk_f32 a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  return dk_decimal_of_float(a, 6, precision, scale, error);
}
static inline dk_i64 dk_cast_f32_n64(dk_f32 a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  return static_cast<dk_i64>(dk_cast_f32_n128(a, precision, scale, error).lo);
}
