// numeric: fixed-point numbers of up to 38 digits.
//
// A value is an integer, times 10^-scale; the scale belongs to the type and is a parameter here. Up to 18 digits are
// held in 64 bits (n64), more in 128 (n128). Addition of equal scales, negation and comparison are those of the
// integers. Every function that can leave 38 digits raises DK_NUMERIC_OUT_OF_RANGE. Rounding is to the nearest, halves
// away from zero.
#pragma once

// ---- limits

// The largest magnitude of 38 digits is 10^38 - 1.
DK_FN dk_bool dk_exceeds_38_digits(dk_u128 magnitude) {
  dk_u128 limit = dk_make_u128(DK_U64(0x4B3B4CA85A86C47A), DK_U64(0x098A224000000000));
  return !dk_lt_u128(magnitude, limit);
}

DK_FN dk_i128 dk_check_digits_i128(dk_i128 a, dk_i32 precision, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(!dk_lt_u128(dk_magnitude_i128(a), dk_power_of_ten(precision)), DK_NUMERIC_OUT_OF_RANGE);
  return a;
}

DK_FN dk_i64 dk_check_digits_i64(dk_i64 a, dk_i32 precision, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(dk_magnitude_i64(a) >= dk_powers_of_ten[precision < 0    ? 0
                                                      : precision > 19 ? 19
                                                                       : precision],
              DK_NUMERIC_OUT_OF_RANGE);
  return a;
}

// The number of that magnitude and sign, of at most 38 digits.
DK_FN dk_i128 dk_numeric_of(dk_u128 magnitude, dk_bool negative, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(dk_exceeds_38_digits(magnitude), DK_NUMERIC_OUT_OF_RANGE);
  return dk_with_sign(magnitude, negative);
}

// ---- arithmetic on equal scales, and products, whose scale is the sum of the scales

