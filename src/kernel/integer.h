// Integer arithmetic with PostgreSQL's meaning: overflow and division by zero are errors, quotients are cut towards
// zero.
//
// A smallint is held in 32 bits; its functions carry i16 and check the range. Functions that can only overflow store
// the error by OR, without a branch, so that a loop over them is vectorised: a loop starts from error = 0 and looks at
// it once afterwards. The unchecked forms wrap around; the compiler of programs uses them where the ranges of the
// arguments rule overflow out.
#pragma once

#define DK_RAISE_IF(condition, code) *error |= (condition) ? (dk_i32)(code) : 0

// A failure among others in one function, or in a branch.
DK_FN void dk_raise(DK_PRIVATE dk_i32* error, dk_i32 code) { *error = code; }

// ---- smallint, in 32 bits

DK_FN dk_i32 dk_check_i16(dk_i32 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF((dk_u32)a + 32768U > 65535U, DK_NUMERIC_OUT_OF_RANGE);
  return a;
}

// The arguments lie within 16 bits, so that nothing overflows 32; garbage lanes wrap.
DK_FN dk_i32 dk_add_i16(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  return dk_check_i16((dk_i32)((dk_u32)a + (dk_u32)b), error);
}
DK_FN dk_i32 dk_sub_i16(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  return dk_check_i16((dk_i32)((dk_u32)a - (dk_u32)b), error);
}
DK_FN dk_i32 dk_mul_i16(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  return dk_check_i16((dk_i32)((dk_u32)a * (dk_u32)b), error);
}
DK_FN dk_i32 dk_neg_i16(dk_i32 a, DK_PRIVATE dk_i32* error) { return dk_check_i16((dk_i32)(0U - (dk_u32)a), error); }
DK_FN dk_i32 dk_abs_i16(dk_i32 a, DK_PRIVATE dk_i32* error) { return a < 0 ? dk_neg_i16(a, error) : a; }

// ---- integer

DK_FN dk_i32 dk_add_unchecked_i32(dk_i32 a, dk_i32 b) { return (dk_i32)((dk_u32)a + (dk_u32)b); }
DK_FN dk_i32 dk_sub_unchecked_i32(dk_i32 a, dk_i32 b) { return (dk_i32)((dk_u32)a - (dk_u32)b); }
DK_FN dk_i32 dk_mul_unchecked_i32(dk_i32 a, dk_i32 b) { return (dk_i32)((dk_u32)a * (dk_u32)b); }
DK_FN dk_i32 dk_neg_unchecked_i32(dk_i32 a) { return (dk_i32)(0U - (dk_u32)a); }

