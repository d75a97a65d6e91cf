// From a wider register to a narrower one, and the checks that a register's own width does not make.
#pragma once

DK_FN dk_i32 dk_narrow_i64_i32(dk_i64 a, DK_PRIVATE dk_i32* error) {
  dk_i32 r = (dk_i32)a;
  DK_RAISE_IF((dk_i64)r != a, DK_NUMERIC_OUT_OF_RANGE);
  return r;
}
DK_FN dk_i64 dk_narrow_i128_i64(dk_i128 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(!dk_fits_i64(a), DK_NUMERIC_OUT_OF_RANGE);
  return (dk_i64)a.lo;
}
DK_FN dk_i32 dk_narrow_i128_i32(dk_i128 a, DK_PRIVATE dk_i32* error) {
  return dk_narrow_i64_i32(dk_narrow_i128_i64(a, error), error);
}

// 16 bits, in a wider register.
DK_FN dk_i64 dk_check_i16_i64(dk_i64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF((dk_u64)a + 32768U > 65535U, DK_NUMERIC_OUT_OF_RANGE);
  return a;
}
DK_FN dk_i128 dk_check_i16_i128(dk_i128 a, DK_PRIVATE dk_i32* error) {
  dk_check_i16_i64(dk_narrow_i128_i64(a, error), error);
  return a;
}

// The quotient of two whole numbers, cut towards zero.
DK_FN dk_i128 dk_quotient_i128(dk_i128 a, dk_i128 b, DK_PRIVATE dk_i32* error) {
  dk_u128 divisor = dk_magnitude_i128(b), remainder;
  if (dk_is_zero_u128(divisor)) {
    dk_raise(error, DK_DIVISION_BY_ZERO);
    return a;
  }
  return dk_with_sign(dk_divide_u128(dk_magnitude_i128(a), divisor, &remainder), (dk_bool)((a.hi < 0) != (b.hi < 0)));
}
