// What runs teach, and whether columns and a kernel are worth having on a device.
#include "engine/placement/experience.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace diptych {
namespace {

TEST(DevicePays, AtOnceWhenItIsFaster) {
  double regret = 0;
  EXPECT_TRUE(device_pays(10, 9, 1, regret));
  EXPECT_FALSE(device_pays(10, 100, 10, regret));
  EXPECT_EQ(regret, 0);
}

// What waiting has cost never exceeds what moving in costs by more than one run.
TEST(DevicePays, MovingInIsBoughtOnceItWouldHavePaid) {
  double regret = 0;
  int runs = 0;
  while (!device_pays(10, 101, 1, regret)) ++runs;
  EXPECT_EQ(runs, 11);
  EXPECT_EQ(regret, 0);
}

TEST(Experience, TimesAreRatiosToEstimates) {
  SectionExperience known;
  add_time(known, 100, 50);
  EXPECT_EQ(known.ratio, 2);
  add_time(known, 1000, 50);
  EXPECT_LT(known.ratio, 8);
  EXPECT_EQ(known.runs, 2);
  add_time(known, 1000, 0);
  EXPECT_EQ(known.runs, 2) << "nothing can be learnt without an estimate";
  add_time(known, 100, 50);
  add_time(known, 10'000, 50);
  EXPECT_EQ(known.ratio, 2) << "one disturbed run does not count";
  for (int i = 0; i < 20; ++i) add_time(known, 300, 50);
  EXPECT_NEAR(known.ratio, 6, 0.5);
  for (int i = 0; i < 8; ++i) add_time(known, 100, 50);
  EXPECT_NEAR(known.ratio, 2, 0.1) << "what was faster counts for more";
}

TEST(Experience, AnotherKernelsTimesAreForgotten) {
  SectionExperience known;
  for (const char* kernel : {"cuda:0 interpreter", "cuda:0 interpreter", "cuda:0 generated"}) {
    note_kernel(known, kernel);
    add_time(known, known.kernel == "cuda:0 generated" ? 100 : 1000, 50);
  }
  EXPECT_EQ(known.ratio, 2);
  EXPECT_EQ(known.runs, 1);
  EXPECT_EQ(known.expected_ratio, 1) << "slower than estimated was another kernel";
}

TEST(Experience, AnotherKernelIsExpectedToBeNoWorse) {
  SectionExperience known;
  note_kernel(known, "cuda:0 interpreter");
  add_time(known, 30, 50);
  note_kernel(known, "cuda:0 generated");
  EXPECT_EQ(known.expected_ratio, 0.6);
}

TEST(TurnOf, EachOtherWayThatIsNotFarHasItsTurn) {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const std::vector<double> times_ns = {100, 150, unknown, 500, 90, 900};
  std::map<size_t, int> turns;
  for (int64_t decision = 1; decision < 64 * 161; ++decision)
    if (const auto turn = turn_of(decision, times_ns, 4)) ++turns[*turn];
  EXPECT_EQ(turns, (std::map<size_t, int>{{0, 120}, {1, 160}, {3, 40}}));
}

TEST(TurnOf, WhatTakesLongIsNotTriedWhereItIsFar) {
  const std::vector<double> times_ns = {1e9, 5e9};
  for (int64_t decision = 1; decision < 64 * 161; ++decision) EXPECT_FALSE(turn_of(decision, times_ns, 0));
}

TEST(TurnOf, ATurnIsTwoDecisionsInARow) {
  const std::vector<double> times_ns = {100, 100, 100};
  EXPECT_FALSE(turn_of(63, times_ns, 0));
  EXPECT_EQ(turn_of(64, times_ns, 0), 2U);
  EXPECT_EQ(turn_of(65, times_ns, 0), 2U);
  EXPECT_FALSE(turn_of(66, times_ns, 0));
}

// Ways to run a section, of which a disturbed machine has taught too much.
class Relearning {
 public:
  Relearning(std::vector<double> times_ns, const std::vector<double>& taught_ns) : times_ns_(std::move(times_ns)) {
    ways_.resize(times_ns_.size());
    for (size_t i = 0; i < ways_.size(); ++i)
      for (int run = 0; run < 3; ++run) add_time(ways_[i], taught_ns[i], estimate_ns);
  }

  // How many decisions it takes until the first way is the chosen one.
  int64_t decisions_until_the_first(int64_t most) {
    for (int64_t decision = 1; decision < most; ++decision) {
      const std::vector<double> known_ns = known();
      const auto chosen = static_cast<size_t>(std::min_element(known_ns.begin(), known_ns.end()) - known_ns.begin());
      if (chosen == 0) return decision;
      const size_t run = turn_of(decision, known_ns, chosen).value_or(chosen);
      add_time(ways_[run], times_ns_[run], estimate_ns);
    }
    return most;
  }

 private:
  static constexpr double estimate_ns = 50e3;
  std::vector<double> known() const {
    std::vector<double> known_ns;
    for (const SectionExperience& way : ways_) known_ns.push_back(way.ratio * estimate_ns);
    return known_ns;
  }

  std::vector<double> times_ns_;
  std::vector<SectionExperience> ways_;
};

TEST(TurnOf, WhatADisturbedMachineHasTaughtIsLearntAnew) {
  const std::vector<double> times_ns = {35e3, 41e3, 46e3, 65e3};
  EXPECT_LT(Relearning(times_ns, {60e3, 41e3, 46e3, 65e3}).decisions_until_the_first(10'000), 500) << "one was slow";
  EXPECT_LT(Relearning(times_ns, {90e3, 80e3, 92e3, 130e3}).decisions_until_the_first(10'000), 1500) << "all were";
  EXPECT_LT(Relearning(times_ns, {250e3, 41e3, 46e3, 65e3}).decisions_until_the_first(10'000), 3000) << "one by far";
}

}  // namespace
}  // namespace diptych
