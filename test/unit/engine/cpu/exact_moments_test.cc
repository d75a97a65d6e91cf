#include "engine/cpu/exact_moments.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "program/range.h"

namespace diptych::cpu {
namespace {

constexpr int128_t most = std::numeric_limits<int128_t>::max();
constexpr int128_t least = std::numeric_limits<int128_t>::min();

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
    for (const AggregateState state :
         {AggregateState::ExactAvg, AggregateState::ExactVarSamp, AggregateState::ExactVarPop,
          AggregateState::ExactStddevSamp, AggregateState::ExactStddevPop}) {
      int128_t a = 0, b = 0, c = 0;
      const MomentsResult kind = finish(state, whole, 0, 0, a);
      EXPECT_EQ(kind, MomentsResult::Value);
      EXPECT_EQ(finish(state, parts[0], 0, 0, b), kind);
      EXPECT_EQ(a, b);
      EXPECT_EQ(finish(state, shifted, 0, 0, c), kind);
      if (state != AggregateState::ExactAvg) {
        EXPECT_EQ(a, c);
      }
    }
  }
}

TEST(ExactMoments, RoundsHalvesAwayFromZero) {
  ExactMoments moments;
  int128_t result = 0;
  EXPECT_EQ(finish(AggregateState::ExactAvg, moments, 0, 0, result), MomentsResult::Null);
  moments.add(-1);
  EXPECT_EQ(finish(AggregateState::ExactVarSamp, moments, 0, 0, result), MomentsResult::Null);
  moments.add(-2);
  EXPECT_EQ(finish(AggregateState::ExactAvg, moments, 0, 0, result), MomentsResult::Value);
  EXPECT_EQ(result, -2);
  EXPECT_EQ(finish(AggregateState::ExactVarSamp, moments, 0, 3, result), MomentsResult::Value);
  EXPECT_EQ(result, 500);
  EXPECT_EQ(finish(AggregateState::ExactStddevSamp, moments, 0, 3, result), MomentsResult::Value);
  EXPECT_EQ(result, 707);
  moments.add(most);
  EXPECT_EQ(finish(AggregateState::ExactVarPop, moments, 0, 0, result), MomentsResult::Overflow);
}

}  // namespace
}  // namespace diptych::cpu
