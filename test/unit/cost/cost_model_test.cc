// The cost model, with the figures of an H200 and its host (docs/design.md).
#include "cost/cost_model.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace diptych {
namespace {

HostCalibration host() {
  HostCalibration calibration;
  calibration.read_one = 10e9;
  calibration.read_all = 80e9;
  return calibration;
}

DeviceCalibration h200() {
  DeviceCalibration calibration;
  calibration.read = 4.35e12;
  calibration.to_device_pinned = calibration.to_host_pinned = 55e9;
  calibration.to_device_pageable = calibration.to_host_pageable = 8.5e9;
  calibration.mapped = 51e9;
  calibration.launch_ns = 9400;
  calibration.compile_ns = 20e6;
  calibration.multiply_ns = 0.0003;
  return calibration;
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
  const SectionFacts facts = facts_of(100'000, 20);
  const auto compute = [&](int threads) { return estimate_cpu(facts, host(), threads).compute_ns; };
  EXPECT_NEAR(compute(1) / compute(2), 100'000 / 65536.0, 1e-6);
  EXPECT_EQ(compute(2), compute(16));
  const SectionFacts many = facts_of(65536 * 32, 1);
  EXPECT_NEAR(estimate_cpu(many, host(), 1).compute_ns / estimate_cpu(many, host(), 4).compute_ns, 4, 1e-6);
}

TEST(CostModel, ThreadsThatSpareLessThanTheyTakeAreLeftAsleep) {
  const SectionFacts facts = facts_of(100'000, 1);
  EXPECT_EQ(estimate_cpu(facts, host(), 2).total_ns(), estimate_cpu(facts, host(), 1).total_ns());
}

}  // namespace
}  // namespace diptych
