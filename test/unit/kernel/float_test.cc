#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <limits>

#include "kernel/kernel_testing.h"

namespace diptych::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

TEST(Float, OverflowAndUnderflowAreErrors) {
  EXPECT_EQ(ERROR_OF(dk_add_f64, largest, largest), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_sub_f64, -largest, largest), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_mul_f64, largest, 2.0), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_mul_f64, smallest, 0.1), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_div_f64, largest, 0.5), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_div_f64, smallest, 10.0), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_add_f32, 3e38F, 3e38F), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_mul_f32, 1e-30F, 1e-30F), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_mul_f64, 0.0, 5.0), 0);
  EXPECT_EQ(ERROR_OF(dk_add_f64, infinity, 1.0), 0);
  EXPECT_EQ(ERROR_OF(dk_div_f64, 1.0, infinity), 0);
}

TEST(Float, DivisionByZero) {
  EXPECT_EQ(ERROR_OF(dk_div_f64, 1.0, 0.0), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_div_f64, 0.0, -0.0), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_div_f64, infinity, 0.0), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_div_f64, nan, 0.0), 0);
  EXPECT_TRUE(std::isnan(VALUE_OF(dk_div_f64, nan, 0.0)));
}

// NaN is one value, above all others.
TEST(Float, OrderIsTotal) {
  const double ascending[] = {-infinity, -largest, -1, 0, smallest, 1, largest, infinity, nan};
  for (size_t i = 0; i < std::size(ascending); i++) {
    for (size_t j = 0; j < std::size(ascending); j++) {
      double a = ascending[i];
      double b = ascending[j];
      EXPECT_EQ(dk_lt_f64(a, b), i < j) << a << ", " << b;
      EXPECT_EQ(dk_le_f64(a, b), i <= j) << a << ", " << b;
      EXPECT_EQ(dk_gt_f64(a, b), i > j) << a << ", " << b;
      EXPECT_EQ(dk_ge_f64(a, b), i >= j) << a << ", " << b;
      EXPECT_EQ(dk_eq_f64(a, b), i == j) << a << ", " << b;
      EXPECT_EQ(dk_ne_f64(a, b), i != j) << a << ", " << b;
      EXPECT_EQ(dk_cmp_f64(a, b), i < j ? -1 : i > j ? 1 : 0) << a << ", " << b;
    }
  }
  EXPECT_TRUE(dk_eq_f64(0.0, -0.0));
}

TEST(Float, RoundingGoesToEven) {
  EXPECT_EQ(dk_round_f64(0.5), 0);
  EXPECT_EQ(dk_round_f64(1.5), 2);
  EXPECT_EQ(dk_round_f64(2.5), 2);
  EXPECT_EQ(dk_round_f64(-2.5), -2);
  EXPECT_EQ(VALUE_OF(dk_cast_f64_i32, 2.5), 2);
  EXPECT_EQ(VALUE_OF(dk_cast_f64_i32, -3.5), -4);
}

TEST(Float, CastsToIntegersCheckTheRange) {
  EXPECT_EQ(VALUE_OF(dk_cast_f64_i32, 2147483647.4), INT_MAX);
  EXPECT_EQ(ERROR_OF(dk_cast_f64_i32, 2147483647.5), out_of_range);
  EXPECT_EQ(VALUE_OF(dk_cast_f64_i32, -2147483648.5), INT_MIN);
  EXPECT_EQ(ERROR_OF(dk_cast_f64_i32, -2147483649.0), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_f64_i64, 9223372036854775808.0), out_of_range);
  EXPECT_EQ(VALUE_OF(dk_cast_f64_i64, -9223372036854775808.0), LONG_MIN);
  EXPECT_EQ(ERROR_OF(dk_cast_f64_i16, 32768.0), out_of_range);
  for (double a : {nan, infinity, -infinity}) {
    EXPECT_EQ(ERROR_OF(dk_cast_f64_i32, a), out_of_range);
    EXPECT_EQ(ERROR_OF(dk_cast_f64_i64, a), out_of_range);
  }
  EXPECT_EQ(ERROR_OF(dk_cast_f64_f32, 1e39), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_f64_f32, 1e-60), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_cast_f64_f32, infinity), 0);
}

TEST(Float, DomainsOfFunctions) {
  EXPECT_EQ(ERROR_OF(dk_sqrt_f64, -1.0), DK_POWER_DOMAIN);
  EXPECT_EQ(VALUE_OF(dk_sqrt_f64, 2.25), 1.5);
  EXPECT_EQ(ERROR_OF(dk_ln_f64, 0.0), DK_LOG_DOMAIN);
  EXPECT_EQ(ERROR_OF(dk_ln_f64, -1.0), DK_LOG_DOMAIN);
  EXPECT_EQ(ERROR_OF(dk_log10_f64, 0.0), DK_LOG_DOMAIN);
  EXPECT_EQ(ERROR_OF(dk_power_f64, 0.0, -1.0), DK_POWER_DOMAIN);
  EXPECT_EQ(ERROR_OF(dk_power_f64, -8.0, 0.5), DK_POWER_DOMAIN);
  EXPECT_EQ(VALUE_OF(dk_power_f64, -2.0, 3.0), -8);
  EXPECT_EQ(VALUE_OF(dk_power_f64, nan, 0.0), 1);
  EXPECT_EQ(VALUE_OF(dk_power_f64, 1.0, nan), 1);
  EXPECT_EQ(ERROR_OF(dk_power_f64, 10.0, 400.0), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_power_f64, 10.0, -400.0), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_exp_f64, 1000.0), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_exp_f64, -1000.0), out_of_range);
  EXPECT_EQ(VALUE_OF(dk_exp_f64, -infinity), 0);
  EXPECT_EQ(ERROR_OF(dk_asin_f64, 1.5), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_sin_f64, infinity), out_of_range);
}

}  // namespace
}  // namespace diptych::testing