DK_FN dk_i128 dk_add_i128(dk_i128 a, dk_i128 b, DK_PRIVATE dk_i32* error) {
  dk_i128 r = dk_add_unchecked_i128(a, b);
  dk_bool wrapped = ((a.hi ^ r.hi) & (b.hi ^ r.hi)) < 0;
  DK_RAISE_IF(wrapped | dk_exceeds_38_digits(dk_magnitude_i128(r)), DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i128 dk_sub_i128(dk_i128 a, dk_i128 b, DK_PRIVATE dk_i32* error) {
  dk_i128 r = dk_sub_unchecked_i128(a, b);
  dk_bool wrapped = ((a.hi ^ b.hi) & (a.hi ^ r.hi)) < 0;
  DK_RAISE_IF(wrapped | dk_exceeds_38_digits(dk_magnitude_i128(r)), DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i128 dk_neg_i128(dk_i128 a) { return dk_neg_unchecked_i128(a); }

DK_FN dk_i128 dk_mul_i128(dk_i128 a, dk_i128 b, DK_PRIVATE dk_i32* error) {
  if (dk_fits_i64(a) && dk_fits_i64(b)) {
    dk_i128 r = dk_mul_wide_i64((dk_i64)a.lo, (dk_i64)b.lo);
    DK_RAISE_IF(dk_exceeds_38_digits(dk_magnitude_i128(r)), DK_NUMERIC_OUT_OF_RANGE);
    return r;
  }
  dk_u256 product = dk_mul_u128(dk_magnitude_i128(a), dk_magnitude_i128(b));
  DK_RAISE_IF(!dk_is_zero_u128(product.hi), DK_NUMERIC_OUT_OF_RANGE);
  return dk_numeric_of(product.lo, (a.hi < 0) != (b.hi < 0), error);
}

// A product with `drop` of its decimal places rounded off, for operands whose scales add up to more than 38.
DK_FN dk_i128 dk_mul_drop_i128(dk_i128 a, dk_i128 b, dk_i32 drop, DK_PRIVATE dk_i32* error) {
  dk_u256 product = dk_mul_u128(dk_magnitude_i128(a), dk_magnitude_i128(b));
  dk_u128 divisor = dk_power_of_ten(drop);
  if (!dk_lt_u128(product.hi, divisor)) {
    dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
    return a;
  }
  return dk_numeric_of(dk_divide_round_u256(product, divisor), (a.hi < 0) != (b.hi < 0), error);
}

// The product at a smaller scale than it has: the scales of the factors, precision and scale of the result.
DK_FN dk_i128 dk_product_n128(dk_i128 a, dk_i128 b, dk_i32 scale_a, dk_i32 scale_b, dk_i32 precision, dk_i32 scale,
                              DK_PRIVATE dk_i32* error) {
  return dk_mul_drop_i128(a, b, scale_a + scale_b - scale, error);
}

// ---- division

// a * 10^shift / b rounded; 0 <= shift <= 76. For a quotient of scale r, shift is r - scale of a + scale of b.
DK_FN dk_i128 dk_div_i128(dk_i128 a, dk_i128 b, dk_i32 shift, DK_PRIVATE dk_i32* error) {
  if (dk_eq_i128(b, dk_make_i128(0, 0))) {
    dk_raise(error, DK_DIVISION_BY_ZERO);
    return a;
  }
  dk_u128 numerator = dk_magnitude_i128(a);
  dk_u128 divisor = dk_magnitude_i128(b);
  dk_u256 wide = dk_mul_u128(numerator, dk_power_of_ten(shift > 38 ? shift - 38 : 0));
  dk_bool overflow = !dk_is_zero_u128(wide.hi);  // then the quotient is over 2^128 * 10^38 / 10^38
  wide = dk_mul_u128(wide.lo, dk_power_of_ten(shift));
  if (overflow || !dk_lt_u128(wide.hi, divisor)) {
    dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
    return a;
  }
  return dk_numeric_of(dk_divide_round_u256(wide, divisor), (a.hi < 0) != (b.hi < 0), error);
}

// The same for operands of 64 bits, with a short way for quotients that 64 bits hold.
DK_FN dk_i128 dk_div_wide_i64(dk_i64 a, dk_i64 b, dk_i32 shift, DK_PRIVATE dk_i32* error) {
  dk_u64 divisor = dk_magnitude_i64(b);
  dk_u128 wide = dk_mul_u64(dk_magnitude_i64(a), dk_powers_of_ten[shift < 0 ? 0 : shift > 19 ? 19 : shift]);
  if (b == 0 || shift > 19 || wide.hi != 0) return dk_div_i128(dk_widen_i64(a), dk_widen_i64(b), shift, error);
  dk_u64 q = wide.lo / divisor;
  dk_u64 rest = wide.lo % divisor;
  return dk_with_sign(dk_make_u128(0, q + (rest >= divisor - rest)), (a < 0) != (b < 0));
}

DK_FN dk_i128 dk_mod_i128(dk_i128 a, dk_i128 b, DK_PRIVATE dk_i32* error) {
  if (dk_eq_i128(b, dk_make_i128(0, 0))) {
    dk_raise(error, DK_DIVISION_BY_ZERO);
    return a;
  }
  dk_u128 rest;
  dk_divide_u128(dk_magnitude_i128(a), dk_magnitude_i128(b), &rest);
  return dk_with_sign(rest, a.hi < 0);
}

DK_FN dk_i64 dk_mod_n64(dk_i64 a, dk_i64 b, dk_i32 scale_a, dk_i32 scale_b, dk_i32 precision, dk_i32 scale,
                        DK_PRIVATE dk_i32* error) {
  return dk_mod_i64(a, b, error);
}
DK_FN dk_i128 dk_mod_n128(dk_i128 a, dk_i128 b, dk_i32 scale_a, dk_i32 scale_b, dk_i32 precision, dk_i32 scale,
                          DK_PRIVATE dk_i32* error) {
  return dk_mod_i128(a, b, error);
}

// ---- changing the scale

// The ways of dropping decimal places.
enum dk_rounding { DK_TO_NEAREST, DK_TO_ZERO, DK_UP, DK_DOWN };

// a / divisor as a whole number.
DK_FN dk_i64 dk_round_quotient_i64(dk_i64 a, dk_u64 divisor, dk_i32 rounding) {
  dk_u64 magnitude = dk_magnitude_i64(a);
  dk_u64 q = magnitude / divisor;
  dk_u64 rest = magnitude % divisor;
  if (rounding == DK_TO_NEAREST) q += rest >= divisor - rest;
  if (rounding == DK_UP) q += a > 0 && rest != 0;
  if (rounding == DK_DOWN) q += a < 0 && rest != 0;
  return a < 0 ? (dk_i64)(DK_U64(0) - q) : (dk_i64)q;
}

DK_FN dk_i128 dk_round_quotient_i128(dk_i128 a, dk_u128 divisor, dk_i32 rounding) {
  dk_u128 rest;
  dk_bool negative = a.hi < 0;
  dk_u128 q = dk_divide_u128(dk_magnitude_i128(a), divisor, &rest);
  dk_bool inexact = !dk_is_zero_u128(rest);
  dk_bool step = 0;
  if (rounding == DK_TO_NEAREST) step = !dk_lt_u128(rest, dk_sub_u128(divisor, rest));
  if (rounding == DK_UP) step = !negative && inexact;
  if (rounding == DK_DOWN) step = negative && inexact;
  return dk_with_sign(dk_add_u128(q, dk_make_u128(0, step)), negative);
}

// More than 38 places off leave nothing to round to.
DK_FN dk_i128 dk_drop_digits_i128(dk_i128 a, dk_i32 digits, dk_i32 rounding) {
  if (digits <= 0) return a;
  if (digits > 38) return dk_make_i128(0, 0);
  return dk_round_quotient_i128(a, dk_power_of_ten(digits), rounding);
}

DK_FN dk_i64 dk_drop_digits_i64(dk_i64 a, dk_i32 digits, dk_i32 rounding) {
  if (digits <= 0) return a;
  if (digits > 19) return 0;
  return dk_round_quotient_i64(a, dk_powers_of_ten[digits], rounding);
}

// a * 10^digits within 38 digits; digits >= 0.
DK_FN dk_i128 dk_add_digits_i128(dk_i128 a, dk_i32 digits, DK_PRIVATE dk_i32* error) {
  if (digits <= 0 || (a.lo | (dk_u64)a.hi) == 0) return a;
  DK_RAISE_IF(digits > 38, DK_NUMERIC_OUT_OF_RANGE);
  dk_u256 product = dk_mul_u128(dk_magnitude_i128(a), dk_power_of_ten(digits));
  DK_RAISE_IF(!dk_is_zero_u128(product.hi), DK_NUMERIC_OUT_OF_RANGE);
  return dk_numeric_of(product.lo, a.hi < 0, error);
}

DK_FN dk_i64 dk_add_digits_i64(dk_i64 a, dk_i32 digits, DK_PRIVATE dk_i32* error) {
  if (digits <= 0 || a == 0) return a;
  if (digits > 18) {
    dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
    return a;
  }
  return dk_mul_i64(a, (dk_i64)dk_powers_of_ten[digits], error);
}

DK_FN dk_i128 dk_rescale_i128(dk_i128 a, dk_i32 from, dk_i32 to, DK_PRIVATE dk_i32* error) {
  return to > from ? dk_add_digits_i128(a, to - from, error) : dk_drop_digits_i128(a, from - to, DK_TO_NEAREST);
}

DK_FN dk_i64 dk_rescale_i64(dk_i64 a, dk_i32 from, dk_i32 to, DK_PRIVATE dk_i32* error) {
  return to > from ? dk_add_digits_i64(a, to - from, error) : dk_drop_digits_i64(a, from - to, DK_TO_NEAREST);
}

// ---- SQL functions; the scale of the argument, then precision and scale of the result

DK_FN dk_i64 dk_abs_n64(dk_i64 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale) {
  return (dk_i64)dk_magnitude_i64(a);
}
DK_FN dk_i128 dk_abs_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale) {
  return a.hi < 0 ? dk_neg_unchecked_i128(a) : a;
}
DK_FN dk_i64 dk_sign_n64(dk_i64 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale) { return (a > 0) - (a < 0); }
DK_FN dk_i128 dk_sign_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale) {
  return dk_widen_i64(a.hi < 0 ? -1 : (a.lo | (dk_u64)a.hi) != 0);
}

// dk_ceil_n64, dk_ceil_n128 and so on: a whole number of scale 0.
#define DK_WHOLE_NUMBER(name, rounding)                                                       \
  DK_FN dk_i64 dk_##name##_n64(dk_i64 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale) {    \
    return dk_drop_digits_i64(a, scale_a, rounding);                                          \
  }                                                                                           \
  DK_FN dk_i128 dk_##name##_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale) { \
    return dk_drop_digits_i128(a, scale_a, rounding);                                         \
  }

