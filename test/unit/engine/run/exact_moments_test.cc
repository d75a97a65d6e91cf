#include "engine/run/exact_moments.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "kernel/kernel.h"
#include "program/range.h"

namespace diptych {
namespace {

constexpr int128_t most = std::numeric_limits<int128_t>::max();
constexpr int128_t least = std::numeric_limits<int128_t>::min();

constexpr AggregateState states[] = {AggregateState::ExactAvg, AggregateState::ExactVarSamp,
                                     AggregateState::ExactVarPop, AggregateState::ExactStddevSamp,
                                     AggregateState::ExactStddevPop};

TEST(WideSum, MayPassItsResultOnTheWay) {
  WideSum sum;
  for (int i = 0; i < 1000; ++i) sum.add(most);
  EXPECT_FALSE(sum.numeric());
  for (int i = 0; i < 1000; ++i) sum.add(least);
  EXPECT_EQ(sum.numeric(), int128_t{-1000});
}

TEST(WideSum, IsANumericOf38Digits) {
  const int128_t nines = power_of_ten(38) - 1;
  for (const int128_t sign : {1, -1}) {
    WideSum sum, other;
    sum.add(sign * nines);
    EXPECT_EQ(sum.numeric(), sign * nines);
    other.add(sign);
    other.add(sum);
    EXPECT_FALSE(other.numeric());
    other.add(-sign);
    EXPECT_EQ(other.numeric(), sign * nines);
  }
}

// Random values of up to 126 bits: parts that are merged give what one state gives, and x - mean does not move the
// variance.
TEST(ExactMoments, MergesAndShifts) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    ExactMoments whole, parts[3], shifted;
    const int bits = static_cast<int>(random() % 60);
    const int128_t offset = static_cast<int128_t>(random()) << 60;
    for (int i = 0; i < 50; ++i) {
      const int128_t value = static_cast<int128_t>(random() >> (63 - bits)) * (i % 2 == 0 ? 1 : -1);
      whole.add(value);
      parts[random() % 3].add(value);
      shifted.add(value + offset);
    }
    for (int i = 1; i < 3; ++i) parts[0].add(parts[i]);
    for (const AggregateState state : states) {
      int128_t a = 0, b = 0, c = 0;
      const MomentsResult kind = finish_moments(moments_formula(state, 0, 0), whole, a);
      EXPECT_EQ(kind, MomentsResult::Value);
      EXPECT_EQ(finish_moments(moments_formula(state, 0, 0), parts[0], b), kind);
      EXPECT_EQ(a, b);
      EXPECT_EQ(finish_moments(moments_formula(state, 0, 0), shifted, c), kind);
      if (state != AggregateState::ExactAvg) {
        EXPECT_EQ(a, c);
      }
    }
  }
}

TEST(ExactMoments, RoundsHalvesAwayFromZero) {
  ExactMoments moments;
  int128_t result = 0;
  EXPECT_EQ(finish_moments(moments_formula(AggregateState::ExactAvg, 0, 0), moments, result), MomentsResult::Null);
  moments.add(-1);
  EXPECT_EQ(finish_moments(moments_formula(AggregateState::ExactVarSamp, 0, 0), moments, result), MomentsResult::Null);
  moments.add(-2);
  EXPECT_EQ(finish_moments(moments_formula(AggregateState::ExactAvg, 0, 0), moments, result), MomentsResult::Value);
  EXPECT_EQ(result, -2);
  EXPECT_EQ(finish_moments(moments_formula(AggregateState::ExactVarSamp, 0, 3), moments, result), MomentsResult::Value);
  EXPECT_EQ(result, 500);
  EXPECT_EQ(finish_moments(moments_formula(AggregateState::ExactStddevSamp, 0, 3), moments, result),
            MomentsResult::Value);
  EXPECT_EQ(result, 707);
  moments.add(most);
  EXPECT_EQ(finish_moments(moments_formula(AggregateState::ExactVarPop, 0, 0), moments, result),
            MomentsResult::Overflow);
}

// What devices compute of the words of the same state.
MomentsResult finish_on_device(const MomentsFormula& formula, const ExactMoments& moments, int128_t& result) {
  if (moments.count <= (formula.of_sample ? 1 : 0)) return MomentsResult::Null;
  const dk_exact_moments words =
      dk_make_exact_moments(static_cast<uint64_t>(moments.count), moments.sum.limbs.data(), moments.squares.data());
  int32_t error = 0;
  const dk_i128 value = formula.is_average
                            ? dk_exact_average(words, formula.shift, &error)
                            : dk_exact_deviation(words, formula.of_sample, formula.has_root, formula.shift, &error);
  if (error != 0) return MomentsResult::Overflow;
  result = dk_native(value);
  return MomentsResult::Value;
}

void expect_alike(const ExactMoments& moments, int argument_scale, int scale) {
  for (const AggregateState state : states) {
    if (state == AggregateState::ExactAvg && scale < argument_scale) continue;
    const MomentsFormula formula = moments_formula(state, argument_scale, scale);
    int128_t exact = 0, device = 0;
    const MomentsResult kind = finish_moments(formula, moments, exact);
    EXPECT_EQ(finish_on_device(formula, moments, device), kind);
    EXPECT_EQ(device, exact) << static_cast<int>(state) << ' ' << argument_scale << ' ' << scale;
  }
}

TEST(ExactMoments, OfDevicesAreTheSame) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20000; ++round) {
    ExactMoments moments;
    const int bits = static_cast<int>(random() % 128), rows = static_cast<int>(random() % 6);
    for (int i = 0; i < rows; ++i) {
      const auto value = static_cast<int128_t>(((uint128_t{random()} << 64) | random()) >> 1 >> (127 - bits));
      moments.add(random() % 2 == 0 ? value : -value);
    }
    // Each time twice as many.
    for (uint64_t more = random() % 60; more > 0; --more) moments.add(ExactMoments(moments));
    expect_alike(moments, static_cast<int>(random() % 39), static_cast<int>(random() % 39));
  }
}

TEST(ExactMoments, OfDevicesAreTheSameAtTheLimits) {
  for (const int128_t value : {least, -most, int128_t{-1}, int128_t{0}, int128_t{1}, power_of_ten(38) - 1, most}) {
    for (const int128_t other : {least, int128_t{0}, value, most}) {
      ExactMoments moments;
      moments.add(value);
      moments.add(other);
      for (int doublings = 0; doublings <= 61; ++doublings) {
        for (const int scale : {0, 1, 19, 38}) {
          expect_alike(moments, 0, scale);
          expect_alike(moments, 38, scale);
        }
        moments.add(ExactMoments(moments));
      }
    }
  }
}

}  // namespace
}  // namespace diptych
