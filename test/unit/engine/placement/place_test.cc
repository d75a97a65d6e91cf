// Where sections run, from facts alone: no clock, no device. The figures are those of an H200 and its host.
#include "engine/placement/place.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace diptych {
namespace {

constexpr double millisecond = 1e6;

enum class Columns { Nowhere, Cached, Pinned };

// A program, a machine with one device, and what is known of them.
class PlaceTest : public ::testing::Test {
 protected:
  PlaceTest() {
    host_.read_one = 10e9;
    host_.read_all = 80e9;
    DeviceCalibration& h200 = device_.calibration;
    h200.read = 4.35e12;
    h200.to_device_pinned = h200.to_host_pinned = 55e9;
    h200.to_device_pageable = h200.to_host_pageable = 8.5e9;
    h200.mapped = 51e9;
    h200.launch_ns = 9400;
    h200.compile_ns = 20e6;
    h200.multiply_ns = 0.0003;
    h200.is_short = false;
    device_.name = "cuda:0";
    device_.room = {int64_t{100} << 30, int64_t{50} << 30};
    device_.can_map = true;
  }

  PlacedSection& add_section(int64_t rows) {
    PlacedSection& section = program_.sections.emplace_back();
    section.address = static_cast<int32_t>(10 * program_.sections.size());
    section.chain = program_.chains;
    section.facts.rows = rows;
    section.facts.tablets = rows / 65536 + 1;
    device_.sections.emplace_back();
    return section;
  }
  // Reads columns of 4 bytes of a table, and groups by one: rows a group, 0: no groups but totals.
  PlacedSection& add_table(int64_t rows, int columns, Columns place) {
    PlacedSection& section = add_section(rows);
    section.table = 0;
    section.may_leave_cpu = rows >= least_device_rows;
    section.facts.bytes = section.facts.wanted_bytes = rows * columns * 4;
    work(section, WorkKind::Load) = static_cast<double>(rows) * columns;
    work(section, WorkKind::Aggregate) = static_cast<double>(rows);
    SectionOnDevice& there = device_.sections.back();
    there.can_run = true;
    there.state.is_compiled = place != Columns::Nowhere;
    if (place == Columns::Cached) there.state.cached_bytes = section.facts.bytes;
    if (place == Columns::Pinned) there.state.pinned_bytes = section.facts.bytes;
    return section;
  }
  // One chain of one such section, whose columns are on the device; what runs of it have taught: nothing yet.
  LearntChain& add_cached_chain(int64_t rows) {
    add_table(rows, 2, Columns::Cached);
    end_chain();
    learnt_.resize(1);
    return learnt_[0];
  }
  // The last section makes groups, which another one reads.
  void add_groups(int64_t groups) {
    PlacedSection& maker = program_.sections.back();
    maker.makes = {program_.objects.size()};
    work(maker, WorkKind::Group) = static_cast<double>(maker.facts.rows) + 4.0 * static_cast<double>(groups);
    program_.objects.push_back({groups, groups * 16, true});
    PlacedSection& reader = add_section(groups);
    reader.reads = program_.objects.size() - 1;
    reader.facts.bytes = reader.facts.wanted_bytes = groups * 16;
    work(reader, WorkKind::Load) = 2.0 * static_cast<double>(groups);
  }
  void add_result(int columns) {
    PlacedSection& section = program_.sections.back();
    section.facts.result_bytes = section.facts.rows * columns * 8;
    work(section, WorkKind::Result) = static_cast<double>(section.facts.rows) * columns;
  }
  void end_chain() { ++program_.chains; }

  PlacementQuestion question() {
    devices_ = {device_};
    learnt_.resize(program_.chains);
    PlacementQuestion asked{program_, host_, threads_, devices_, learnt_, {}};
    asked.tells_why = true;
    return asked;
  }
  Placement place() { return diptych::place(question()); }
  double& work(PlacedSection& section, WorkKind kind) { return section.facts.work[static_cast<size_t>(kind)]; }