// A sum overflows when both arguments have a sign that it has not.
DK_FN dk_i32 dk_add_i32(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  dk_i32 r = dk_add_unchecked_i32(a, b);
  DK_RAISE_IF(((a ^ r) & (b ^ r)) < 0, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i32 dk_sub_i32(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  dk_i32 r = dk_sub_unchecked_i32(a, b);
  DK_RAISE_IF(((a ^ b) & (a ^ r)) < 0, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i32 dk_mul_i32(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  dk_i64 wide = (dk_i64)a * (dk_i64)b;
  dk_i32 r = (dk_i32)wide;
  DK_RAISE_IF((dk_i32)(wide >> 32) != (r >> 31), DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i32 dk_neg_i32(dk_i32 a, DK_PRIVATE dk_i32* error) { return dk_sub_i32(0, a, error); }

DK_FN dk_i32 dk_abs_i32(dk_i32 a, DK_PRIVATE dk_i32* error) {
  dk_i32 r = a < 0 ? dk_neg_unchecked_i32(a) : a;
  DK_RAISE_IF(r < 0, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i32 dk_div_i32(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  if (b == 0) dk_raise(error, DK_DIVISION_BY_ZERO);
  if (b == -1) return dk_neg_i32(a, error);  // the one quotient that overflows
  return a / (b == 0 ? 1 : b);
}

DK_FN dk_i32 dk_mod_i32(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  if (b == 0) dk_raise(error, DK_DIVISION_BY_ZERO);
  return b == 0 || b == -1 ? 0 : a % b;
}

DK_FN dk_i32 dk_div_i16(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  return dk_check_i16(dk_div_i32(a, b, error), error);
}
DK_FN dk_i32 dk_mod_i16(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) { return dk_mod_i32(a, b, error); }

// ---- bigint, and numeric of up to 18 digits

DK_FN dk_i64 dk_add_unchecked_i64(dk_i64 a, dk_i64 b) { return (dk_i64)((dk_u64)a + (dk_u64)b); }
DK_FN dk_i64 dk_sub_unchecked_i64(dk_i64 a, dk_i64 b) { return (dk_i64)((dk_u64)a - (dk_u64)b); }
DK_FN dk_i64 dk_mul_unchecked_i64(dk_i64 a, dk_i64 b) { return (dk_i64)((dk_u64)a * (dk_u64)b); }
DK_FN dk_i64 dk_neg_unchecked_i64(dk_i64 a) { return (dk_i64)(DK_U64(0) - (dk_u64)a); }

DK_FN dk_i64 dk_add_i64(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  dk_i64 r = dk_add_unchecked_i64(a, b);
  DK_RAISE_IF(((a ^ r) & (b ^ r)) < 0, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i64 dk_sub_i64(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  dk_i64 r = dk_sub_unchecked_i64(a, b);
  DK_RAISE_IF(((a ^ b) & (a ^ r)) < 0, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i64 dk_mul_i64(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
#if DK_HAS_OVERFLOW_BUILTINS
  dk_i64 r;
  DK_RAISE_IF(__builtin_mul_overflow(a, b, &r), DK_NUMERIC_OUT_OF_RANGE);
  return r;
#else
  dk_i128 wide = dk_mul_wide_i64(a, b);
  DK_RAISE_IF(!dk_fits_i64(wide), DK_NUMERIC_OUT_OF_RANGE);
  return (dk_i64)wide.lo;
#endif
}

DK_FN dk_i64 dk_neg_i64(dk_i64 a, DK_PRIVATE dk_i32* error) { return dk_sub_i64(0, a, error); }

DK_FN dk_i64 dk_abs_i64(dk_i64 a, DK_PRIVATE dk_i32* error) {
  dk_i64 r = a < 0 ? dk_neg_unchecked_i64(a) : a;
  DK_RAISE_IF(r < 0, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i64 dk_div_i64(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  if (b == 0) dk_raise(error, DK_DIVISION_BY_ZERO);
  if (b == -1) return dk_neg_i64(a, error);
  return a / (b == 0 ? 1 : b);
}

DK_FN dk_i64 dk_mod_i64(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  if (b == 0) dk_raise(error, DK_DIVISION_BY_ZERO);
  return b == 0 || b == -1 ? 0 : a % b;
}

// ---- common divisors and multiples, by Euclid on the magnitudes

DK_FN dk_u64 dk_gcd_u64(dk_u64 a, dk_u64 b) {
  while (b != 0) {
    dk_u64 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

DK_FN dk_u64 dk_magnitude_i64(dk_i64 a) { return a < 0 ? DK_U64(0) - (dk_u64)a : (dk_u64)a; }

DK_FN dk_i64 dk_gcd_i64(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  dk_i64 r = (dk_i64)dk_gcd_u64(dk_magnitude_i64(a), dk_magnitude_i64(b));
  DK_RAISE_IF(r < 0, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_i64 dk_lcm_i64(dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  if (a == 0 || b == 0) return 0;
  dk_u64 divisor = dk_gcd_u64(dk_magnitude_i64(a), dk_magnitude_i64(b));
  dk_u128 r = dk_mul_u64(dk_magnitude_i64(a) / divisor, dk_magnitude_i64(b));
  DK_RAISE_IF(r.hi != 0 || (dk_i64)r.lo < 0, DK_NUMERIC_OUT_OF_RANGE);
  return (dk_i64)r.lo;
}

DK_FN dk_i32 dk_narrow_i32(dk_i64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(a != (dk_i32)a, DK_NUMERIC_OUT_OF_RANGE);
  return (dk_i32)a;
}

DK_FN dk_i32 dk_gcd_i32(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  return dk_narrow_i32(dk_gcd_i64(a, b, error), error);
}
DK_FN dk_i32 dk_lcm_i32(dk_i32 a, dk_i32 b, DK_PRIVATE dk_i32* error) {
  return dk_narrow_i32(dk_lcm_i64(a, b, error), error);
}

// ---- comparisons: dk_eq_i32 ... dk_ge_i32, dk_cmp_i32 (-1, 0, 1), and the same for i64, bool

#define DK_INTEGER_COMPARISONS(suffix, type)                      \
  DK_FN dk_bool dk_eq_##suffix(type a, type b) { return a == b; } \
  DK_FN dk_bool dk_ne_##suffix(type a, type b) { return a != b; } \
  DK_FN dk_bool dk_lt_##suffix(type a, type b) { return a < b; }  \
  DK_FN dk_bool dk_le_##suffix(type a, type b) { return a <= b; } \
  DK_FN dk_bool dk_gt_##suffix(type a, type b) { return a > b; }  \
  DK_FN dk_bool dk_ge_##suffix(type a, type b) { return a >= b; } \
  DK_FN dk_i32 dk_cmp_##suffix(type a, type b) { return (a > b) - (a < b); }

DK_INTEGER_COMPARISONS(bool, dk_bool)
DK_INTEGER_COMPARISONS(i32, dk_i32)
DK_INTEGER_COMPARISONS(i64, dk_i64)
