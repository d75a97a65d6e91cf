// The cost model and the decision, with the figures of an H200 and its host (docs/design.md).
#include "engine/placement/cost_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "engine/placement/experience.h"

namespace diptych {
namespace {

using gpu::Residency;

HostProfile host() {
  HostProfile profile;
  profile.read_one = 10e9;
  profile.read_all = 80e9;
  return profile;
}

DeviceProfile h200() {
  DeviceProfile profile;
  profile.read = 4.35e12;
  profile.to_device_pinned = profile.to_host_pinned = 55e9;
  profile.to_device_pageable = profile.to_host_pageable = 8.5e9;
  profile.mapped = 51e9;
  profile.launch_ns = 9400;
  profile.compile_ns = 20e6;
  profile.multiply_ns = 0.0003;
  return profile;
}

// A sum over a filter of 4-byte columns.
SectionFacts facts_of(int64_t rows, int columns) {
  SectionFacts facts;
  facts.rows = rows;
  facts.bytes = facts.wanted_bytes = rows * columns * 4;
  facts.tablets = (rows + 65535) / 65536;
  facts.work[static_cast<size_t>(WorkKind::Load)] = static_cast<double>(rows) * columns;
  facts.work[static_cast<size_t>(WorkKind::Compare)] = static_cast<double>(rows);
  facts.work[static_cast<size_t>(WorkKind::Aggregate)] = static_cast<double>(rows) / 3;
  return facts;
}

DeviceState settled(const SectionFacts& facts) { return {facts.bytes, facts.bytes, true}; }

double device_ns(const SectionFacts& facts, Residency residency, const DeviceState& state) {
  return estimate_device(facts, host(), h200(), residency, state).total_ns();
}

TEST(CostModel, MoreOfAnythingCostsMore) {
  double last_cpu = 0, last_device = 0;
  for (const int64_t rows : {int64_t{1000}, int64_t{100'000}, int64_t{8'000'000}, int64_t{256'000'000}}) {
    const SectionFacts facts = facts_of(rows, 2);
    const double cpu = estimate_cpu(facts, host(), 16).total_ns();
    const double device = device_ns(facts, Residency::Cached, settled(facts));
    EXPECT_GT(cpu, last_cpu);
    EXPECT_GT(device, last_device);
    last_cpu = cpu;
    last_device = device;
  }
}

TEST(CostModel, ManyRowsAreForTheDevice) {
  const SectionFacts few = facts_of(1000, 2), many = facts_of(256'000'000, 2);
  EXPECT_LT(estimate_cpu(few, host(), 16).total_ns(), device_ns(few, Residency::Cached, settled(few)));
  EXPECT_GT(estimate_cpu(many, host(), 16).total_ns(), 10 * device_ns(many, Residency::Cached, settled(many)));
}

TEST(CostModel, ThreadsHelpUpToTheMemory) {
  const SectionFacts facts = facts_of(100'000'000, 3);
  const double one = estimate_cpu(facts, host(), 1).total_ns(), all = estimate_cpu(facts, host(), 16).total_ns();
  EXPECT_GT(one, 4 * all);
  EXPECT_GE(all, static_cast<double>(facts.bytes) / 80e9 * 1e9);
  EXPECT_EQ(estimate_cpu(facts, host(), 16).limit, 80e9);
}

TEST(CostModel, PartsOfADevice) {
  SectionFacts facts = facts_of(100'000'000, 2);
  facts.result_bytes = 55'000'000;
  const CostEstimate cold = estimate_device(facts, host(), h200(), Residency::Cached, {});
  EXPECT_NEAR(cold.move_ns, 800e6 / 8.5e9 * 1e9, 1e3);
  EXPECT_EQ(cold.compile_ns, 20e6);
  EXPECT_NEAR(cold.result_ns, 1e6, 1);
  const CostEstimate hot = estimate_device(facts, host(), h200(), Residency::Cached, settled(facts));
  EXPECT_EQ(hot.move_ns, 0);
  EXPECT_EQ(hot.compile_ns, 0);
  EXPECT_EQ(hot.limit, 4.35e12);
  // Copies hide the kernel; the bus is the limit.
  const CostEstimate streamed = estimate_device(facts, host(), h200(), Residency::Streamed, settled(facts));
  EXPECT_NEAR(streamed.compute_ns, 800e6 / 55e9 * 1e9, 1);
  // And those that go back hide behind those that come.
  EXPECT_EQ(streamed.result_ns, 0);
  facts.result_bytes = 1'600'000'000;
  const CostEstimate large = estimate_device(facts, host(), h200(), Residency::Streamed, settled(facts));
  EXPECT_NEAR(large.compute_ns + large.result_ns, 1600e6 / 55e9 * 1e9, 1);
  EXPECT_EQ(streamed.limit, 55e9);
}

TEST(CostModel, ResidencyByTheRoomThereIs) {
  const SectionFacts facts = facts_of(1'000'000'000, 4);
  const auto best = [&](int64_t memory, bool can_map) {
    return best_residency(facts, host(), h200(), {memory, int64_t{32} << 30}, can_map);
  };
  EXPECT_EQ(best(int64_t{128} << 30, true), Residency::Cached);
  // Pinned memory is filled once; pageable columns are copied slowly every time.
  EXPECT_EQ(best(int64_t{1} << 30, false), Residency::Streamed);
  const Residency small = best(int64_t{1} << 30, true);
  EXPECT_TRUE(small == Residency::Streamed || small == Residency::Mapped);
  EXPECT_EQ(best(1 << 20, false), Residency::Serial);
  // Of columns that pinned memory can't hold, those that are streamed are copied there each time: not mapped.
  const auto with_little_host = [&](int64_t pinned) {
    return best_residency(facts, host(), h200(), {int64_t{1} << 30, pinned}, true);
  };
  EXPECT_NE(with_little_host(facts.bytes), Residency::Serial);
  EXPECT_EQ(with_little_host(facts.bytes - 1), Residency::Serial);
  EXPECT_LE(device_bytes_needed(facts, Residency::Streamed), int64_t{16} << 20);
  EXPECT_EQ(device_bytes_needed(facts, Residency::Mapped), 0);
}

// Two morsels keep two threads busy, one longer than the other, however many there are.
TEST(CostModel, ThreadsShareMorsels) {
  const SectionFacts facts = facts_of(100'000, 1);
  const auto compute = [&](int threads) { return estimate_cpu(facts, host(), threads).compute_ns; };
  EXPECT_NEAR(compute(1) / compute(2), 100'000 / 65536.0, 1e-6);
  EXPECT_EQ(compute(2), compute(16));
  const SectionFacts many = facts_of(65536 * 32, 1);
  EXPECT_NEAR(estimate_cpu(many, host(), 1).compute_ns / estimate_cpu(many, host(), 4).compute_ns, 4, 1e-6);
}

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
