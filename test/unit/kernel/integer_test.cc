#include <gtest/gtest.h>

#include <climits>
#include <numeric>

#include "kernel/kernel_testing.h"

namespace diptych::testing {
namespace {

// Compares with the result in 128 bits, which is exact.
template <typename T>
void expect_exact(Outcome<T> got, Int128 exact, const std::string& what) {
  bool fits = exact >= std::numeric_limits<T>::min() && exact <= std::numeric_limits<T>::max();
  EXPECT_EQ(got.error, fits ? 0 : out_of_range) << what;
  if (fits) {
    EXPECT_EQ(got.value, static_cast<T>(exact)) << what;
  }
}

TEST(Integer, AgreesWithWiderArithmetic) {
  Random random;
  for (int i = 0; i < 200000; i++) {
    dk_i64 a = random.any_i64();
    dk_i64 b = random.any_i64();
    std::string what = std::to_string(a) + ", " + std::to_string(b);
    expect_exact(call(dk_add_i64, a, b), Int128{a} + b, "add " + what);
    expect_exact(call(dk_sub_i64, a, b), Int128{a} - b, "sub " + what);
    expect_exact(call(dk_mul_i64, a, b), Int128{a} * b, "mul " + what);
    expect_exact(call(dk_neg_i64, a), -Int128{a}, "neg " + what);
    expect_exact(call(dk_abs_i64, a), a < 0 ? -Int128{a} : a, "abs " + what);
    if (b != 0) expect_exact(call(dk_div_i64, a, b), Int128{a} / b, "div " + what);
    if (b != 0) expect_exact(call(dk_mod_i64, a, b), Int128{a} % b, "mod " + what);
    dk_i32 c = random.any_i32();
    dk_i32 d = random.any_i32();
    what = std::to_string(c) + ", " + std::to_string(d);
    expect_exact(call(dk_add_i32, c, d), Int128{c} + d, "add " + what);
    expect_exact(call(dk_sub_i32, c, d), Int128{c} - d, "sub " + what);
    expect_exact(call(dk_mul_i32, c, d), Int128{c} * d, "mul " + what);
    if (d != 0) expect_exact(call(dk_div_i32, c, d), Int128{c} / d, "div " + what);
    if (d != 0) expect_exact(call(dk_mod_i32, c, d), Int128{c} % d, "mod " + what);
  }
}

TEST(Integer, Limits) {
  EXPECT_EQ(ERROR_OF(dk_div_i32, INT_MIN, -1), out_of_range);
  EXPECT_EQ(VALUE_OF(dk_mod_i32, INT_MIN, -1), 0);
  EXPECT_EQ(ERROR_OF(dk_mod_i32, INT_MIN, -1), 0);
  EXPECT_EQ(ERROR_OF(dk_div_i64, LONG_MIN, -1L), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_div_i32, 1, 0), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_mod_i32, 1, 0), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_div_i64, 0L, 0L), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(ERROR_OF(dk_mod_i64, 0L, 0L), DK_DIVISION_BY_ZERO);
  EXPECT_EQ(VALUE_OF(dk_div_i32, -7, 2), -3);
  EXPECT_EQ(VALUE_OF(dk_mod_i32, -7, 2), -1);
  EXPECT_EQ(ERROR_OF(dk_abs_i32, INT_MIN), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_neg_i32, INT_MIN), out_of_range);
}

TEST(Integer, SmallintChecksItsRange) {
  EXPECT_EQ(ERROR_OF(dk_add_i16, 32767, 0), 0);
  EXPECT_EQ(ERROR_OF(dk_add_i16, 32767, 1), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_sub_i16, -32768, 0), 0);
  EXPECT_EQ(ERROR_OF(dk_sub_i16, -32768, 1), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_mul_i16, 256, 128), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_neg_i16, -32768), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_abs_i16, -32768), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_div_i16, -32768, -1), out_of_range);
  EXPECT_EQ(VALUE_OF(dk_abs_i16, -32767), 32767);
}

// An error stays when the next call succeeds.
TEST(Integer, ErrorsAreNeverCleared) {
  dk_i32 error = 0;
  dk_add_i32(INT_MAX, 1, &error);
  dk_add_i32(1, 1, &error);
  EXPECT_EQ(error, out_of_range);
}

TEST(Integer, CommonDivisorsAndMultiples) {
  Random random;
  for (int i = 0; i < 20000; i++) {
    dk_i64 a = random.any_i64() >> 32;
    dk_i64 b = random.any_i64() >> 32;
    EXPECT_EQ(VALUE_OF(dk_gcd_i64, a, b), std::gcd(a, b)) << a << ", " << b;
    EXPECT_EQ(VALUE_OF(dk_lcm_i64, a, b), std::lcm(a, b)) << a << ", " << b;
  }
  EXPECT_EQ(ERROR_OF(dk_gcd_i64, LONG_MIN, 0L), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_gcd_i32, INT_MIN, INT_MIN), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_lcm_i64, LONG_MAX, LONG_MAX - 1), out_of_range);
  EXPECT_EQ(ERROR_OF(dk_lcm_i32, INT_MAX, INT_MAX - 1), out_of_range);
}

TEST(Bits, OperatorsAndDecoding) {
  EXPECT_EQ(dk_shift_left_i32(1, 33), 2);  // as PostgreSQL on x86
  EXPECT_EQ(dk_shift_left_i64(1, 65), 2);
  EXPECT_EQ(dk_shift_left_i16(1, 15), -32768);
  EXPECT_EQ(dk_shift_right_i32(-8, 1), -4);
  EXPECT_EQ(dk_not_i16(0), -1);
  dk_u8 bytes[] = {0, 1, 255};
  EXPECT_EQ(dk_decode_u8(bytes, 2, -100, 100), 25400);
  EXPECT_EQ(dk_decode32_u8(bytes, 2, INT_MIN, 1), INT_MIN + 255);
  dk_u64 words[] = {~0UL};
  EXPECT_EQ(dk_decode_u64(words, 0, LONG_MIN, 1), LONG_MAX);
  dk_u8 bitmap[] = {0b00000101, 0b10000000};
  EXPECT_TRUE(dk_is_valid(bitmap, 0));
  EXPECT_FALSE(dk_is_valid(bitmap, 1));
  EXPECT_TRUE(dk_is_valid(bitmap, 15));
}

}  // namespace
}  // namespace diptych::testing
