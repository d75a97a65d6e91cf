// Statements on a device whose calls fail: the CPU's answer with a reason, then the device's again, and nothing leaks.
#include <gtest/gtest.h>

#include <algorithm>

#include "sanitized.h"
#include "session/faulty_database.h"

namespace diptych {
namespace {

using testing::FaultyDatabase;

// Few, because OpenCL on a CPU takes seconds to compile a kernel.
const std::vector<std::string> queries = {
    "SELECT i, e FROM t WHERE k = 3",                         // rows, strings of a dictionary
    "SELECT h || 'x' FROM t WHERE k = 3",                     // strings that the kernel makes
    "SELECT i, l FROM t ORDER BY l, i LIMIT 5",               // sorted rows
    "SELECT count(*), sum(l), max(n) FROM t WHERE k < 4",     // totals
    "SELECT k, count(*), sum(l) FROM t GROUP BY k",           // few groups
    "SELECT l, count(*) FROM t GROUP BY l",                   // many groups
    "SELECT k, sum(l), count(DISTINCT e) FROM t GROUP BY k",  // groups that two sections fill
    "SELECT l, sum(i), count(DISTINCT k) FROM t GROUP BY l",
    "SELECT count(*) FROM t WHERE e LIKE '%3'",
    "SELECT a.k, count(*), sum(b.l) FROM t AS a JOIN t AS b ON a.i = b.i GROUP BY a.k",  // keys of one row each
    "SELECT count(*), sum(b.i) FROM t AS a JOIN t AS b ON a.k = b.k AND a.n = b.n",
    // several rows each, of a build side that is copied to the device, and many groups
    "SELECT a.l, sum(b.c) FROM t AS a JOIN (SELECT k, count(*) AS c FROM t GROUP BY k) AS b ON a.k % 2 = b.k % 2 GROUP "
    "BY a.l",
};

// The parameter: a residency.
class DeviceFaultTest : public testing::OpenClDeviceTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    OpenClDeviceTest::SetUp();
    skip_unless_it_has(GetParam());
  }
  // What a run leaves in caches, and the calls that it makes.
  struct Traces {
    int64_t buffers = 0, pinned = 0;
    int64_t most_pinned = 0;  // where what has no room to stay on the device is streamed
    std::vector<int64_t> calls;
  };
  Traces run_without_faults(const std::string& query, const std::vector<std::string>& expected,
                            const std::string& residency) {
    FaultyDatabase database(*device_, residency);
    Traces traces;
    for (DeviceCall call : all_device_calls) database.device().fail(call, -1);
    EXPECT_EQ(database.run_on("opencl", query), expected);
    for (DeviceCall call : all_device_calls) traces.calls.push_back(database.device().calls(call));
    EXPECT_EQ(database.run_on("opencl", query), expected);
    EXPECT_EQ(database.fallbacks(), 0);
    traces.buffers = database.device().live_buffers();
    traces.pinned = traces.most_pinned = database.device().live_pinned();
    return traces;
  }

  void run_with_fault(const std::string& query, const std::vector<std::string>& expected, const Traces& traces,
                      DeviceCall call, int64_t nth, bool all) {
    FaultyDatabase database(*device_, GetParam());
    FaultDevice& device = database.device();
    device.fail(call, nth, all);
    EXPECT_EQ(database.run_on("opencl", query), expected);
    EXPECT_GT(device.calls(call), nth);
    const int64_t fallbacks = database.fallbacks();
    // Without an index there the section whose rows meet it is left to the CPU, too.
    EXPECT_LE(fallbacks, query.find("JOIN") == std::string::npos ? 1 : 2);
    // An allocation is tried again once caches have made room, and who waits after an error, or with the rows in hand,
    // has nothing to report.
    if (call == DeviceCall::Copy || call == DeviceCall::Launch || (all && call == DeviceCall::Allocation)) {
      EXPECT_GE(fallbacks, 1);
    }
    EXPECT_LE(device.live_buffers(), traces.buffers);
    EXPECT_LE(device.live_pinned(), traces.most_pinned);
    device.fail(call, -1);
    EXPECT_EQ(database.run_on("opencl", query), expected);
    EXPECT_EQ(database.fallbacks(), fallbacks);
    EXPECT_EQ(device.live_buffers(), traces.buffers);
    EXPECT_GE(device.live_pinned(), traces.pinned);
    EXPECT_LE(device.live_pinned(), traces.most_pinned);
  }
};

TEST_P(DeviceFaultTest, EveryFailingCallLeavesTheStatementToTheCpu) {
  constexpr int64_t most_calls = 200;
  for (const std::string& query : queries) {
    std::vector<std::string> expected = FaultyDatabase(*device_, GetParam()).run_on("cpu", query);
    Traces traces = run_without_faults(query, expected, GetParam());
    if (GetParam() == std::string("cached"))
      traces.most_pinned += run_without_faults(query, expected, "streamed").pinned;
    for (DeviceCall call : all_device_calls) {
      const int64_t calls = std::min(traces.calls[static_cast<size_t>(call)], most_calls);
      EXPECT_GT(calls, 0);
      // Copies are many and alike.
      const int64_t step = testing::unless_sanitized(1, 8);
      for (int64_t nth = 0; nth < calls; nth += call == DeviceCall::Copy ? nth / 4 + step : step) {
        for (const bool all : {false, true}) {
          SCOPED_TRACE(query + ": call " + std::to_string(nth) + " of kind " + std::to_string(static_cast<int>(call)));
          run_with_fault(query, expected, traces, call, nth, all);
        }
      }
    }
    EXPECT_EQ(device_->memory_use().used_bytes, 0) << query;
    EXPECT_EQ(device_->memory_use().pinned_bytes, 0) << query;
  }
}

