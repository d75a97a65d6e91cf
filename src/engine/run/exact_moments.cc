#include "engine/run/exact_moments.h"

#include <gmp.h>

#include <cstdlib>
#include <span>

#include "program/range.h"

namespace diptych {
namespace {

void add_limbs(std::span<uint64_t> into, std::span<const uint64_t> from) {
  unsigned char carry = 0;
  for (size_t i = 0; i < into.size(); ++i) {
    uint64_t sum = 0;
    const bool first = __builtin_add_overflow(into[i], from[i], &sum);
    carry = static_cast<unsigned char>(first | __builtin_add_overflow(sum, carry, &into[i]));
  }
}

std::array<uint64_t, 5> square_of(uint128_t magnitude) {
  const auto low = static_cast<uint64_t>(magnitude), high = static_cast<uint64_t>(magnitude >> 64);
  const uint128_t lowest = uint128_t{low} * low;
  std::array<uint64_t, 5> square = {static_cast<uint64_t>(lowest), static_cast<uint64_t>(lowest >> 64)};
  if (high == 0) return square;
  // 2 * low * high at the second limb, high * high at the third.
  const uint128_t cross = uint128_t{low} * high, highest = uint128_t{high} * high;
  const std::array<uint64_t, 5> twice = {0, static_cast<uint64_t>(cross << 1), static_cast<uint64_t>(cross >> 63),
                                         static_cast<uint64_t>(cross >> 127)};
  const std::array<uint64_t, 5> top = {0, 0, static_cast<uint64_t>(highest), static_cast<uint64_t>(highest >> 64)};
  add_limbs(square, twice);
  add_limbs(square, top);
  return square;
}

// An integer of any length.
class Integer {
 public:
  Integer() { mpz_init(value_); }
  explicit Integer(int64_t value) { mpz_init_set_si(value_, value); }
  explicit Integer(std::span<const uint64_t> limbs) : Integer() {
    mpz_import(value_, limbs.size(), -1, sizeof(uint64_t), 0, 0, limbs.data());
  }
  ~Integer() { mpz_clear(value_); }
  Integer(const Integer&) = delete;
  Integer& operator=(const Integer&) = delete;
  operator mpz_ptr() { return value_; }

