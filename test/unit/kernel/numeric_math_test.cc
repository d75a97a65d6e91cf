// ln, exp, log and power of numeric against PostgreSQL's digits, and their errors.
#include <gtest/gtest.h>

#include "kernel_testing.h"

namespace diptych::testing {
namespace {

constexpr int any_precision = 38;

dk_i128 number(std::string_view digits, int scale) {
  return call(dk_cast_text_n128, text(digits), any_precision, scale).value;
}

std::string shown(const Outcome<dk_i128>& got, int scale) {
  return got.error != 0 ? "error " + std::to_string(got.error) : WRITTEN(cast_n128_text, got.value, scale);
}

std::string exp_of(std::string_view a, int from, int to) {
  return shown(call(dk_exp_n128, number(a, from), from, any_precision, to), to);
}
std::string ln_of(std::string_view a, int from, int to) {
  return shown(call(dk_ln_n128, number(a, from), from, any_precision, to), to);
}
std::string power_of(std::string_view a, std::string_view b, int from, int to) {
  return shown(call(dk_power_n128, number(a, from), number(b, from), from, from, any_precision, to), to);
}
std::string log_of(std::string_view base, std::string_view a, int from, int to) {
  return shown(call(dk_log_base_n128, number(base, from), number(a, from), from, from, any_precision, to), to);
}

std::string error(dk_error code) { return "error " + std::to_string(code); }

TEST(NumericMath, ShowsTrueDigits) {
  EXPECT_EQ(exp_of("1", 1, 16), "2.7182818284590452");
  EXPECT_EQ(exp_of("1", 1, 37), "2.7182818284590452353602874713526624978");
  EXPECT_EQ(exp_of("-1", 1, 38), "0.36787944117144232159552377016146086745");
  EXPECT_EQ(exp_of("-99999999999999999999", 0, 38), "0.00000000000000000000000000000000000000");
  EXPECT_EQ(ln_of("2", 0, 38), "0.69314718055994530941723212145817656808");
  EXPECT_EQ(ln_of("1", 0, 16), "0.0000000000000000");
  EXPECT_EQ(ln_of("1.0000000000000000000000000000000000001", 37, 38), "0.00000000000000000000000000000000000010");
  EXPECT_EQ(ln_of("99999999999999999999999999999999999999", 0, 30), "87.498233533773735992683675278006");
  EXPECT_EQ(log_of("2", "8", 0, 16), "3.0000000000000000");
  EXPECT_EQ(log_of("0.5", "0.25", 2, 16), "2.0000000000000000");
}

TEST(NumericMath, PowersRoundHalvesAwayFromZero) {
  EXPECT_EQ(power_of("1.5", "17", 1, 16), "985.2612533569335938");
  EXPECT_EQ(power_of("-1.5", "17", 1, 16), "-985.2612533569335938");
  EXPECT_EQ(power_of("0.1", "3", 1, 16), "0.0010000000000000");
  EXPECT_EQ(power_of("0", "0", 0, 16), "1.0000000000000000");
  EXPECT_EQ(power_of("10", "37", 0, 0), "10000000000000000000000000000000000000");
}

TEST(NumericMath, Errors) {
  EXPECT_EQ(ln_of("0", 0, 16), error(DK_LOG_DOMAIN));
  EXPECT_EQ(ln_of("-1", 0, 16), error(DK_LOG_DOMAIN));
  EXPECT_EQ(log_of("1", "2", 0, 16), error(DK_DIVISION_BY_ZERO));
  EXPECT_EQ(log_of("0", "2", 0, 16), error(DK_LOG_DOMAIN));
  EXPECT_EQ(power_of("0", "-1", 0, 16), error(DK_POWER_DOMAIN));
  EXPECT_EQ(power_of("-2", "0.5", 1, 16), error(DK_POWER_DOMAIN));
  EXPECT_EQ(power_of("10", "38", 0, 0), error(DK_NUMERIC_OUT_OF_RANGE));
  EXPECT_EQ(exp_of("99999999999999999999999999999999999999", 0, 16), error(DK_NUMERIC_OUT_OF_RANGE));
}

}  // namespace
}  // namespace diptych::testing
