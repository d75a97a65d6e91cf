// A kernel that goes over very many pairs of rows is stopped when its statement is cancelled.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "session/opencl_database.h"

namespace diptych {
namespace {

using testing::run_text;

struct WatchedDevice {
  const char* name;
  // Of each table, all of which meet: their pairs take a GPU seconds, the host's cores minutes.
  int rows;
};

class WatchedKernel : public ::testing::TestWithParam<WatchedDevice> {
 protected:
  void SetUp() override {
    try {
      database.engines().devices().find(GetParam().name);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  void set(const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) run_text(connection, "SET " + setting);
  }

  Database database{":memory:"};
  Connection connection{database};
};

TEST_P(WatchedKernel, EndsWhenItsStatementIsCancelled) {
  const std::string on_device = std::string("device = ") + GetParam().name;
  const std::string query = "SELECT count(*), sum(a.v + b.v), max(a.v) FROM a JOIN b ON a.k = b.k WHERE a.v + b.v > 0";
  set({"tablet_rows = 4096", "device = cpu"});
  for (const char* name : {"a", "b"})
    run_text(connection, std::string("CREATE TABLE ") + name +
                             " AS SELECT 7 AS k, i::bigint AS v FROM generate_series(1, 1000) g(i)");
  set({on_device, "gpu_engine = generated", "fallback = error"});
  // Its kernel is compiled then.
  EXPECT_EQ(run_text(connection, query), "1000000 1001000000 1000 ");
  set({"device = cpu"});
  for (const char* name : {"a", "b"})
    run_text(connection, std::string("INSERT INTO ") + name + " SELECT 7, i::bigint FROM generate_series(1001, " +
                             std::to_string(GetParam().rows) + ") g(i)");
  set({on_device});
  connection.start_statement();
  std::string state = "it ended";
  std::thread runner([&] {
    try {
      Statement(connection, query).run();
    } catch (const Error& error) {
      state = error.what();
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  connection.interrupt();
  runner.join();
  EXPECT_NE(state.find("cancelled on request"), std::string::npos) << state;
  // The device goes on with others.
  EXPECT_EQ(run_text(connection, "SELECT count(*) FROM a WHERE v <= 10"), "10 ");
}

INSTANTIATE_TEST_SUITE_P(Devices, WatchedKernel,
                         ::testing::Values(WatchedDevice{"opencl", 300000}, WatchedDevice{"cuda", 1000000}),
                         [](const auto& device) { return std::string(device.param.name); });

}  // namespace
}  // namespace diptych