  ProgramFacts program_;
  HostCalibration host_;
  int threads_ = 16;
  DeviceFacts device_;
  std::vector<DeviceFacts> devices_;
  std::vector<LearntChain> learnt_;
};

struct Case {
  const char* name;
  int64_t rows;
  int64_t groups;  // 0: totals
  Columns columns;
  bool is_device;         // where the section that reads the table runs
  bool reads_there;       // and the one that reads groups
  bool is_usual = false;  // no calibration
};

class PlacedCases : public PlaceTest, public ::testing::WithParamInterface<Case> {};

TEST_P(PlacedCases, SectionsRun) {
  const Case& one = GetParam();
  if (one.is_usual) {
    device_.calibration = DeviceCalibration();
    host_ = HostCalibration();
  }
  add_table(one.rows, 2, one.columns);
  if (one.groups > 0) add_groups(one.groups);
  end_chain();
  const Placement placed = place();
  EXPECT_EQ(placed.sections[0].device.has_value(), one.is_device) << placed.chains[0].why;
  if (one.groups > 0) {
    EXPECT_EQ(placed.sections[1].device.has_value(), one.reads_there) << placed.chains[0].why;
  }
  EXPECT_FALSE(placed.chains[0].why.empty());
  EXPECT_GT(placed.sections[0].estimate_ns, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Of, PlacedCases,
    ::testing::Values(Case{"few_rows", 20'000, 0, Columns::Cached, false, false},
                      Case{"small", 36'000, 0, Columns::Cached, false, false},
                      Case{"medium", 100'000, 0, Columns::Cached, true, false},
                      Case{"medium_nothing_in_place", 100'000, 0, Columns::Nowhere, false, false},
                      Case{"large", 100'000'000, 0, Columns::Cached, true, false},
                      Case{"large_nothing_in_place", 100'000'000, 0, Columns::Nowhere, false, false},
                      Case{"large_in_pinned_memory", 100'000'000, 0, Columns::Pinned, false, false},
                      Case{"few_groups", 100'000'000, 100, Columns::Cached, true, false},
                      Case{"many_groups", 100'000'000, 10'000'000, Columns::Cached, true, true},
                      Case{"groups_as_many_as_rows", 100'000'000, 100'000'000, Columns::Cached, true, true},
                      Case{"groups_nothing_in_place", 100'000'000, 100'000'000, Columns::Nowhere, true, true},
                      Case{"groups_of_few_rows", 40'000, 40'000, Columns::Nowhere, false, false},
                      Case{"not_calibrated_large", 100'000'000, 0, Columns::Cached, true, false, true},
                      Case{"not_calibrated_small", 36'000, 0, Columns::Cached, false, false, true},
                      Case{"not_calibrated_nothing_in_place", 100'000'000, 0, Columns::Nowhere, false, false, true}),
    [](const auto& info) { return info.param.name; });

// Rows that come back over the bus, many of them, are in the price.
TEST_F(PlaceTest, ManyRowsOfAResultStayOnTheCpu) {
  threads_ = 64;
  host_.read_all = 300e9;
  add_table(100'000'000, 1, Columns::Cached);
  end_chain();
  EXPECT_TRUE(place().sections[0].device);
  add_result(8);
  const Placement placed = place();
  EXPECT_FALSE(placed.sections[0].device) << placed.chains[0].why;
}

TEST_F(PlaceTest, GroupsOnTheirWayToTheCpuAreInThePrice) {
  add_table(100'000'000, 2, Columns::Cached);
  add_groups(20'000);
  end_chain();
  const Placement placed = place();
  EXPECT_TRUE(placed.sections[0].device);
  EXPECT_FALSE(placed.sections[1].device);
  EXPECT_GT(placed.sections[1].estimate_ns, 20'000 * 16 / 55.0 + 9400);
  // Sorted rows go to the host, whoever reads them.
  program_.objects[0] = {20'000'000, 320'000'000, false};
  const Placement sorted = place();
  EXPECT_FALSE(sorted.sections[1].device);
  EXPECT_GT(sorted.sections[0].estimate_ns, placed.sections[0].estimate_ns + 5 * millisecond);
}

TEST_F(PlaceTest, ChainsArePlacedEachForItself) {
  add_table(100'000'000, 2, Columns::Cached);
  end_chain();
  add_table(100'000'000, 2, Columns::Nowhere);
  end_chain();
  const Placement placed = place();
  EXPECT_TRUE(placed.sections[0].device);
  EXPECT_FALSE(placed.sections[1].device);
}

TEST_F(PlaceTest, SectionsThatFillOneTableGoTogether) {
  add_table(100'000'000, 2, Columns::Cached).makes = {0};
  add_table(100'000'000, 2, Columns::Cached).makes = {0};
  program_.objects.push_back({100, 1600, true});
  end_chain();
  EXPECT_TRUE(place().sections[0].device);
  device_.sections[1].can_run = false;
  const Placement placed = place();
  EXPECT_FALSE(placed.sections[0].device);
  EXPECT_EQ(placed.chains[0].why, "no device can run it");
}

TEST_F(PlaceTest, WhatHasNoRoomIsStreamed) {
  add_table(100'000'000, 2, Columns::Pinned);
  end_chain();
  device_.room.device_bytes = int64_t{200} << 20;
  host_.read_one = host_.read_all = 5e9;
  const Placement placed = place();
  ASSERT_TRUE(placed.sections[0].device) << placed.chains[0].why;
  EXPECT_NE(placed.sections[0].residency, Residency::Cached);
}

TEST_F(PlaceTest, CachedUnlessAnotherIsFasterByATenth) {
  add_table(100'000'000, 2, Columns::Cached);
  device_.sections[0].state.pinned_bytes = program_.sections[0].facts.bytes;
  end_chain();
  learnt_.resize(1);
  learnt_[0].devices.resize(1);
  learnt_[0].cpu.ratio = 100;
  const Placement first = place();
  const double cached_ns = first.chains[0].best->settled_ns;
  devices_ = {device_};
  const auto placed_with = [&](double part_of_cached) {
    // Mapped is made to be as fast as that.
    auto& mapped = learnt_[0].devices[0][static_cast<size_t>(Residency::Mapped)].ratio;
    mapped = 1;
    PlacementQuestion only = question();
    only.residency = Residency::Mapped;
    mapped = part_of_cached * cached_ns / diptych::place(only).chains[0].best->estimate_ns;
    return place().sections[0].residency;
  };
  EXPECT_EQ(placed_with(0.95), Residency::Cached);
  EXPECT_EQ(placed_with(0.8), Residency::Mapped);
}

TEST_F(PlaceTest, TheCpuUnlessADeviceIsFasterByATenth) {
  add_cached_chain(1'000'000);
  const ChainPlace first = place().chains[0];
  const auto runs_on_cpu = [&](double part_of_device) {
    learnt_[0].cpu.ratio = part_of_device * first.best->settled_ns / first.cpu_estimate_ns;
    return !place().sections[0].device;
  };
  EXPECT_TRUE(runs_on_cpu(1.05));
  EXPECT_FALSE(runs_on_cpu(1.2));
}

TEST_F(PlaceTest, WhatRunsHaveTakenCountsForMoreThanEstimates) {
  add_table(100'000'000, 2, Columns::Cached);
  end_chain();
  ASSERT_TRUE(place().sections[0].device);
  const ChainPlace on_device = place().chains[0];
  for (int i = 0; i < 2; ++i) learn(on_device, 1000 * millisecond, true, learnt_[0]);
  const ChainPlace on_cpu = place().chains[0];
  EXPECT_FALSE(on_cpu.way) << on_cpu.why;
  for (int i = 0; i < 4; ++i) learn(on_cpu, 3000 * millisecond, true, learnt_[0]);
  EXPECT_TRUE(place().sections[0].device);
}

// What was learnt of other literals, or short moments, may be wrong of these.
TEST_F(PlaceTest, WhatTookLongerThanExpectedIsDecidedAnew) {
  add_table(100'000'000, 2, Columns::Cached);
  end_chain();
  const ChainPlace on_device = place().chains[0];
  ASSERT_TRUE(on_device.way);
  EXPECT_TRUE(is_as_expected(on_device, 1.4 * on_device.chosen_ns));
  EXPECT_FALSE(is_as_expected(on_device, 1.6 * on_device.chosen_ns));
  ChainPlace on_cpu;
  on_cpu.chosen_ns = 5e3;
  EXPECT_TRUE(is_as_expected(on_cpu, 30e3)) << "so short that no device is asked";
  EXPECT_FALSE(is_as_expected(on_cpu, 50e3));
}

// Busy moments have kept the CPU away, which takes least.
TEST_F(PlaceTest, WhatIsNotChosenIsTriedAgain) {
  LearntChain& learnt = add_cached_chain(1'000'000);
  learnt.cpu.ratio = 1.5 * place().chains[0].best->settled_ns / place().chains[0].cpu_estimate_ns;
  const auto runs_until = [&](bool on_cpu) {
    for (int run = 0; run < 200; ++run) {
      const ChainPlace placed = place().chains[0];
      if (!placed.way == on_cpu) return run;
      EXPECT_TRUE(placed.way) << placed.why;
      learn(placed, placed.way->estimate_ns, true, learnt);
    }
    return 200;
  };
  EXPECT_EQ(runs_until(true), 16);
  const ChainPlace trial = place().chains[0];
  EXPECT_TRUE(trial.is_trial);
  EXPECT_NE(trial.why.find("; tried again"), std::string::npos) << trial.why;
  learn(trial, trial.chosen_ns / 2, true, learnt);
  EXPECT_EQ(runs_until(true), 0) << "one fast run is enough";
  EXPECT_FALSE(place().chains[0].is_trial);
}

// The CPU and another residency may both be the better one: each is tried a few times in a row.
TEST_F(PlaceTest, ATrialHasSomeRunsOfOneWay) {
  LearntChain& learnt = add_cached_chain(1'000'000);
  const ChainPlace first = place().chains[0];
  learnt.cpu.ratio = 1.5 * first.best->settled_ns / first.cpu_estimate_ns;
  PlacementQuestion serial = question();
  serial.residency = Residency::Serial;
  learnt.of(0, Residency::Serial).ratio =
      1.5 * first.best->settled_ns / diptych::place(serial).chains[0].best->estimate_ns;
  std::string ways;
  for (int run = 0; run < 70; ++run) {
    const ChainPlace placed = place().chains[0];
    if (placed.is_trial) ways += placed.way ? name_of(placed.way->residency)[0] : '-';
    learn(placed, placed.is_trial ? 1.5 * placed.chosen_ns : placed.chosen_ns, true, learnt);
  }
  EXPECT_EQ(ways, "---sss");
}

TEST_F(PlaceTest, WhatTakesMuchLongerIsNotTriedAgain) {
  add_cached_chain(100'000'000);
  learnt_[0].trials.left = 0;
  const ChainPlace placed = place().chains[0];
  EXPECT_EQ(placed.way->residency, Residency::Cached);
  EXPECT_FALSE(placed.is_trial);
}

// The first runs of the CPU found caches cold: its estimate says what it may take.
TEST_F(PlaceTest, WhatFewRunsHaveTaughtIsTriedAgain) {
  LearntChain& learnt = add_cached_chain(1'000'000);
  const ChainPlace first = place().chains[0];
  const double device_ns = first.best->settled_ns;
  const auto is_tried = [&](int64_t runs, double cpu_ns, double estimate_ns) {
    // A device that takes so much of the CPU's estimate.
    learnt.of(0, Residency::Cached).ratio = first.cpu_estimate_ns / estimate_ns;
    learnt.cpu.ratio = cpu_ns / estimate_ns;
    learnt.cpu.runs = runs;
    learnt.trials = {.left = 0};
    return place().chains[0].is_trial;
  };
  EXPECT_TRUE(is_tried(2, 5 * device_ns, 1.5 * device_ns));
  EXPECT_FALSE(is_tried(4, 5 * device_ns, 1.5 * device_ns)) << "so it is";
  EXPECT_FALSE(is_tried(2, 5 * device_ns, 3 * device_ns)) << "so it was expected";
  EXPECT_FALSE(is_tried(2, 9 * device_ns, 1.5 * device_ns)) << "too dear";
}

TEST_F(PlaceTest, UnusualRunsTeachNothing) {
  add_table(100'000'000, 2, Columns::Cached);
  end_chain();
  const ChainPlace on_device = place().chains[0];
  for (int i = 0; i < 5; ++i) learn(on_device, 1000 * millisecond, false, learnt_[0]);
  EXPECT_TRUE(place().sections[0].device);
}

TEST_F(PlaceTest, AWayThatRestsIsNone) {
  add_table(100'000'000, 2, Columns::Cached);
  end_chain();
  const ChainPlace placed = place().chains[0];
  learnt_[0].devices.resize(1);
  for (LearntTime& way : learnt_[0].devices[0]) way.rest = 1;
  EXPECT_EQ(place().chains[0].why, "no device can run it");
  learn(placed, millisecond, false, learnt_[0]);
  EXPECT_TRUE(place().sections[0].device);
}

// SELECT s, count(*) FROM g1 GROUP BY s ORDER BY 2 DESC, 1 LIMIT 10, over 100 million rows with 2 GB of strings: the
// CPU takes a multiple of what is expected, the device a tenth of that, and moving as long as two runs of the CPU.
class BuyTest : public PlaceTest {
 protected:
  static constexpr double cpu_ns = 693 * millisecond, device_ns = 64 * millisecond;
  BuyTest() {
    add_table(100'000'000, 5, Columns::Nowhere);
    add_groups(100);
    end_chain();
    const auto bytes = static_cast<double>(program_.sections[0].facts.bytes);
    device_.calibration.to_device_pageable = bytes / (2 * cpu_ns) * 1e9;
    device_.calibration.multiply_ns = 0.012;
    EXPECT_NEAR(place().chains[0].best->settled_ns, device_ns, device_ns / 10);
    learnt_.resize(1);
    learnt_[0].devices.resize(1);
  }
  // Runs on the CPU until the device has it.
  int runs_until_moved(int without_devices) {
    for (int run = 0; run < 100; ++run) {
      PlacementQuestion asked = question();
      if (run < without_devices) asked.devices = {};
      const Placement placed = diptych::place(asked);
      last_ = placed.chains[0];
      if (last_.way) return run;
      learn(last_, cpu_ns, true, learnt_[0]);
    }
    return 100;
  }
  ChainPlace last_;
};

TEST_F(BuyTest, MovingInIsBoughtAfterThreeRuns) {
  EXPECT_LE(runs_until_moved(0), 3);
  EXPECT_EQ(last_.way->residency, Residency::Cached);
  EXPECT_NE(last_.why.find("moved there for 1406"), std::string::npos) << last_.why;
}

TEST_F(BuyTest, RunsUntilDevicesAreFoundCount) { EXPECT_LE(runs_until_moved(1), 3); }

TEST_F(BuyTest, WhySaysWhatMovingWaitsFor) {
  for (int run = 0; run < 2; ++run) learn(place().chains[0], cpu_ns, true, learnt_[0]);
  const ChainPlace third = place().chains[0];
  EXPECT_FALSE(third.way);
  EXPECT_TRUE(third.pays_rent);
  EXPECT_NE(third.why.find("cuda:0 cached: "), std::string::npos) << third.why;
  EXPECT_NE(third.why.find("CPU: 693.000 ms; moving there costs 1406"), std::string::npos) << third.why;
  EXPECT_NE(third.why.find("runs elsewhere have lost 12"), std::string::npos) << third.why;
}

// A first run that reads the table from disk is no reason to move it.
TEST_F(BuyTest, TheFirstRunMayFindCachesCold) {
  learn(place().chains[0], 100 * cpu_ns, true, learnt_[0]);
  EXPECT_FALSE(place().chains[0].way);
  EXPECT_LT(learnt_[0].rent.ns, cpu_ns);
}

// What waiting has cost is no more than what moving in costs, and a run.
TEST_F(BuyTest, MovingInIsNotBoughtBeforeItWouldHavePaid) {
  device_.calibration.to_device_pageable /= 10;
  const int runs = runs_until_moved(0);
  EXPECT_GE(runs, 20);
  EXPECT_LE(runs, 24);
}

TEST_F(BuyTest, ADeviceThatIsNotFasterIsNotBought) {
  learnt_[0].devices[0].fill({.ratio = 2000});
  EXPECT_EQ(runs_until_moved(0), 100);
  EXPECT_EQ(learnt_[0].rent.runs, 0);
}

TEST_F(BuyTest, RentEndsWhenItIsBought) {
  runs_until_moved(0);
  ASSERT_GT(learnt_[0].rent.runs, 0);
  learn(last_, 3 * cpu_ns, true, learnt_[0]);
  EXPECT_EQ(learnt_[0].rent.runs, 0);
  EXPECT_EQ(learnt_[0].devices[0][static_cast<size_t>(Residency::Cached)].runs, 0) << "moving is no usual run";
}

TEST_F(BuyTest, WhatIsInPlaceServesMeanwhile) {
  device_.calibration.to_device_pinned /= 2;
  device_.sections[0].state = {0, program_.sections[0].facts.bytes, true};
  learnt_[0].cpu.ratio = 10;
  const ChainPlace placed = place().chains[0];
  ASSERT_TRUE(placed.way) << placed.why;
  EXPECT_NE(placed.way->residency, Residency::Cached);
  EXPECT_EQ(placed.best->residency, Residency::Cached);
  EXPECT_TRUE(placed.pays_rent);
  EXPECT_NE(placed.why.find("in place: "), std::string::npos) << placed.why;
}

TEST_F(PlaceTest, ADeviceThatIsAskedForHasWhateverReadsATable) {
  add_table(100, 2, Columns::Nowhere);
  add_groups(10);
  end_chain();
  PlacementQuestion asked = question();
  asked.is_asked_for = true;
  const Placement best = diptych::place(asked);
  EXPECT_TRUE(best.sections[0].device);
  EXPECT_FALSE(best.sections[1].device);
  EXPECT_EQ(best.sections[0].residency, Residency::Cached);
  EXPECT_EQ(best.chains[0].why, "device asked for, the best residency that fits it");
  for (const Residency residency : {Residency::Serial, Residency::Streamed, Residency::Mapped, Residency::Cached}) {
    asked.residency = residency;
    const Placement placed = diptych::place(asked);
    EXPECT_EQ(placed.sections[0].residency, residency);
    EXPECT_EQ(placed.chains[0].why, "asked for");
  }
}

// A join is one chain: a table whose rows become an index, and another whose rows meet it.
class PlacedJoins : public PlaceTest {
 protected:
  void add_join(int64_t build_rows, int64_t probe_rows) {
    PlacedSection& build = add_table(build_rows, 2, Columns::Cached);
    build.makes = {program_.objects.size()};
    program_.objects.push_back({build_rows, build_rows * 8, true});
    PlacedSection& probe = add_table(probe_rows, 3, Columns::Cached);
    probe.meets = {program_.objects.size() - 1};
    work(probe, WorkKind::Group) = static_cast<double>(probe_rows);
    const bool is_large = std::max(build_rows, probe_rows) >= least_device_rows;
    for (size_t i = program_.sections.size() - 2; i < program_.sections.size(); ++i)
      program_.sections[i].may_leave_cpu = is_large;
    end_chain();
  }
};

TEST_F(PlacedJoins, BothSidesRunWhereTheyAreLarge) {
  add_join(1'000'000, 100'000'000);
  const Placement placed = place();
  EXPECT_TRUE(placed.sections[0].device);
  EXPECT_TRUE(placed.sections[1].device);
}

TEST_F(PlacedJoins, AFewRowsGoAlongWithMany) {
  add_join(2'000, 100'000'000);
  add_join(100'000'000, 2'000);
  const Placement placed = place();
  for (const SectionPlace& section : placed.sections) EXPECT_TRUE(section.device);
}

// The index comes over the bus.
TEST_F(PlacedJoins, AFewRowsWithoutAKernelAreTheCpus) {
  add_join(2'000, 100'000'000);
  device_.sections[0].can_run = false;
  const Placement placed = place();
  EXPECT_FALSE(placed.sections[0].device);
  ASSERT_TRUE(placed.sections[1].device);
  program_.sections[1].meets.clear();
  EXPECT_LT(place().sections[1].settled_ns, placed.sections[1].settled_ns);
}

TEST_F(PlacedJoins, AllStayOnTheCpuWhereOneSideHasNoKernel) {
  for (const size_t side : {size_t{0}, size_t{1}}) {
    add_join(1'000'000, 100'000'000);
    device_.sections[3 * side].can_run = false;
    const Placement placed = place();
    EXPECT_FALSE(placed.sections[2 * side].device) << side;
    EXPECT_FALSE(placed.sections[2 * side + 1].device) << side;
  }
}

TEST_F(PlaceTest, WithoutDevicesTheCpuRunsItAndSaysWhy) {
  add_table(100'000'000, 2, Columns::Nowhere);
  end_chain();
  PlacementQuestion asked = question();
  asked.devices = {};
  asked.no_device = "devices are being looked for";
  const Placement placed = diptych::place(asked);
  EXPECT_FALSE(placed.sections[0].device);
  EXPECT_EQ(placed.chains[0].why, "devices are being looked for");
}

TEST_F(PlaceTest, TheSameAgain) {
  add_table(100'000'000, 2, Columns::Cached);
  add_groups(1'000'000);
  end_chain();
  const Placement a = place(), b = place();
  EXPECT_EQ(a.chains[0].why, b.chains[0].why);
  EXPECT_EQ(a.sections[1].device, b.sections[1].device);
}

}  // namespace
}  // namespace diptych