DK_WHOLE_NUMBER(round, DK_TO_NEAREST)
DK_WHOLE_NUMBER(trunc, DK_TO_ZERO)
DK_WHOLE_NUMBER(ceil, DK_UP)
DK_WHOLE_NUMBER(floor, DK_DOWN)

// a at `scale`, rounded at `digits` decimal places, which may be negative: the places before the point become zeros.
DK_FN dk_i128 dk_round_at(dk_i128 a, dk_i32 digits, dk_i32 scale_a, dk_i32 scale, dk_i32 rounding,
                          DK_PRIVATE dk_i32* error) {
  dk_i32 kept = digits < -38 ? -39 : digits > scale_a ? scale_a : digits;
  if (kept > scale) kept = scale;
  return dk_add_digits_i128(dk_drop_digits_i128(a, scale_a - kept, rounding), scale - kept, error);
}

// dk_round_digits_n64 and so on. Adding zeros can exceed the precision; that raises.
#define DK_ROUND_DIGITS(name, rounding)                                                                           \
  DK_FN dk_i128 dk_##name##_digits_n128(dk_i128 a, dk_i32 digits, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, \
                                        DK_PRIVATE dk_i32* error) {                                               \
    return dk_round_at(a, digits, scale_a, scale, rounding, error);                                               \
  }                                                                                                               \
  DK_FN dk_i64 dk_##name##_digits_n64(dk_i64 a, dk_i32 digits, dk_i32 scale_a, dk_i32 precision, dk_i32 scale,    \
                                      DK_PRIVATE dk_i32* error) {                                                 \
    if (digits >= 0 && digits == scale && digits <= scale_a) {                                                    \
      return dk_drop_digits_i64(a, scale_a - digits, rounding);                                                   \
    }                                                                                                             \
    dk_i128 r = dk_round_at(dk_widen_i64(a), digits, scale_a, scale, rounding, error);                            \
    DK_RAISE_IF(!dk_fits_i64(r), DK_NUMERIC_OUT_OF_RANGE);                                                        \
    return (dk_i64)r.lo;                                                                                          \
  }

