// 128-bit and 256-bit integers from 64-bit ones: what numeric arithmetic is made of.
//
//   dk_i128  two's complement, {lo, hi}      dk_u128  unsigned, {lo, hi}      dk_u256  unsigned, {lo, hi} of dk_u128
//
// Where the compiler has a 128-bit integer (DK_HAS_INT128) the primitives use it; their portable forms, which the tests
// compare with it, carry the suffix _portable.
#pragma once

typedef struct dk_u128 {
  dk_u64 lo;
  dk_u64 hi;
} dk_u128;

typedef struct dk_u256 {
  dk_u128 lo;
  dk_u128 hi;
} dk_u256;

DK_CONSTANT dk_u64 dk_powers_of_ten[20] = {DK_U64(1),
                                           DK_U64(10),
                                           DK_U64(100),
                                           DK_U64(1000),
                                           DK_U64(10000),
                                           DK_U64(100000),
                                           DK_U64(1000000),
                                           DK_U64(10000000),
                                           DK_U64(100000000),
                                           DK_U64(1000000000),
                                           DK_U64(10000000000),
                                           DK_U64(100000000000),
                                           DK_U64(1000000000000),
                                           DK_U64(10000000000000),
                                           DK_U64(100000000000000),
                                           DK_U64(1000000000000000),
                                           DK_U64(10000000000000000),
                                           DK_U64(100000000000000000),
                                           DK_U64(1000000000000000000),
                                           DK_U64(10000000000000000000)};

// ---- making and taking apart

DK_FN dk_u128 dk_make_u128(dk_u64 hi, dk_u64 lo) {
  dk_u128 r;
  r.lo = lo;
  r.hi = hi;
  return r;
}

DK_FN dk_i128 dk_make_i128(dk_i64 hi, dk_u64 lo) {
  dk_i128 r;
  r.lo = lo;
  r.hi = hi;
  return r;
}

DK_FN dk_i128 dk_widen_i64(dk_i64 a) { return dk_make_i128(a >> 63, (dk_u64)a); }

DK_FN dk_bool dk_fits_i64(dk_i128 a) { return a.hi == ((dk_i64)a.lo >> 63); }

#if DK_HAS_INT128
DK_FN dk_int128_t dk_native(dk_i128 a) { return (dk_int128_t)(((dk_uint128_t)(dk_u64)a.hi << 64) | a.lo); }
DK_FN dk_uint128_t dk_native_u(dk_u128 a) { return ((dk_uint128_t)a.hi << 64) | a.lo; }
DK_FN dk_i128 dk_of_native(dk_int128_t a) { return dk_make_i128((dk_i64)(a >> 64), (dk_u64)a); }
DK_FN dk_u128 dk_of_native_u(dk_uint128_t a) { return dk_make_u128((dk_u64)(a >> 64), (dk_u64)a); }
#endif

// ---- unsigned arithmetic, modulo 2^128

DK_FN dk_u128 dk_add_u128(dk_u128 a, dk_u128 b) {
  dk_u64 lo = a.lo + b.lo;
  return dk_make_u128(a.hi + b.hi + (lo < a.lo), lo);
}

DK_FN dk_u128 dk_sub_u128(dk_u128 a, dk_u128 b) { return dk_make_u128(a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo); }

