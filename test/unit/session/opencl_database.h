// A database in memory with an OpenCL device, which statements have to ask for. Tests are skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych::testing {

// The values of all rows, with a blank behind each.
inline std::string run_text(Connection& connection, const std::string& sql) {
  connection.start_statement();
  const auto rows = Statement(connection, sql).run();
  std::string text;
  for (const Value& value : read_values(*rows)) text += value.to_text() + " ";
  return text;
}

class OpenClDatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device = database.engines().devices().find("opencl");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    set(connection, {"tablet_rows = 4096", "device = cpu"});
  }

  // For tests that go through residencies: a device whose kernels can't read the host's memory lacks one.
  bool has(const std::string& residency) const { return residency != "mapped" || device->info().can_map; }

  static void set(Connection& connection, const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) run_text(connection, "SET " + setting);
  }

  Database database{":memory:"};
  Connection connection{database};
  Device* device = nullptr;
};

}  // namespace diptych::testing