 private:
  mpz_t value_;
};

void set_sum(mpz_ptr to, const WideSum& sum) {
  WideSum magnitude = sum;
  const bool negative = static_cast<int64_t>(sum.limbs[2]) < 0;
  if (negative) {
    for (uint64_t& limb : magnitude.limbs) limb = ~limb;
    magnitude.add(1);
  }
  mpz_import(to, magnitude.limbs.size(), -1, sizeof(uint64_t), 0, 0, magnitude.limbs.data());
  if (negative) mpz_neg(to, to);
}

// value * 10^digits; digits >= 0.
void multiply_by_power_of_ten(mpz_ptr value, int digits) {
  Integer power;
  mpz_ui_pow_ui(power, 10, static_cast<unsigned long>(digits));
  mpz_mul(value, value, power);
}

// numerator / divisor to the nearest, halves away from zero; divisor > 0.
void divide_rounded(mpz_ptr quotient, mpz_ptr numerator, mpz_ptr divisor) {
  Integer rest;
  const int sign = mpz_sgn(numerator);
  mpz_abs(numerator, numerator);
  mpz_tdiv_qr(quotient, rest, numerator, divisor);
  mpz_mul_2exp(rest, rest, 1);
  if (mpz_cmp(rest, divisor) >= 0) mpz_add_ui(quotient, quotient, 1);
  if (sign < 0) mpz_neg(quotient, quotient);
}

MomentsResult result_of(mpz_ptr value, int128_t& result) {
  Integer limit;
  mpz_ui_pow_ui(limit, 10, max_precision);
  if (mpz_cmpabs(value, limit) >= 0) return MomentsResult::Overflow;
  uint64_t limbs[2] = {0, 0};
  mpz_export(limbs, nullptr, -1, sizeof(uint64_t), 0, 0, value);
  const auto magnitude = static_cast<int128_t>((uint128_t{limbs[1]} << 64) | limbs[0]);
  result = mpz_sgn(value) < 0 ? -magnitude : magnitude;
  return MomentsResult::Value;
}

// The root of numerator / divisor to the nearest whole number: the half of the root of four times as much, rounded up.
void root_of_quotient(mpz_ptr root, mpz_ptr numerator, mpz_ptr divisor) {
  mpz_mul_2exp(numerator, numerator, 2);
  mpz_fdiv_q(root, numerator, divisor);
  mpz_sqrt(root, root);
  mpz_add_ui(root, root, 1);
  mpz_fdiv_q_2exp(root, root, 1);
}

}  // namespace

void WideSum::add(int128_t value) {
  const auto bits = static_cast<uint128_t>(value);
  add_limbs(limbs, std::array<uint64_t, 3>{static_cast<uint64_t>(bits), static_cast<uint64_t>(bits >> 64),
                                           value < 0 ? ~uint64_t{0} : 0});
}

void WideSum::add(const WideSum& other) { add_limbs(limbs, other.limbs); }

std::optional<int128_t> WideSum::numeric() const {
  const uint64_t sign = static_cast<int64_t>(limbs[1]) < 0 ? ~uint64_t{0} : 0;
  const auto value = static_cast<int128_t>((uint128_t{limbs[1]} << 64) | limbs[0]);
  if (limbs[2] != sign || !Range{value, value}.within(*range_of(Type::numeric(max_precision, 0)))) return std::nullopt;
  return value;
}

void ExactMoments::add(int128_t value) {
  ++count;
  sum.add(value);
  add_limbs(squares, square_of(value < 0 ? -static_cast<uint128_t>(value) : static_cast<uint128_t>(value)));
}

void ExactMoments::add(const ExactMoments& other) {
  count += other.count;
  sum.add(other.sum);
  add_limbs(squares, other.squares);
}

MomentsFormula moments_formula(AggregateState state, int argument_scale, int scale) {
  MomentsFormula formula;
  formula.is_average = state == AggregateState::ExactAvg;
  formula.of_sample = state == AggregateState::ExactStddevSamp || state == AggregateState::ExactVarSamp;
  formula.has_root = state == AggregateState::ExactStddevSamp || state == AggregateState::ExactStddevPop;
  // The quotient of a variance has twice the scale of the arguments; so has the square of the root.
  formula.shift = (formula.has_root ? 2 * scale : scale) - (formula.is_average ? argument_scale : 2 * argument_scale);
  return formula;
}

MomentsFormula moments_formula(const AggregateInfo& aggregate) {
  return moments_formula(aggregate.state, scale_of(aggregate.argument.type), scale_of(aggregate.result.type));
}

// Variance: (n * sum(x^2) - sum(x)^2) / (n * (n - 1)), of a population / n^2.
MomentsResult finish_moments(const MomentsFormula& formula, const ExactMoments& moments, int128_t& result) {
  if (moments.count <= (formula.of_sample ? 1 : 0)) return MomentsResult::Null;
  Integer sum, count(moments.count), quotient;
  set_sum(sum, moments.sum);
  if (formula.is_average) {
    multiply_by_power_of_ten(sum, formula.shift);
    divide_rounded(quotient, sum, count);
    return result_of(quotient, result);
  }
  Integer numerator(moments.squares), divisor(moments.count - (formula.of_sample ? 1 : 0));
  mpz_mul(numerator, numerator, count);
  mpz_submul(numerator, sum, sum);
  mpz_mul(divisor, divisor, count);
  multiply_by_power_of_ten(formula.shift >= 0 ? numerator : divisor, std::abs(formula.shift));
  formula.has_root ? root_of_quotient(quotient, numerator, divisor) : divide_rounded(quotient, numerator, divisor);
  return result_of(quotient, result);
}

}  // namespace diptych
