// Where a section runs, from times alone: no clock, no device.
#include "engine/placement/choose.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace diptych {
namespace {

Way way_of(Residency residency, double now_ns, double settled_ns, bool is_settled) {
  Way way;
  way.residency = residency;
  way.now.compute_ns = now_ns;
  way.settled_ns = settled_ns;
  way.is_settled = is_settled;
  return way;
}

TEST(Choose, TheFastestThatIsThere) {
  const std::array ways = {way_of(Residency::Streamed, 400, 400, true), way_of(Residency::Cached, 100, 100, true)};
  const PlacementDecision made = choose(ways, 1000, 1);
  EXPECT_EQ(made.way, 1U);
  EXPECT_FALSE(made.is_trial);
  EXPECT_FALSE(choose(ways, 50, 1).way) << "the CPU";
}

TEST(Choose, CachedUnlessAnotherIsFasterByATenth) {
  const std::array near = {way_of(Residency::Mapped, 95, 95, true), way_of(Residency::Cached, 100, 100, true)};
  EXPECT_EQ(choose(near, 1000, 1).best, 1U);
  const std::array far = {way_of(Residency::Mapped, 80, 80, true), way_of(Residency::Cached, 100, 100, true)};
  EXPECT_EQ(choose(far, 1000, 1).best, 0U);
}

TEST(Choose, WhatIsInPlaceServesUntilMovingInHasPaid) {
  std::array ways = {way_of(Residency::Streamed, 300, 300, true), way_of(Residency::Cached, 5000, 100, false)};
  int decisions = 1;
  for (; decisions < 1000; ++decisions) {
    const PlacementDecision made = choose(ways, 1000, decisions);
    EXPECT_EQ(made.best, 1U);
    ASSERT_EQ(made.in_place, 0U);
    if (made.way == 1U) break;
    ways[1].regret_ns = made.regret_ns;
  }
  // 200 ns are lost each time, 4900 ns are what moving in costs beyond a settled run.
  EXPECT_GT(decisions, 20);
  EXPECT_LT(decisions, 30);
}

TEST(Choose, OthersHaveTheirTurnNowAndThen) {
  const std::array ways = {way_of(Residency::Streamed, 110, 110, true), way_of(Residency::Cached, 100, 100, true)};
  std::vector<int> runs(3);
  int trials = 0;
  for (int64_t decision = 1; decision <= 1000; ++decision) {
    const PlacementDecision made = choose(ways, 120, decision);
    ++runs[made.way ? *made.way : 2];
    trials += made.is_trial ? 1 : 0;
  }
  EXPECT_GT(runs[0], 0);
  EXPECT_GT(runs[2], 0) << "the CPU";
  EXPECT_GT(runs[1], 900);
  EXPECT_EQ(trials, 1000 - runs[1]);
}

TEST(Choose, TheSameAgain) {
  const std::array ways = {way_of(Residency::Streamed, 300, 300, true), way_of(Residency::Cached, 5000, 100, false)};
  for (int64_t decision : {1, 64, 65, 1000}) {
    const PlacementDecision a = choose(ways, 1000, decision), b = choose(ways, 1000, decision);
    EXPECT_EQ(a.way, b.way);
    EXPECT_EQ(a.regret_ns, b.regret_ns);
  }
}

}  // namespace
}  // namespace diptych
