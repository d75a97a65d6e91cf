// Casts between numbers. From numeric and to it the rounding is half away from zero, from floating point half to even,
// as PostgreSQL has it. float -> numeric is in convert_host.h: it goes through decimal digits.
#pragma once

// ---- boolean and integers

DK_FN dk_i32 dk_cast_bool_i32(dk_bool a) { return a; }
DK_FN dk_bool dk_cast_i32_bool(dk_i32 a) { return a != 0; }
DK_FN dk_i32 dk_cast_i16_i32(dk_i32 a) { return a; }
DK_FN dk_i64 dk_cast_i16_i64(dk_i32 a) { return a; }
DK_FN dk_f32 dk_cast_i16_f32(dk_i32 a) { return (dk_f32)a; }
DK_FN dk_f64 dk_cast_i16_f64(dk_i32 a) { return a; }
DK_FN dk_i32 dk_cast_i32_i16(dk_i32 a, DK_PRIVATE dk_i32* error) { return dk_check_i16(a, error); }
DK_FN dk_i64 dk_cast_i32_i64(dk_i32 a) { return a; }
DK_FN dk_f32 dk_cast_i32_f32(dk_i32 a) { return (dk_f32)a; }
DK_FN dk_f64 dk_cast_i32_f64(dk_i32 a) { return a; }
DK_FN dk_i32 dk_cast_i64_i16(dk_i64 a, DK_PRIVATE dk_i32* error) {
  return dk_check_i16(dk_narrow_i32(a, error), error);
}
DK_FN dk_i32 dk_cast_i64_i32(dk_i64 a, DK_PRIVATE dk_i32* error) { return dk_narrow_i32(a, error); }
DK_FN dk_f32 dk_cast_i64_f32(dk_i64 a) { return (dk_f32)a; }
DK_FN dk_f64 dk_cast_i64_f64(dk_i64 a) { return (dk_f64)a; }

// ---- numeric to numeric: scale of the argument, precision and scale of the result

DK_FN dk_i64 dk_cast_n64_n64(dk_i64 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_check_digits_i64(dk_rescale_i64(a, scale_a, scale, error), precision, error);
}
DK_FN dk_i128 dk_cast_n64_n128(dk_i64 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_check_digits_i128(dk_rescale_i128(dk_widen_i64(a), scale_a, scale, error), precision, error);
}
DK_FN dk_i128 dk_cast_n128_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_check_digits_i128(dk_rescale_i128(a, scale_a, scale, error), precision, error);
}
DK_FN dk_i64 dk_cast_n128_n64(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return (dk_i64)dk_cast_n128_n128(a, scale_a, precision, scale, error).lo;
}

// ---- integers to numeric

DK_FN dk_i64 dk_cast_i64_n64(dk_i64 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_cast_n64_n64(a, 0, precision, scale, error);
}
DK_FN dk_i128 dk_cast_i64_n128(dk_i64 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_cast_n64_n128(a, 0, precision, scale, error);
}
DK_FN dk_i64 dk_cast_i32_n64(dk_i32 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_cast_n64_n64(a, 0, precision, scale, error);
}
DK_FN dk_i128 dk_cast_i32_n128(dk_i32 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_cast_n64_n128(a, 0, precision, scale, error);
}
DK_FN dk_i64 dk_cast_i16_n64(dk_i32 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_cast_n64_n64(a, 0, precision, scale, error);
}
DK_FN dk_i128 dk_cast_i16_n128(dk_i32 a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  return dk_cast_n64_n128(a, 0, precision, scale, error);
}

// ---- numeric to integers

DK_FN dk_i64 dk_cast_n64_i64(dk_i64 a, dk_i32 scale_a) { return dk_drop_digits_i64(a, scale_a, DK_TO_NEAREST); }
DK_FN dk_i32 dk_cast_n64_i32(dk_i64 a, dk_i32 scale_a, DK_PRIVATE dk_i32* error) {
  return dk_narrow_i32(dk_cast_n64_i64(a, scale_a), error);
}
DK_FN dk_i32 dk_cast_n64_i16(dk_i64 a, dk_i32 scale_a, DK_PRIVATE dk_i32* error) {
  return dk_check_i16(dk_cast_n64_i32(a, scale_a, error), error);
}
DK_FN dk_i64 dk_cast_n128_i64(dk_i128 a, dk_i32 scale_a, DK_PRIVATE dk_i32* error) {
  dk_i128 r = dk_drop_digits_i128(a, scale_a, DK_TO_NEAREST);
  DK_RAISE_IF(!dk_fits_i64(r), DK_NUMERIC_OUT_OF_RANGE);
  return (dk_i64)r.lo;
}
DK_FN dk_i32 dk_cast_n128_i32(dk_i128 a, dk_i32 scale_a, DK_PRIVATE dk_i32* error) {
  return dk_narrow_i32(dk_cast_n128_i64(a, scale_a, error), error);
}
DK_FN dk_i32 dk_cast_n128_i16(dk_i128 a, dk_i32 scale_a, DK_PRIVATE dk_i32* error) {
  return dk_check_i16(dk_cast_n128_i32(a, scale_a, error), error);
}

// ---- numeric to floating point, correctly rounded

// mantissa * 2^exponent for a mantissa of at most 53 bits and a normal result.
DK_FN dk_f64 dk_scale_by_two(dk_u64 mantissa, dk_i32 exponent) {
  return (dk_f64)mantissa * DK_F64_OF_BITS((dk_u64)(exponent + 1023) << 52);
}