INSTANTIATE_TEST_SUITE_P(Residencies, DeviceFaultTest, ::testing::Values("serial", "streamed", "mapped", "cached"),
                         [](const auto& info) { return std::string(info.param); });

// More groups than a tablet of the CPU's has: those that the CPU makes instead are other tablets than the device's.
class ManyGroupsTest : public testing::OpenClDeviceTest {
 protected:
  // The query's lines with each of the device's calls of a kind as the first of those that fail, one after the other.
  void expect_same_without(DeviceCall call, const std::string& query, const std::string& table) {
    std::vector<std::string> expected;
    int64_t calls = 0;
    {
      FaultyDatabase database(*device_, "cached");
      database.set("tablet_rows = 65536");
      database.run_on("cpu", table);
      expected = database.run_on("cpu", query);
      database.device().fail(call, -1);
      EXPECT_EQ(database.run_on("opencl", query), expected);
      EXPECT_EQ(database.fallbacks(), 0);
      calls = database.device().calls(call);
    }
    EXPECT_GT(calls, 0);
    for (int64_t nth = 0; nth < calls; ++nth) {
      SCOPED_TRACE("call " + std::to_string(nth) + " of " + std::to_string(calls));
      FaultyDatabase database(*device_, "cached");
      database.set("tablet_rows = 65536");
      database.run_on("cpu", table);
      database.device().fail(call, nth, true);
      EXPECT_TRUE(database.run_on("opencl", query) == expected);
      EXPECT_EQ(database.fallbacks(), 1);
    }
  }
};

TEST_F(ManyGroupsTest, NoneIsLostWhenTheyCantBeCopiedToTheHost) {
  expect_same_without(
      DeviceCall::Copy, "SELECT k, sum(v) FROM many GROUP BY k HAVING count(*) > 0",
      "CREATE TABLE many AS SELECT g::bigint * 7919 % 100003 AS k, g AS v FROM generate_series(1, 120000) x(g)");
  expect_same_without(
      DeviceCall::Copy, "SELECT k, sum(v) FROM few GROUP BY k HAVING count(*) > 0",
      "CREATE TABLE few AS SELECT g::bigint * 7919 % 20011 AS k, g AS v FROM generate_series(1, 40000) x(g)");
}

using MappedTest = testing::OpenClDeviceTest;

TEST_F(MappedTest, WhereKernelsDoNotSeeTheHostsMemoryTheCpuRunsItAndSaysSo) {
  const std::string query = "SELECT count(*), sum(l), max(n) FROM t WHERE k < 4";
  FaultyDatabase database(*device_, "mapped");
  const std::vector<std::string> expected = database.run_on("cpu", query);
  database.device().forbid_mapping();
  EXPECT_EQ(database.run_on("opencl", query), expected);
  EXPECT_EQ(database.fallbacks(), 1);
  database.set("fallback = error");
  EXPECT_THROW(database.run_on("opencl", query), Error);
}

class DeviceCallsTest : public DeviceFaultTest {};

// What a batch costs beside the bytes that it moves.
TEST_P(DeviceCallsTest, ABatchTakesFew) {
  const std::string query = "SELECT i, l FROM t WHERE k = 3";
  FaultyDatabase database(*device_, GetParam());
  const std::vector<std::string> expected = database.run_on("cpu", query);
  database.run_on("opencl", "SET device_memory_limit = 150000");
  // The second run knows how many rows come out, and divides the table in its own way, which stays.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(database.run_on("opencl", query), expected);
  FaultDevice& device = database.device();
  for (DeviceCall call : all_device_calls) device.fail(call, -1);
  EXPECT_EQ(database.run_on("opencl", query), expected);
  EXPECT_EQ(database.fallbacks(), 0);
  const int64_t batches = device.calls(DeviceCall::Launch);
  EXPECT_GT(batches, 2);
  // Three columns in, of two segments where they meet, two out; descriptions, the control block, two fills.
  EXPECT_LE(device.calls(DeviceCall::Copy), batches * (2 * 3 + 2 + 1 + 1 + 2));
  // The kernel, the copies, and once more before memory is freed.
  EXPECT_LE(device.calls(DeviceCall::Wait), batches * 3);
  // All from pools: a buffer of each column on either side, descriptions and control block on both, states of tiles.
  EXPECT_LE(device.calls(DeviceCall::Allocation), batches * (2 * 3 + 2 * 2 + 2 + 2 + 1));
}

// Nothing is brought to a device for a section of which it is known that no kernel runs it.
TEST_P(DeviceCallsTest, AJoinByIntervalsTakesNone) {
  const std::string query =
      "SELECT a.k, count(*) FROM t AS a JOIN t AS b ON a.i * interval '1 day' = b.i * interval '1 day' GROUP BY a.k";
  FaultyDatabase database(*device_, GetParam());
  const std::vector<std::string> expected = database.run_on("cpu", query);
  FaultDevice& device = database.device();
  for (DeviceCall call : all_device_calls) device.fail(call, -1);
  EXPECT_EQ(database.run_on("opencl", query), expected);
  EXPECT_EQ(database.fallbacks(), 2);
  for (const DeviceCall call : {DeviceCall::Copy, DeviceCall::Launch, DeviceCall::Wait})
    EXPECT_EQ(device.calls(call), 0);
  database.set("fallback = error");
  EXPECT_THROW(database.run_on("opencl", query), Error);
}

INSTANTIATE_TEST_SUITE_P(Residencies, DeviceCallsTest, ::testing::Values("streamed", "mapped"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace diptych
