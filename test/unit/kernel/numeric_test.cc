#include <gtest/gtest.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "kernel/kernel_testing.h"

namespace diptych::testing {
namespace {

const Int128 limit = power_of_ten(38);

std::string shown(dk_i128 a) { return decimal(dk_native(a)); }

// Checks a result against the exact one: an error if it has more than 38 digits.
void expect_exact(Outcome<dk_i128> got, Int128 exact, const std::string& what) {
  bool fits = exact > -limit && exact < limit;
  EXPECT_EQ(got.error, fits ? 0 : DK_NUMERIC_OUT_OF_RANGE) << what;
  if (fits) {
    EXPECT_EQ(shown(got.value), decimal(exact)) << what;
  }
}

Int128 rounded_quotient(Int128 a, Int128 b) {
  UInt128 magnitude_a = a < 0 ? -static_cast<UInt128>(a) : a;
  UInt128 magnitude_b = b < 0 ? -static_cast<UInt128>(b) : b;
  UInt128 q = magnitude_a / magnitude_b;
  UInt128 rest = magnitude_a % magnitude_b;
  if (rest >= magnitude_b - rest) q++;
  return (a < 0) != (b < 0) ? -static_cast<Int128>(q) : static_cast<Int128>(q);
}

TEST(Wide, PortableFormsAgreeWithTheCompilers) {
  Random random;
  for (int i = 0; i < 100000; i++) {
    UInt128 a = static_cast<UInt128>(random.any_i128());
    UInt128 b = static_cast<UInt128>(random.any_i128());
    dk_i64 c = random.any_i64();
    dk_i64 d = random.any_i64();
    EXPECT_EQ(dk_native(dk_mul_wide_i64_portable(c, d)), Int128{c} * d);
    EXPECT_EQ(dk_native(dk_add_unchecked_i128(i128(a), i128(b))), static_cast<Int128>(a + b));
    EXPECT_EQ(dk_native(dk_sub_unchecked_i128(i128(a), i128(b))), static_cast<Int128>(a - b));
    EXPECT_EQ(dk_cmp_i128(i128(a), i128(b)), (Int128(a) > Int128(b)) - (Int128(a) < Int128(b)));
    EXPECT_EQ(dk_lt_i128(i128(a), i128(b)), Int128(a) < Int128(b));
    if (b == 0) continue;
    dk_u128 rest;
    dk_u256 wide{dk_of_native_u(a), dk_make_u128(0, 0)};
    EXPECT_EQ(dk_native_u(dk_divide_u256_portable(wide, dk_of_native_u(b), &rest)), a / b);
    EXPECT_EQ(dk_native_u(rest), a % b);
  }
}

// (q * b + r) / b is q and r, for any q, b and r below b: the division of 256 bits against the multiplication.
TEST(Wide, DivisionUndoesMultiplication) {
  Random random;
  for (int i = 0; i < 100000; i++) {
    dk_u128 q = dk_of_native_u(static_cast<UInt128>(random.any_i128()));
    dk_u128 b = dk_of_native_u(static_cast<UInt128>(random.any_i128()) | 1);
    dk_u128 r = dk_of_native_u(static_cast<UInt128>(random.any_i128()) % dk_native_u(b));
    dk_u256 product = dk_mul_u128(q, b);
    dk_u128 low = dk_add_u128(product.lo, r);
    product.hi = dk_add_u128(product.hi, dk_make_u128(0, dk_lt_u128(low, r)));
    product.lo = low;
    dk_u128 rest;
    EXPECT_EQ(dk_native_u(dk_divide_u256_portable(product, b, &rest)), dk_native_u(q));
    EXPECT_EQ(dk_native_u(rest), dk_native_u(r));
  }
}

TEST(Numeric, AddSubMulWithin38Digits) {
  Random random;
  for (int i = 0; i < 100000; i++) {
    Int128 a = random.any_decimal(38);
    Int128 b = random.any_decimal(38);
    std::string what = decimal(a) + ", " + decimal(b);
    Int128 sum = 0;
    bool wrapped = __builtin_add_overflow(a, b, &sum);
    expect_exact(call(dk_add_i128, i128(a), i128(b)), wrapped ? limit : sum, what);
    wrapped = __builtin_sub_overflow(a, b, &sum);
    expect_exact(call(dk_sub_i128, i128(a), i128(b)), wrapped ? limit : sum, what);
    Int128 c = random.any_decimal(19);
    Int128 d = random.any_decimal(19);
    expect_exact(call(dk_mul_i128, i128(c), i128(d)), c * d, decimal(c) + " * " + decimal(d));
    if (a != 0 && b != 0) {
      bool fits = static_cast<long double>(a < 0 ? -a : a) * static_cast<long double>(b < 0 ? -b : b) < 0.9e38L;
      if (fits) expect_exact(call(dk_mul_i128, i128(a), i128(b)), a * b, what);
    }
  }
  expect_exact(call(dk_add_i128, i128(limit - 1), i128(1)), limit, "limit");
  expect_exact(call(dk_add_i128, i128(limit - 1), i128(limit - 1)), limit, "wraps");
  expect_exact(call(dk_sub_i128, i128(1 - limit), i128(1)), -limit, "limit");
  EXPECT_EQ(ERROR_OF(dk_mul_i128, i128(power_of_ten(19)), i128(power_of_ten(19))), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(ERROR_OF(dk_mul_i128, i128(power_of_ten(20)), i128(power_of_ten(17))), 0);
  EXPECT_EQ(shown(VALUE_OF(dk_mul_drop_i128, i128(power_of_ten(30)), i128(-15), 31)), "-2");  // -1.5
}

TEST(Numeric, DivisionRoundsHalvesAwayFromZero) {
  EXPECT_EQ(shown(VALUE_OF(dk_div_i128, i128(1), i128(3), 16)), "3333333333333333");
  EXPECT_EQ(shown(VALUE_OF(dk_div_i128, i128(2), i128(3), 16)), "6666666666666667");
  EXPECT_EQ(shown(VALUE_OF(dk_div_i128, i128(1), i128(2), 0)), "1");
  EXPECT_EQ(shown(VALUE_OF(dk_div_i128, i128(-1), i128(2), 0)), "-1");
  EXPECT_EQ(shown(VALUE_OF(dk_div_wide_i64, 1L, -2L, 0)), "-1");
  EXPECT_EQ(shown(VALUE_OF(dk_div_wide_i64, 1L, 3L, 0)), "0");
  EXPECT_EQ(ERROR_OF(dk_div_i128, i128(1), i128(0), 16), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_div_wide_i64, 1L, 0L, 16), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_div_i128, i128(limit - 1), i128(1), 1), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(ERROR_OF(dk_div_i128, i128(1), i128(1), 76), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(ERROR_OF(dk_div_i128, i128(limit - 1), i128(limit - 1), 76), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(shown(VALUE_OF(dk_div_i128, i128(1), i128(power_of_ten(37)), 74)), decimal(power_of_ten(37)));
  EXPECT_EQ(shown(VALUE_OF(dk_div_i128, i128(0), i128(7), 76)), "0");
}

TEST(Numeric, DivisionAgreesWithWiderArithmetic) {
  Random random;
  for (int i = 0; i < 100000; i++) {
    int shift = static_cast<int>(random.below(20));
    Int128 a = random.any_decimal(19);
    Int128 b = random.any_decimal(30);
    if (b == 0) continue;
    Int128 exact = rounded_quotient(a * power_of_ten(shift), b);
    std::string what = decimal(a) + " / " + decimal(b) + " shift " + std::to_string(shift);
    expect_exact(call(dk_div_i128, i128(a), i128(b), shift), exact, what);
    dk_i64 c = random.any_i64() % 1000000000000000000L;
    dk_i64 d = random.any_i64();
    if (d == 0) continue;
    exact = rounded_quotient(Int128{c} * power_of_ten(shift), d);
    expect_exact(call(dk_div_wide_i64, c, d, shift), exact, std::to_string(c) + " / " + std::to_string(d));
  }
}

TEST(Numeric, RemainderAndWholeQuotient) {
  Random random;
  for (int i = 0; i < 50000; i++) {
    Int128 a = random.any_decimal(38);
    Int128 b = random.any_decimal(38);
    if (b == 0) continue;
    expect_exact(call(dk_mod_i128, i128(a), i128(b)), a % b, decimal(a) + " % " + decimal(b));
    expect_exact(call(dk_div_whole_n128, i128(a), i128(b), 5, 5, 38, 0), a / b, decimal(a) + " div " + decimal(b));
  }
  EXPECT_EQ(shown(VALUE_OF(dk_div_whole_n128, i128(75), i128(2), 1, 0, 38, 0)), "3");      // 7.5 div 2
  EXPECT_EQ(shown(VALUE_OF(dk_div_whole_n128, i128(-75), i128(200), 1, 2, 38, 0)), "-3");  // -7.5 div 2.00
  EXPECT_EQ(ERROR_OF(dk_mod_n64, 5L, 0L, 2, 2, 18, 2), DK_DIVISION_BY_ZERO);
}

struct RoundingCase {
  Int128 value;
  int scale, digits;
  const char *rounded, *truncated, *ceiling, *floor;  // ceiling and floor at scale 0
};

TEST(Numeric, Rounding) {
  const RoundingCase cases[] = {
      {15, 1, 0, "2", "1", "2", "1"},
      {-15, 1, 0, "-2", "-1", "-1", "-2"},
      {25, 1, 0, "3", "2", "3", "2"},
      {14, 1, 0, "1", "1", "2", "1"},
      {-14, 1, 0, "-1", "-1", "-1", "-2"},
      {0, 5, 0, "0", "0", "0", "0"},
      {5, 1, 0, "1", "0", "1", "0"},
      {-5, 1, 0, "-1", "0", "0", "-1"},
      {limit - 1, 38, 0, "1", "0", "1", "0"},
      {1, 38, 0, "0", "0", "1", "0"},
      {12345, 0, -2, "12300", "12300", "12345", "12345"},
      {12350, 0, -2, "12400", "12300", "12350", "12350"},
      {9999, 2, -2, "100", "0", "100", "99"},
      {49, 0, -2, "0", "0", "49", "49"},
      {5, 0, -200, "0", "0", "5", "5"},
  };
  for (const auto& c : cases) {
    std::string what = decimal(c.value) + "e-" + std::to_string(c.scale);
    EXPECT_EQ(shown(VALUE_OF(dk_round_digits_n128, i128(c.value), c.digits, c.scale, 38, 0)), c.rounded) << what;
    EXPECT_EQ(shown(VALUE_OF(dk_trunc_digits_n128, i128(c.value), c.digits, c.scale, 38, 0)), c.truncated) << what;
    EXPECT_EQ(shown(dk_ceil_n128(i128(c.value), c.scale, 38, 0)), c.ceiling) << what;
    EXPECT_EQ(shown(dk_floor_n128(i128(c.value), c.scale, 38, 0)), c.floor) << what;
    if (c.scale > 18 || c.value != static_cast<dk_i64>(c.value)) continue;
    auto value = static_cast<dk_i64>(c.value);
    EXPECT_EQ(std::to_string(VALUE_OF(dk_round_digits_n64, value, c.digits, c.scale, 18, 0)), c.rounded) << what;
    EXPECT_EQ(std::to_string(VALUE_OF(dk_trunc_digits_n64, value, c.digits, c.scale, 18, 0)), c.truncated) << what;
    EXPECT_EQ(std::to_string(dk_ceil_n64(value, c.scale, 18, 0)), c.ceiling) << what;
    EXPECT_EQ(std::to_string(dk_floor_n64(value, c.scale, 18, 0)), c.floor) << what;
  }
  // round(1.005, 2) with scale 3, the scale kept: 1.010
  EXPECT_EQ(VALUE_OF(dk_round_digits_n64, 1005L, 2, 3, 18, 3), 1010);
  // round(1.5, 4) at scale 4: 1.5000
  EXPECT_EQ(VALUE_OF(dk_round_digits_n64, 15L, 4, 1, 18, 4), 15000);
  EXPECT_EQ(ERROR_OF(dk_round_digits_n128, i128(limit - 1), 1, 0, 38, 1), DK_NUMERIC_OUT_OF_RANGE);
  // Rounding up makes a digit more, which 38 do not hold: 999...9.5 -> 10^37 is fine, at the limit it is not.
  EXPECT_EQ(ERROR_OF(dk_round_digits_n128, i128(limit - 1), -1, 0, 38, 0), DK_NUMERIC_OUT_OF_RANGE);
}

TEST(Numeric, CastsCheckPrecision) {
  EXPECT_EQ(VALUE_OF(dk_cast_n64_n64, 12345L, 3, 18, 2), 1235);
  EXPECT_EQ(VALUE_OF(dk_cast_n64_n64, -12345L, 3, 18, 2), -1235);
  EXPECT_EQ(VALUE_OF(dk_cast_n64_n64, 12345L, 3, 18, 5), 1234500);
  EXPECT_EQ(ERROR_OF(dk_cast_n64_n64, 9995L, 3, 3, 2), DK_NUMERIC_OUT_OF_RANGE);  // 9.995 -> numeric(3,2)
  EXPECT_EQ(ERROR_OF(dk_cast_n64_n64, 9994L, 3, 3, 2), 0);
  EXPECT_EQ(ERROR_OF(dk_cast_i64_n64, LONG_MAX, 18, 0), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(ERROR_OF(dk_cast_i64_n64, 1L, 18, 18), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(shown(VALUE_OF(dk_cast_i64_n128, LONG_MIN, 38, 19)), "-92233720368547758080000000000000000000");
  EXPECT_EQ(ERROR_OF(dk_cast_i64_n128, LONG_MIN, 38, 20), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(VALUE_OF(dk_cast_n128_n64, i128(power_of_ten(30)), 20, 18, 0), 10000000000L);
  EXPECT_EQ(ERROR_OF(dk_cast_n128_n64, i128(power_of_ten(30)), 10, 18, 0), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(VALUE_OF(dk_cast_n64_i32, 25L, 1), 3);
  EXPECT_EQ(VALUE_OF(dk_cast_n64_i32, -25L, 1), -3);
  EXPECT_EQ(ERROR_OF(dk_cast_n64_i32, 21474836475L, 1), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(VALUE_OF(dk_cast_n64_i32, 21474836474L, 1), INT_MAX);
  EXPECT_EQ(ERROR_OF(dk_cast_n128_i64, i128(power_of_ten(37)), 2), DK_NUMERIC_OUT_OF_RANGE);
  EXPECT_EQ(ERROR_OF(dk_cast_n64_i16, 32768L, 0), DK_NUMERIC_OUT_OF_RANGE);
}

// Reading the decimal digits is the oracle: the C library rounds them correctly.
TEST(Numeric, ToFloatingPointIsCorrectlyRounded) {
  Random random;
  for (int i = 0; i < 100000; i++) {
    Int128 value = random.any_decimal(38);
    int scale = static_cast<int>(random.below(39));
    std::string digits = decimal(value) + "e-" + std::to_string(scale);
    EXPECT_EQ(dk_cast_n128_f64(i128(value), scale), std::strtod(digits.c_str(), nullptr)) << digits;
    float nearest = std::strtof(digits.c_str(), nullptr);
    if (std::fabs(nearest) > 1.2e-38F) {
      EXPECT_EQ(VALUE_OF(dk_cast_n128_f32, i128(value), scale), nearest) << digits;
    }
  }
}

TEST(Numeric, SquareRoot) {
  EXPECT_EQ(shown(VALUE_OF(dk_sqrt_n128, i128(2), 0, 38, 16)), "14142135623730950");
  EXPECT_EQ(shown(VALUE_OF(dk_sqrt_n128, i128(0), 0, 38, 16)), "0");
  // The root of 0.99...9 is a hair below 0.99...95.
  EXPECT_EQ(shown(VALUE_OF(dk_sqrt_n128, i128(limit - 1), 38, 38, 38)), decimal(limit - 1));
  EXPECT_EQ(shown(VALUE_OF(dk_sqrt_n128, i128(225), 2, 38, 16)), "15000000000000000");
  EXPECT_EQ(ERROR_OF(dk_sqrt_n128, i128(-1), 0, 38, 16), DK_POWER_DOMAIN);
  Random random;
  for (int i = 0; i < 2000; i++) {
    Int128 root = random.any_decimal(18);
    if (root < 0) root = -root;
    EXPECT_EQ(shown(VALUE_OF(dk_sqrt_n128, i128(root * root), 0, 38, 0)), decimal(root));
    EXPECT_EQ(shown(VALUE_OF(dk_sqrt_n128, i128(root * root + root), 0, 38, 0)), decimal(root));
    EXPECT_EQ(shown(VALUE_OF(dk_sqrt_n128, i128(root * root + root + 1), 0, 38, 0)), decimal(root + 1));
  }
}

}  // namespace
}  // namespace diptych::testing
