// Statements on a device that is lost, at any of their calls: the CPU's answer with the reason, and nobody asks the
// device again.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "session/faulty_database.h"

namespace diptych {
namespace {

using testing::FaultyDatabase;
using testing::run;

// Few, because OpenCL on a CPU takes seconds to compile a kernel.
const std::vector<std::string> queries_at_a_loss = {
    "SELECT i, e FROM t WHERE k = 3",                // rows, strings of a dictionary
    "SELECT i, l FROM t ORDER BY l, i LIMIT 5",      // sorted rows
    "SELECT k, count(*), sum(l) FROM t GROUP BY k",  // groups
};
const std::string& totals = queries_at_a_loss[2];

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int64_t all_calls(FaultDevice& device) {
  int64_t calls = 0;
  for (const DeviceCall call : all_device_calls) calls += device.calls(call);
  return calls;
}

// The parameter: a residency.
class DeviceLossTest : public testing::OpenClDeviceTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    OpenClDeviceTest::SetUp();
    skip_unless_it_has(GetParam());
  }
  std::vector<int64_t> calls_of(const std::string& query) {
    FaultyDatabase database(*device_, GetParam());
    for (const DeviceCall call : all_device_calls) database.device().fail(call, -1);
    database.run_on("opencl", query);
    std::vector<int64_t> calls;
    for (const DeviceCall call : all_device_calls) calls.push_back(database.device().calls(call));
    return calls;
  }

  void lose_and_go_on(const std::string& query, const std::vector<std::string>& expected, DeviceCall call,
                      int64_t nth) {
    FaultyDatabase database(*device_, GetParam());
    FaultDevice& device = database.device();
    // What another statement has left there.
    EXPECT_EQ(database.run_on("opencl", query), expected);
    device.lose_at(call, nth);
    EXPECT_EQ(database.run_on("opencl", query), expected);
    if (!device.health().is_lost()) return;  // kept columns spare this run some of the first one's calls
    // One that fails as a statement ends, its rows in hand, is told of by the next.
    const int64_t told = database.fallbacks();
    EXPECT_LE(told, 1);
    for (const DeviceCall each : all_device_calls) device.fail(each, -1);
    EXPECT_EQ(database.run_on("opencl", query), expected);
    EXPECT_EQ(database.run_on("opencl:0", query), expected);
    EXPECT_EQ(all_calls(device), 0) << "nobody tries it again";
    EXPECT_EQ(database.fallbacks(), told + 2);
    EXPECT_EQ(database.database().engines().fallbacks().size(), 1u) << "one reason";
    if (told > 0) {
      EXPECT_EQ(device.live_buffers(), 0);
      EXPECT_EQ(device.live_pinned(), 0);
    }
  }
};

TEST_P(DeviceLossTest, AtEveryCallLeavesTheStatementToTheCpu) {
  constexpr int64_t most_calls = 200;
  for (const std::string& query : queries_at_a_loss) {
    const std::vector<std::string> expected = FaultyDatabase(*device_, GetParam()).run_on("cpu", query);
    const std::vector<int64_t> calls = calls_of(query);
    for (const DeviceCall call : all_device_calls) {
      const int64_t count = std::min(calls[static_cast<size_t>(call)], most_calls);
      // Many are alike.
      for (int64_t nth = 0; nth < count; nth += nth / 4 + 1) {
        SCOPED_TRACE(query + ": call " + std::to_string(nth) + " of kind " + std::to_string(static_cast<int>(call)));
        lose_and_go_on(query, expected, call, nth);
      }
    }
    EXPECT_EQ(device_->memory_use().used_bytes, 0) << query;
    EXPECT_EQ(device_->memory_use().pinned_bytes, 0) << query;
  }
}

TEST_P(DeviceLossTest, IsToldWhereverDevicesAre) {
  FaultyDatabase database(*device_, GetParam());
  database.device().lose_at(DeviceCall::Wait, 0);
  database.run_on("opencl", totals);
  const std::string reason = "opencl:0 is lost: a wait that a test made fail";
  const auto fallbacks = database.database().engines().fallbacks();
  ASSERT_EQ(fallbacks.size(), 1u);
  EXPECT_TRUE(has(fallbacks.begin()->first, reason)) << fallbacks.begin()->first;
  bool is_shown = false;
  for (const std::string& line : database.run_on("opencl", "SHOW devices"))
    is_shown |= line.starts_with("opencl:0|") && has(line, "lost: a wait");
  EXPECT_TRUE(is_shown);
  bool is_explained = false;
  for (const std::string& line : database.run_on("opencl", "EXPLAIN (ANALYZE, FORMAT JSON) " + totals))
    is_explained |= has(line, reason);
  EXPECT_TRUE(is_explained);
  database.set("fallback = error");
  try {
    database.run_on("opencl", totals);
    ADD_FAILURE() << "a fallback is an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::feature_not_supported);
    EXPECT_TRUE(has(error.message(), reason)) << error.message();
  }
}

TEST_P(DeviceLossTest, OtherDevicesWork) {
  FaultyDatabase database(*device_, GetParam(), 2);
  const std::vector<std::string> expected = database.run_on("cpu", totals);
  database.device(0).lose_at(DeviceCall::Launch, 0);
  EXPECT_EQ(database.run_on("opencl", totals), expected);
  EXPECT_EQ(database.fallbacks(), 1);
  // The first that works.
  for (const char* id : {"opencl", "opencl:1"}) {
    database.device(1).fail(DeviceCall::Launch, -1);
    EXPECT_EQ(database.run_on(id, totals), expected);
    EXPECT_GT(database.device(1).calls(DeviceCall::Launch), 0) << id;
  }
  EXPECT_EQ(database.fallbacks(), 1);
  EXPECT_EQ(database.run_on("opencl:0", totals), expected);
  EXPECT_EQ(database.fallbacks(), 2);
  database.device(1).lose_at(DeviceCall::Launch, 0);
  EXPECT_EQ(database.run_on("opencl:1", totals), expected);
  EXPECT_EQ(database.run_on("opencl", totals), expected);
  EXPECT_EQ(database.fallbacks(), 4);
}

TEST_P(DeviceLossTest, WhoeverIsThereGoesOnOnTheCpu) {
  FaultyDatabase database(*device_, GetParam());
  const std::vector<std::string> expected = database.run_on("cpu", totals);
  database.run_on("opencl", totals);
  constexpr int rounds = 20;
  std::atomic<int> right{0}, done{0};
  const auto work = [&](int number) {
    Connection connection(database.database());
    for (const std::string setting : {"device = opencl", "gpu_engine = generated"}) run(connection, "SET " + setting);
    run(connection, std::string("SET residency = ") + GetParam());
    for (int round = 0; round < rounds; ++round) {
      if (number == 0 && round == rounds / 2) database.device().lose_at(DeviceCall::Launch, 1);
      std::vector<std::string> lines = run(connection, totals);
      std::sort(lines.begin(), lines.end());
      right += lines == expected ? 1 : 0;
      ++done;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 3; ++number) threads.emplace_back(work, number);
  }
  EXPECT_EQ(done, 3 * rounds);
  EXPECT_EQ(right, 3 * rounds);
  EXPECT_TRUE(database.device().health().is_lost());
  EXPECT_EQ(database.device().live_buffers(), 0);
  EXPECT_EQ(database.device().live_pinned(), 0);
}

INSTANTIATE_TEST_SUITE_P(Residencies, DeviceLossTest, ::testing::Values("serial", "streamed", "mapped", "cached"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace diptych
