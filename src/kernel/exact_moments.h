// Averages and deviations of whole numbers out of their count, sum and sum of squares, exact to the last digit. They
// are computed with numbers as rows of digits of 32 bits, the lowest first:
//
//   dividend   count * squares - sum * sum: 12 digits; times 10^76 at most, and 4: 20; one more for the division
//   divisor    count * count: 4 digits; times 10^76 at most: 12
//
// Results are rounded to the nearest, halves away from zero; beyond 38 digits they raise DK_NUMERIC_OUT_OF_RANGE.
#pragma once

enum dk_exact_digits { DK_DIVIDEND_DIGITS = 21, DK_DIVISOR_DIGITS = 12 };

typedef struct dk_exact_moments {
  dk_u32 count[2];
  dk_u32 sum[6];       // its magnitude
  dk_u32 squares[10];  // the sum of the squares
  dk_bool is_negative;
} dk_exact_moments;

DK_FN void dk_split_u64(DK_PRIVATE dk_u32* digits, dk_u64 word) {
  digits[0] = (dk_u32)word;
  digits[1] = (dk_u32)(word >> 32);
}

DK_FN void dk_negate_digits(DK_PRIVATE dk_u32* a, dk_i32 count) {
  dk_u64 carry = 1;
  for (dk_i32 i = 0; i < count; i++) {
    carry += (dk_u32)~a[i];
    a[i] = (dk_u32)carry;
    carry >>= 32;
  }
}

// a -= b, which is not greater; both of as many digits.
DK_FN void dk_subtract_digits(DK_PRIVATE dk_u32* a, const DK_PRIVATE dk_u32* b, dk_i32 count) {
  dk_u64 borrow = 0;
  for (dk_i32 i = 0; i < count; i++) {
    dk_u64 difference = (dk_u64)a[i] - b[i] - borrow;
    a[i] = (dk_u32)difference;
    borrow = difference >> 63;
  }
}

// product = a * b, of as many digits as both have.
DK_FN void dk_multiply_digits(DK_PRIVATE dk_u32* product, const DK_PRIVATE dk_u32* a, dk_i32 count,
                              const DK_PRIVATE dk_u32* b, dk_i32 more) {
  for (dk_i32 i = 0; i < count + more; i++) product[i] = 0;
  for (dk_i32 i = 0; i < count; i++) {
    dk_u64 carry = 0;
    for (dk_i32 j = 0; j < more; j++) {
      carry += (dk_u64)a[i] * b[j] + product[i + j];
      product[i + j] = (dk_u32)carry;
      carry >>= 32;
    }
    product[i + more] = (dk_u32)carry;
  }
}

// a *= factor, which no digit is lost by.
DK_FN void dk_scale_digits(DK_PRIVATE dk_u32* a, dk_i32 count, dk_u32 factor) {
  dk_u64 carry = 0;
  for (dk_i32 i = 0; i < count; i++) {
    carry += (dk_u64)a[i] * factor;
    a[i] = (dk_u32)carry;
    carry >>= 32;
  }
}

DK_FN void dk_multiply_by_power_of_ten(DK_PRIVATE dk_u32* a, dk_i32 count, dk_i32 exponent) {
  for (dk_i32 left = exponent; left > 0; left -= 9)
    dk_scale_digits(a, count, (dk_u32)dk_powers_of_ten[left < 9 ? left : 9]);
}

DK_FN dk_i32 dk_used_digits(const DK_PRIVATE dk_u32* a, dk_i32 count) {
  while (count > 0 && a[count - 1] == 0) count--;
  return count;
}

// The whole part of dividend / divisor, neither of which is kept; the dividend's highest digit is 0. Raises if 256 bits
// do not hold it. Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D.
DK_FN dk_u256 dk_divide_digits(DK_PRIVATE dk_u32* dividend, DK_PRIVATE dk_u32* divisor, DK_PRIVATE dk_i32* error) {
  dk_u64 quotient[4] = {0, 0, 0, 0};
  const dk_i32 n = dk_used_digits(divisor, DK_DIVISOR_DIGITS);
  const dk_u32 factor = 1U << (DK_CLZ_U64(divisor[n - 1]) - 32);
  dk_scale_digits(divisor, n, factor);
  dk_scale_digits(dividend, DK_DIVIDEND_DIGITS, factor);
  // A digit of 0 before the first one in use.
  dk_i32 place = dk_used_digits(dividend, DK_DIVIDEND_DIGITS) - n;
  if (place + n >= DK_DIVIDEND_DIGITS) place = DK_DIVIDEND_DIGITS - 1 - n;
  for (; place >= 0; place--) {
    dk_u32 digit = dk_divide_digit(dividend, divisor, n, place);
    if (place < 8)
      quotient[place >> 1] |= (dk_u64)digit << ((place & 1) * 32);
    else if (digit != 0)
      dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
  }
  dk_u256 r;
  r.lo = dk_make_u128(quotient[1], quotient[0]);
  r.hi = dk_make_u128(quotient[3], quotient[2]);
  return r;
}

