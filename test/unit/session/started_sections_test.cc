// Sections that feed indexes begin on a device before it is their turn: the same answers and errors, whatever fails.
#include <gtest/gtest.h>

#include "session/faulty_database.h"

namespace diptych {
namespace {

using testing::FaultyDatabase;

// Three build sides, none of which waits for another.
const std::string star =
    "SELECT f.k, count(*), sum(a.l + b.i) FROM fact AS f JOIN t AS a ON f.x = a.i JOIN t AS b ON f.y = b.i "
    "JOIN t AS c ON f.z = c.i WHERE a.k < 6 AND b.k > 1 AND c.k <> 2 GROUP BY f.k";
const std::string make_fact =
    "CREATE TABLE fact AS SELECT i % 10 k, 1 + i * 7 % 5000 x, 1 + i * 11 % 5000 y, 1 + i * 13 % 5000 z "
    "FROM generate_series(1, 20000) g(i)";

class StartedSections : public testing::OpenClDeviceTest {
 protected:
  // With both tables.
  static std::unique_ptr<FaultyDatabase> make_database() {
    auto database = std::make_unique<FaultyDatabase>(*device_, "cached");
    database->set("tablet_rows = 4096");
    database->run_on("cpu", make_fact);
    return database;
  }
  // Of a statement that fails.
  static std::string error_of(FaultyDatabase& database, const std::string& device, const std::string& query) {
    try {
      database.run_on(device, query);
    } catch (const Error& error) {
      return error.message() + " at " + std::to_string(error.position());
    }
    return "none";
  }
};

TEST_F(StartedSections, AllAreLaunchedBeforeTheFirstIsWaitedFor) {
  const auto made = make_database();
  FaultyDatabase& database = *made;
  const std::vector<std::string> expected = database.run_on("cpu", star);
  EXPECT_EQ(database.run_on("opencl", star), expected);
  EXPECT_EQ(database.fallbacks(), 0);
  // Nothing is launched any more once it is lost.
  database.device().fail(DeviceCall::Launch, -1);
  database.device().lose_at(DeviceCall::Wait, 0);
  EXPECT_EQ(database.run_on("opencl", star), expected);
  EXPECT_GE(database.device().calls(DeviceCall::Launch), 3);
}

TEST_F(StartedSections, TheFirstOfTheProgramTellsItsErrorFirst) {
  const auto made = make_database();
  FaultyDatabase& database = *made;
  const std::string query =
      "SELECT count(*) FROM fact AS f JOIN t AS a ON f.x = a.i JOIN t AS b ON f.y = b.i "
      "WHERE 10 / (a.k - 3) > 0 AND 2147483647 + b.i > 0";
  const std::string expected = error_of(database, "cpu", query);
  EXPECT_NE(expected, "none");
  for (int run = 0; run < 3; ++run) EXPECT_EQ(error_of(database, "opencl", query), expected);
  EXPECT_EQ(database.run_on("opencl", star), database.run_on("cpu", star));
  EXPECT_EQ(database.fallbacks(), 0);
}

// A start that fails is tried again in its turn, where it may succeed.
TEST_F(StartedSections, EveryFailingCallLeavesTheAnswerAsItIs) {
  std::vector<std::string> expected;
  std::vector<int64_t> calls;
  int64_t buffers = 0;
  {
    const auto made = make_database();
    FaultyDatabase& database = *made;
    expected = database.run_on("cpu", star);
    for (const DeviceCall call : all_device_calls) database.device().fail(call, -1);
    EXPECT_EQ(database.run_on("opencl", star), expected);
    for (const DeviceCall call : all_device_calls) calls.push_back(database.device().calls(call));
    EXPECT_EQ(database.run_on("opencl", star), expected);
    EXPECT_EQ(database.fallbacks(), 0);
    buffers = database.device().live_buffers();
  }
  for (const DeviceCall call : all_device_calls) {
    const int64_t count = calls[static_cast<size_t>(call)];
    EXPECT_GT(count, 0);
    for (int64_t nth = 0; nth < count; nth += call == DeviceCall::Copy ? nth / 4 + 1 : 1) {
      for (const bool all : {false, true}) {
        SCOPED_TRACE("call " + std::to_string(nth) + " of kind " + std::to_string(static_cast<int>(call)));
        const auto made = make_database();
        FaultyDatabase& database = *made;
        FaultDevice& device = database.device();
        device.fail(call, nth, all);
        EXPECT_EQ(database.run_on("opencl", star), expected);
        if (all && call != DeviceCall::Wait) {
          EXPECT_GE(database.fallbacks(), 1);
        }
        const int64_t fallbacks = database.fallbacks();
        EXPECT_LE(device.live_buffers(), buffers);
        device.fail(call, -1);
        EXPECT_EQ(database.run_on("opencl", star), expected);
        EXPECT_EQ(database.fallbacks(), fallbacks);
        EXPECT_EQ(device.live_buffers(), buffers);
      }
    }
  }
  EXPECT_EQ(device_->memory_use().used_bytes, 0);
  EXPECT_EQ(device_->memory_use().pinned_bytes, 0);
}

}  // namespace
}  // namespace diptych