// The nearest number of `digits` bits to magnitude / 10^scale, halves to even. The quotient is computed to 64 bits or
// more and the remainder kept as one sticky bit, so that it is rounded once.
DK_FN dk_f64 dk_divide_to_float(dk_u128 magnitude, dk_i32 scale, dk_i32 digits) {
  dk_u128 divisor = dk_power_of_ten(scale);
  dk_i32 shift = 65 + dk_bits_u128(divisor) - dk_bits_u128(magnitude);
  dk_u256 numerator;
  numerator.lo = magnitude;
  numerator.hi = dk_make_u128(0, 0);
  if (shift < 0) shift = 0;
  if (shift >= 128) {
    numerator.hi = dk_shift_left_u128(magnitude, shift - 128);
    numerator.lo = dk_make_u128(0, 0);
  } else if (shift > 0) {
    numerator.hi = dk_shift_right_u128(magnitude, 128 - shift);
    numerator.lo = dk_shift_left_u128(magnitude, shift);
  }
  dk_u128 rest;
  dk_u128 q = dk_divide_u256(numerator, divisor, &rest);
  dk_i32 excess = dk_bits_u128(q) - digits;  // more than 0: q has at least 64 bits
  dk_u128 kept = dk_shift_right_u128(q, excess);
  dk_u128 dropped = dk_sub_u128(q, dk_shift_left_u128(kept, excess));
  dk_u128 middle = dk_shift_left_u128(dk_make_u128(0, 1), excess - 1);
  dk_bool exact_half = !dk_lt_u128(dropped, middle) && !dk_lt_u128(middle, dropped) && dk_is_zero_u128(rest);
  dk_bool up = exact_half ? (dk_bool)(kept.lo & 1) : (dk_bool)!dk_lt_u128(dropped, middle);
  return dk_scale_by_two(kept.lo + up, excess - shift);
}

// A quotient of two numbers that 53 bits hold is rounded correctly by the division itself.
DK_FN dk_f64 dk_cast_n128_f64(dk_i128 a, dk_i32 scale_a) {
  dk_u128 magnitude = dk_magnitude_i128(a);
  dk_f64 r;
  if (dk_is_zero_u128(magnitude)) return 0;
  if (magnitude.hi == 0 && (magnitude.lo >> 53) == 0 && scale_a <= 15) {
    r = (dk_f64)magnitude.lo / (dk_f64)dk_powers_of_ten[scale_a < 0 ? 0 : scale_a];
  } else {
    r = dk_divide_to_float(magnitude, scale_a, 53);
  }
  return a.hi < 0 ? -r : r;
}

DK_FN dk_f64 dk_cast_n64_f64(dk_i64 a, dk_i32 scale_a) { return dk_cast_n128_f64(dk_widen_i64(a), scale_a); }

// 38 digits reach down to 10^-38, where a float has lost a bit; that bit may be rounded twice.
DK_FN dk_f32 dk_cast_n128_f32(dk_i128 a, dk_i32 scale_a, DK_PRIVATE dk_i32* error) {
  dk_u128 magnitude = dk_magnitude_i128(a);
  if (dk_is_zero_u128(magnitude)) return 0;
  dk_f64 r = dk_divide_to_float(magnitude, scale_a, 24);
  DK_RAISE_IF(r > (dk_f64)DK_MAX_F32, DK_NUMERIC_OUT_OF_RANGE);
  return (dk_f32)(a.hi < 0 ? -r : r);
}
DK_FN dk_f32 dk_cast_n64_f32(dk_i64 a, dk_i32 scale_a, DK_PRIVATE dk_i32* error) {
  return dk_cast_n128_f32(dk_widen_i64(a), scale_a, error);
}

// ---- floating point

DK_FN dk_f64 dk_cast_f32_f64(dk_f32 a) { return a; }

DK_FN dk_f32 dk_cast_f64_f32(dk_f64 a, DK_PRIVATE dk_i32* error) {
  // From half way past the largest float on, the nearest one is infinity.
  dk_bool finite = !dk_is_inf_f64(a) && a == a;
  dk_bool overflow = finite && (a >= 3.4028235677973366e+38 || a <= -3.4028235677973366e+38);
  dk_f32 r = overflow ? 0 : (dk_f32)a;
  DK_RAISE_IF(overflow || (r == 0 && a != 0), DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

// Rounded and within [-limit, limit), or an error. The comparison is false for NaN.
DK_FN dk_i64 dk_round_to_integer(dk_f64 a, dk_f64 limit, DK_PRIVATE dk_i32* error) {
  dk_f64 r = DK_MATH1_F64(rint, a);
  dk_bool within = r >= -limit && r < limit;
  DK_RAISE_IF(!within, DK_NUMERIC_OUT_OF_RANGE);
  return within ? (dk_i64)r : 0;
}

DK_FN dk_i32 dk_cast_f64_i16(dk_f64 a, DK_PRIVATE dk_i32* error) {
  return (dk_i32)dk_round_to_integer(a, 32768, error);
}
DK_FN dk_i32 dk_cast_f64_i32(dk_f64 a, DK_PRIVATE dk_i32* error) {
  return (dk_i32)dk_round_to_integer(a, 2147483648.0, error);
}
DK_FN dk_i64 dk_cast_f64_i64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  return dk_round_to_integer(a, 9223372036854775808.0, error);
}
DK_FN dk_i32 dk_cast_f32_i16(dk_f32 a, DK_PRIVATE dk_i32* error) { return dk_cast_f64_i16(a, error); }
DK_FN dk_i32 dk_cast_f32_i32(dk_f32 a, DK_PRIVATE dk_i32* error) { return dk_cast_f64_i32(a, error); }
DK_FN dk_i64 dk_cast_f32_i64(dk_f32 a, DK_PRIVATE dk_i32* error) { return dk_cast_f64_i64(a, error); }