// Half of a number, rounded up: the nearest to x of the whole part of 2 * x.
DK_FN dk_u128 dk_half_rounded(dk_u128 a) { return dk_add_u128(dk_shift_right_u128(a, 1), dk_make_u128(0, a.lo & 1)); }

// sum: three words, two's complement. squares: five words.
DK_FN dk_exact_moments dk_make_exact_moments(dk_u64 count, const DK_PRIVATE dk_u64* sum,
                                             const DK_PRIVATE dk_u64* squares) {
  dk_exact_moments r;
  dk_split_u64(r.count, count);
  for (dk_i32 i = 0; i < 3; i++) dk_split_u64(r.sum + 2 * i, sum[i]);
  for (dk_i32 i = 0; i < 5; i++) dk_split_u64(r.squares + 2 * i, squares[i]);
  r.is_negative = (sum[2] >> 63) != 0;
  if (r.is_negative) dk_negate_digits(r.sum, 6);
  return r;
}

// sum * 10^shift / count; count > 0, 0 <= shift <= 38.
DK_FN dk_i128 dk_exact_average(dk_exact_moments moments, dk_i32 shift, DK_PRIVATE dk_i32* error) {
  dk_u32 dividend[DK_DIVIDEND_DIGITS];
  dk_u32 divisor[DK_DIVISOR_DIGITS];
  for (dk_i32 i = 0; i < DK_DIVIDEND_DIGITS; i++) dividend[i] = i < 6 ? moments.sum[i] : 0;
  for (dk_i32 i = 0; i < DK_DIVISOR_DIGITS; i++) divisor[i] = i < 2 ? moments.count[i] : 0;
  dk_multiply_by_power_of_ten(dividend, DK_DIVIDEND_DIGITS, shift);
  dk_scale_digits(dividend, DK_DIVIDEND_DIGITS, 2);
  dk_u256 twice = dk_divide_digits(dividend, divisor, error);
  if (!dk_is_zero_u128(twice.hi)) dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
  return dk_numeric_of(dk_half_rounded(twice.lo), moments.is_negative, error);
}

// (count * squares - sum * sum) / (count * (count - of_sample)) * 10^shift, or the root of that; count > of_sample,
// -76 <= shift <= 76.
DK_FN dk_i128 dk_exact_deviation(dk_exact_moments moments, dk_bool of_sample, dk_bool has_root, dk_i32 shift,
                                 DK_PRIVATE dk_i32* error) {
  dk_u32 dividend[DK_DIVIDEND_DIGITS];
  dk_u32 divisor[DK_DIVISOR_DIGITS];
  dk_u32 product[12];
  dk_multiply_digits(dividend, moments.squares, 10, moments.count, 2);
  dk_multiply_digits(product, moments.sum, 6, moments.sum, 6);
  dk_subtract_digits(dividend, product, 12);
  for (dk_i32 i = 12; i < DK_DIVIDEND_DIGITS; i++) dividend[i] = 0;
  dk_u32 others[2];
  dk_split_u64(others, ((dk_u64)moments.count[1] << 32 | moments.count[0]) - of_sample);
  dk_multiply_digits(divisor, moments.count, 2, others, 2);
  for (dk_i32 i = 4; i < DK_DIVISOR_DIGITS; i++) divisor[i] = 0;
  dk_multiply_by_power_of_ten(dividend, DK_DIVIDEND_DIGITS, shift);
  dk_multiply_by_power_of_ten(divisor, DK_DIVISOR_DIGITS, -shift);
  // The half, rounded up, of twice as much as is asked for.
  dk_scale_digits(dividend, DK_DIVIDEND_DIGITS, has_root ? 4 : 2);
  dk_u256 quotient = dk_divide_digits(dividend, divisor, error);
  if (!has_root && !dk_is_zero_u128(quotient.hi)) dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
  return dk_numeric_of(dk_half_rounded(has_root ? dk_root_u256(quotient) : quotient.lo), 0, error);
}