DK_FN dk_bool dk_lt_u128(dk_u128 a, dk_u128 b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

DK_FN dk_bool dk_is_zero_u128(dk_u128 a) { return (a.hi | a.lo) == 0; }

// Number of bits up to the highest that is set.
DK_FN dk_i32 dk_bits_u128(dk_u128 a) { return a.hi != 0 ? 128 - DK_CLZ_U64(a.hi) : 64 - DK_CLZ_U64(a.lo); }

DK_FN dk_u128 dk_shift_right_u128(dk_u128 a, dk_i32 bits) {  // 0 <= bits < 128
  if (bits == 0) return a;
  if (bits >= 64) return dk_make_u128(0, a.hi >> (bits - 64));
  return dk_make_u128(a.hi >> bits, (a.lo >> bits) | (a.hi << (64 - bits)));
}

DK_FN dk_u128 dk_shift_left_u128(dk_u128 a, dk_i32 bits) {  // 0 <= bits < 128
  if (bits == 0) return a;
  if (bits >= 64) return dk_make_u128(a.lo << (bits - 64), 0);
  return dk_make_u128((a.hi << bits) | (a.lo >> (64 - bits)), a.lo << bits);
}

DK_FN dk_u128 dk_mul_u64(dk_u64 a, dk_u64 b) { return dk_make_u128(DK_MUL_HI_U64(a, b), a * b); }

// The whole product, schoolbook by limbs.
DK_FN dk_u256 dk_mul_u128(dk_u128 a, dk_u128 b) {
  dk_u128 low = dk_mul_u64(a.lo, b.lo);
  dk_u128 cross1 = dk_mul_u64(a.lo, b.hi);
  dk_u128 cross2 = dk_mul_u64(a.hi, b.lo);
  dk_u128 high = dk_mul_u64(a.hi, b.hi);
  dk_u128 middle =
      dk_add_u128(dk_add_u128(dk_make_u128(0, low.hi), dk_make_u128(0, cross1.lo)), dk_make_u128(0, cross2.lo));
  dk_u256 r;
  r.lo = dk_make_u128(middle.lo, low.lo);
  r.hi = dk_add_u128(high, dk_make_u128(0, middle.hi));
  r.hi = dk_add_u128(r.hi, dk_make_u128(0, cross1.hi));
  r.hi = dk_add_u128(r.hi, dk_make_u128(0, cross2.hi));
  return r;
}

// 10^exponent; the exponent is clamped to 0..38.
DK_FN dk_u128 dk_power_of_ten(dk_i32 exponent) {
  if (exponent <= 0) return dk_make_u128(0, 1);
  if (exponent <= 19) return dk_make_u128(0, dk_powers_of_ten[exponent]);
  return dk_mul_u64(dk_powers_of_ten[19], dk_powers_of_ten[exponent >= 38 ? 19 : exponent - 19]);
}

// ---- division

// One digit of the long division below: the quotient of the top digits of u at `place` by v, after which u holds the
// rest.
DK_FN dk_u32 dk_divide_digit(DK_PRIVATE dk_u32* u, const DK_PRIVATE dk_u32* v, dk_i32 n, dk_i32 place) {
  dk_u64 top = ((dk_u64)u[place + n] << 32) | u[place + n - 1];
  dk_u64 q = top / v[n - 1];
  dk_u64 r = top % v[n - 1];
  dk_u64 next = n > 1 ? v[n - 2] : 0;
  dk_u64 below = n > 1 ? u[place + n - 2] : 0;
  while ((q >> 32) != 0 || q * next > ((r << 32) | below)) {
    q--;
    r += v[n - 1];
    if ((r >> 32) != 0) break;
  }
  dk_u64 carry = 0;
  dk_u64 borrow = 0;
  for (dk_i32 i = 0; i <= n; i++) {
    dk_u64 product = (i < n ? q * v[i] : 0) + carry;
    carry = product >> 32;
    dk_u64 difference = (dk_u64)u[place + i] - (product & 0xFFFFFFFFU) - borrow;
    u[place + i] = (dk_u32)difference;
    borrow = (difference >> 32) != 0;
  }
  if (borrow == 0) return (dk_u32)q;
  carry = 0;
  for (dk_i32 i = 0; i <= n; i++) {
    dk_u64 sum = (dk_u64)u[place + i] + (i < n ? v[i] : 0) + carry;
    u[place + i] = (dk_u32)sum;
    carry = sum >> 32;
  }
  return (dk_u32)(q - 1);
}

// Quotient and remainder of a 256-bit number whose upper half is less than the divisor, which is not zero: Knuth, The
// Art of Computer Programming 2, 4.3.1, algorithm D, with digits of 32 bits.
DK_FN dk_u128 dk_divide_u256_portable(dk_u256 a, dk_u128 b, DK_PRIVATE dk_u128* remainder) {
  dk_i32 shift = 128 - dk_bits_u128(b);
  dk_i32 n = 4 - shift / 32;  // digits of the divisor
  shift = shift % 32;
  b = dk_shift_left_u128(b, shift);
  dk_u128 high = dk_shift_left_u128(a.hi, shift);
  if (shift != 0) high = dk_add_u128(high, dk_shift_right_u128(a.lo, 128 - shift));
  dk_u128 low = dk_shift_left_u128(a.lo, shift);
  dk_u32 v[4] = {(dk_u32)b.lo, (dk_u32)(b.lo >> 32), (dk_u32)b.hi, (dk_u32)(b.hi >> 32)};
  dk_u32 u[9] = {(dk_u32)low.lo,         (dk_u32)(low.lo >> 32),  (dk_u32)low.hi,
                 (dk_u32)(low.hi >> 32), (dk_u32)high.lo,         (dk_u32)(high.lo >> 32),
                 (dk_u32)high.hi,        (dk_u32)(high.hi >> 32), 0};
  dk_u32 q[9];
  for (dk_i32 place = 8; place >= 0; place--) q[place] = place + n <= 8 ? dk_divide_digit(u, v, n, place) : 0;
  dk_u128 rest = dk_make_u128(((dk_u64)u[3] << 32) | u[2], ((dk_u64)u[1] << 32) | u[0]);
  *remainder = dk_shift_right_u128(rest, shift);
  return dk_make_u128(((dk_u64)q[3] << 32) | q[2], ((dk_u64)q[1] << 32) | q[0]);
}

DK_FN dk_u128 dk_divide_u256(dk_u256 a, dk_u128 b, DK_PRIVATE dk_u128* remainder) {
#if DK_HAS_INT128
  if (dk_is_zero_u128(a.hi)) {
    *remainder = dk_of_native_u(dk_native_u(a.lo) % dk_native_u(b));
    return dk_of_native_u(dk_native_u(a.lo) / dk_native_u(b));
  }
#endif
  return dk_divide_u256_portable(a, b, remainder);
}

// b is not zero.
DK_FN dk_u128 dk_divide_u128(dk_u128 a, dk_u128 b, DK_PRIVATE dk_u128* remainder) {
  if ((a.hi | b.hi) == 0) {
    *remainder = dk_make_u128(0, a.lo % b.lo);
    return dk_make_u128(0, a.lo / b.lo);
  }
  dk_u256 wide;
  wide.lo = a;
  wide.hi = dk_make_u128(0, 0);
  return dk_divide_u256(wide, b, remainder);
}

// Quotient rounded to the nearest, halves up. b is not zero and greater than the upper half of a.
DK_FN dk_u128 dk_divide_round_u256(dk_u256 a, dk_u128 b) {
  dk_u128 rest;
  dk_u128 q = dk_divide_u256(a, b, &rest);
  dk_bool up = !dk_lt_u128(rest, dk_sub_u128(b, rest));
  return dk_add_u128(q, dk_make_u128(0, up));
}

DK_FN dk_u128 dk_divide_round_u128(dk_u128 a, dk_u128 b) {
  dk_u256 wide;
  wide.lo = a;
  wide.hi = dk_make_u128(0, 0);
  return dk_divide_round_u256(wide, b);
}

// ---- signed arithmetic, modulo 2^128

DK_FN dk_i128 dk_add_unchecked_i128(dk_i128 a, dk_i128 b) {
  dk_u64 lo = a.lo + b.lo;
  return dk_make_i128((dk_i64)((dk_u64)a.hi + (dk_u64)b.hi + (lo < a.lo)), lo);
}

DK_FN dk_i128 dk_sub_unchecked_i128(dk_i128 a, dk_i128 b) {
  return dk_make_i128((dk_i64)((dk_u64)a.hi - (dk_u64)b.hi - (a.lo < b.lo)), a.lo - b.lo);
}

DK_FN dk_i128 dk_neg_unchecked_i128(dk_i128 a) { return dk_sub_unchecked_i128(dk_make_i128(0, 0), a); }

DK_FN dk_i128 dk_mul_wide_i64_portable(dk_i64 a, dk_i64 b) {
  dk_u128 r = dk_mul_u64((dk_u64)a, (dk_u64)b);
  return dk_make_i128((dk_i64)(r.hi - (a < 0 ? (dk_u64)b : 0) - (b < 0 ? (dk_u64)a : 0)), r.lo);
}

// The product of two 64-bit integers; never overflows.
DK_FN dk_i128 dk_mul_wide_i64(dk_i64 a, dk_i64 b) {
#if DK_HAS_INT128
  return dk_of_native((dk_int128_t)a * b);
#else
  return dk_mul_wide_i64_portable(a, b);
#endif
}

DK_FN dk_u128 dk_magnitude_i128(dk_i128 a) {
  dk_u128 u = dk_make_u128((dk_u64)a.hi, a.lo);
  return a.hi < 0 ? dk_sub_u128(dk_make_u128(0, 0), u) : u;
}

// The integer of that magnitude, negated if asked for.
DK_FN dk_i128 dk_with_sign(dk_u128 magnitude, dk_bool negative) {
  dk_u128 u = negative ? dk_sub_u128(dk_make_u128(0, 0), magnitude) : magnitude;
  return dk_make_i128((dk_i64)u.hi, u.lo);
}

DK_FN dk_i32 dk_cmp_i128(dk_i128 a, dk_i128 b) {
  if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
  return (a.lo > b.lo) - (a.lo < b.lo);
}

DK_FN dk_bool dk_eq_i128(dk_i128 a, dk_i128 b) { return ((a.lo ^ b.lo) | (dk_u64)(a.hi ^ b.hi)) == 0; }
DK_FN dk_bool dk_ne_i128(dk_i128 a, dk_i128 b) { return !dk_eq_i128(a, b); }
DK_FN dk_bool dk_lt_i128(dk_i128 a, dk_i128 b) { return (a.hi < b.hi) | ((a.hi == b.hi) & (a.lo < b.lo)); }
DK_FN dk_bool dk_gt_i128(dk_i128 a, dk_i128 b) { return dk_lt_i128(b, a); }
DK_FN dk_bool dk_le_i128(dk_i128 a, dk_i128 b) { return !dk_lt_i128(b, a); }
DK_FN dk_bool dk_ge_i128(dk_i128 a, dk_i128 b) { return !dk_lt_i128(a, b); }