DK_ROUND_DIGITS(round, DK_TO_NEAREST)
DK_ROUND_DIGITS(trunc, DK_TO_ZERO)

// The whole part of a / b at scale 0: both are first brought to one scale by the wider of the two.
DK_FN dk_i128 dk_div_whole_n128(dk_i128 a, dk_i128 b, dk_i32 scale_a, dk_i32 scale_b, dk_i32 precision, dk_i32 scale,
                                DK_PRIVATE dk_i32* error) {
  if (dk_eq_i128(b, dk_make_i128(0, 0))) {
    dk_raise(error, DK_DIVISION_BY_ZERO);
    return a;
  }
  dk_u128 rest;
  dk_u256 numerator = dk_mul_u128(dk_magnitude_i128(a), dk_power_of_ten(scale_b - scale_a));
  dk_u256 divisor = dk_mul_u128(dk_magnitude_i128(b), dk_power_of_ten(scale_a - scale_b));
  if (!dk_is_zero_u128(divisor.hi)) return dk_make_i128(0, 0);  // then scale_a > scale_b and a < 2^127 < divisor
  if (!dk_lt_u128(numerator.hi, divisor.lo)) {
    dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
    return a;
  }
  dk_u128 q = dk_divide_u256(numerator, divisor.lo, &rest);
  return dk_numeric_of(q, (a.hi < 0) != (b.hi < 0), error);
}

// ---- square root

// The whole part of the root of a 256-bit number, bit by bit from the top: each bit stays set if the square is not
// above the number.
DK_FN dk_u128 dk_root_u256(dk_u256 a) {
  dk_u128 root = dk_make_u128(0, 0);
  dk_i32 bits = dk_is_zero_u128(a.hi) ? dk_bits_u128(a.lo) : 128 + dk_bits_u128(a.hi);
  for (dk_i32 bit = (bits + 1) / 2 - 1; bit >= 0; bit--) {
    dk_u128 next = dk_add_u128(root, dk_shift_left_u128(dk_make_u128(0, 1), bit));
    dk_u256 square = dk_mul_u128(next, next);
    dk_bool above = dk_lt_u128(a.hi, square.hi) || (!dk_lt_u128(square.hi, a.hi) && dk_lt_u128(a.lo, square.lo));
    if (!above) root = next;
  }
  return root;
}

// The nearest whole number to the root. Halves do not occur: (n + 1/2)^2 is no whole number.
DK_FN dk_u128 dk_sqrt_u256(dk_u256 a) {
  dk_u128 root = dk_root_u256(a);
  dk_u128 rest = dk_sub_u128(a.lo, dk_mul_u128(root, root).lo);  // at most 2 * root
  return dk_lt_u128(root, rest) ? dk_add_u128(root, dk_make_u128(0, 1)) : root;
}

DK_FN dk_i128 dk_sqrt_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, DK_PRIVATE dk_i32* error) {
  if (a.hi < 0) {
    dk_raise(error, DK_POWER_DOMAIN);
    return a;
  }
  dk_u256 scaled = dk_mul_u128(dk_magnitude_i128(a), dk_power_of_ten(2 * scale - scale_a));
  return dk_numeric_of(dk_sqrt_u256(scaled), 0, error);
}
