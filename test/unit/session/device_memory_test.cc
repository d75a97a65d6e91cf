// A table of many times the memory that the device may use: right answers in every residency, and never more in use.
#include <gtest/gtest.h>

#include "base/fault_file_system.h"
#include "session/explain_json.h"
#include "session/opencl_database.h"

namespace diptych {
namespace {

constexpr int64_t limit_bytes = 8 << 20;
// 8 bytes and 1 byte a row (nothing divides all values of a), of which the device holds three segments of 64 tablets at
// once when they are streamed.
const std::string make_wide_table =
    "CREATE TABLE t AS SELECT (i * 7919 % 10007) * 1000000007 + i % 3 a, (i % 7)::smallint k "
    "FROM generate_series(1::bigint, 8000000) g(i)";

const std::vector<std::string> queries_of_little_memory = {
    "SELECT count(*), sum(a), max(a) FROM t WHERE k < 5",
    "SELECT k, count(*), min(a) FROM t GROUP BY k ORDER BY k",
};

using testing::run_text;
using DeviceMemory = testing::OpenClDatabaseTest;

TEST_F(DeviceMemory, ATableOfManyTimesTheLimit) {
  run_text(connection, make_wide_table);
  std::vector<std::string> expected;
  for (const std::string& query : queries_of_little_memory) expected.push_back(run_text(connection, query));
  run_text(connection, "SET device = opencl");
  run_text(connection, "SET device_memory_limit = " + std::to_string(limit_bytes));
  for (const char* residency : {"serial", "streamed", "mapped", "auto"}) {
    if (!has(residency)) continue;
    run_text(connection, std::string("SET residency = ") + residency);
    for (size_t i = 0; i < queries_of_little_memory.size(); ++i)
      EXPECT_EQ(run_text(connection, queries_of_little_memory[i]), expected[i])
          << residency << ": " << queries_of_little_memory[i];
    EXPECT_TRUE(database.engines().fallbacks().empty()) << residency;
    EXPECT_LE(device->memory_use().peak_bytes, limit_bytes) << residency;
  }
  // It can't be held there: it is streamed, and EXPLAIN ANALYZE says why.
  run_text(connection, "SET residency = cached");
  for (size_t i = 0; i < queries_of_little_memory.size(); ++i)
    EXPECT_EQ(run_text(connection, queries_of_little_memory[i]), expected[i]) << queries_of_little_memory[i];
  const std::string why = testing::text_of(testing::first_section(connection, queries_of_little_memory[0])["why"]);
  EXPECT_NE(why.find("streamed: opencl:0 has no room"), std::string::npos) << why;
  EXPECT_TRUE(database.engines().fallbacks().empty());
  EXPECT_LE(device->memory_use().peak_bytes, limit_bytes);
  // What was left there is no hindrance to others.
  run_text(connection, "SET residency = streamed");
  for (size_t i = 0; i < queries_of_little_memory.size(); ++i)
    EXPECT_EQ(run_text(connection, queries_of_little_memory[i]), expected[i]) << queries_of_little_memory[i];
  EXPECT_TRUE(database.engines().fallbacks().empty());
  EXPECT_LE(device->memory_use().peak_bytes, limit_bytes);
}

// Columns in a file may be compressed to a hundredth of what they take in memory.
TEST_F(DeviceMemory, TablesInAFileTakeWhatTheyTakeInMemory) {
  MemoryFileSystem files;
  Database database("x.diptych", files);
  Connection connection(database);
  device = database.engines().devices().find("opencl");
  run_text(connection, "SET tablet_rows = 4096");
  run_text(connection, "SET device = cpu");
  // 8 bytes a row in memory.
  run_text(
      connection,
      "CREATE TABLE c AS SELECT i % 4 * 1000000007000 + i % 4 / 2 a FROM generate_series(1::bigint, 3000000) g(i)");
  const std::string query = "SELECT count(*), sum(a), max(a) FROM c";
  const std::string expected = run_text(connection, query);
  run_text(connection, "SET device = opencl");
  run_text(connection, "SET gpu_engine = generated");
  run_text(connection, "SET fallback = error");
  run_text(connection, "SET device_memory_limit = " + std::to_string(limit_bytes));
  for (const char* residency : {"streamed", "serial", "auto"}) {
    run_text(connection, std::string("SET residency = ") + residency);
    EXPECT_EQ(run_text(connection, query), expected) << residency;
    EXPECT_LE(device->memory_use().peak_bytes, limit_bytes) << residency;
  }
}

const std::vector<std::string> row_queries = {
    "SELECT i, k, n FROM r WHERE k < 5",
    "SELECT n FROM r WHERE k = 6 AND i > 1000",
    "SELECT i FROM r WHERE i > 450000",
    "SELECT n, i FROM r WHERE k < 5 LIMIT 30000",
};

// Of the last section that ran; -1: none ran on a device.
int64_t launches_of(Connection& connection, const std::string& query) {
  const nlohmann::json device = testing::explain_json(connection, query)["run"]["sections"].back()["device"];
  return device.is_null() ? -1 : device["launches"].get<int64_t>();
}

TEST_F(DeviceMemory, LargeResultsComeInBatches) {
  run_text(connection,
           "CREATE TABLE r AS SELECT i, (i % 7)::smallint k, CASE WHEN i % 5 = 0 THEN NULL ELSE i % 1000 END n "
           "FROM generate_series(1::bigint, 500000) g(i)");
  std::vector<std::string> expected;
  for (const std::string& query : row_queries) expected.push_back(run_text(connection, query));
  run_text(connection, "SET device = opencl");
  run_text(connection, "SET fallback = error");
  run_text(connection, "SET gpu_engine = generated");
  run_text(connection, "SET device_memory_limit = 16000000");
  for (const char* residency : {"serial", "streamed", "mapped", "cached"}) {
    if (!has(residency)) continue;
    run_text(connection, std::string("SET residency = ") + residency);
    // Twice: the second time what was made ready is found again.
    for (size_t i = 0; i < 2 * row_queries.size(); ++i) {
      const size_t query = i % row_queries.size();
      EXPECT_EQ(run_text(connection, row_queries[query]), expected[query]) << residency << ": " << row_queries[query];
    }
    EXPECT_GT(launches_of(connection, row_queries[0]), 1) << residency;
    // The first batch that fails says how: an overflow from row 100001 on, a division by zero much later.
    try {
      run_text(connection, "SELECT (9223372036854675807 + i) / (480000 - i) FROM r");
      ADD_FAILURE() << residency;
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::numeric_value_out_of_range) << residency;
    }
  }
}

// How many rows one pattern lets through says nothing about another's, though their kernel is the same.
TEST_F(DeviceMemory, RoomIsMadeForTheRowsOfThisStatement) {
  run_text(connection,
           "CREATE TABLE u AS SELECT i, CASE WHEN i % 250000 = 7 THEN 'rare' ELSE 'k' || i % 100 END s "
           "FROM generate_series(1::bigint, 500000) g(i)");
  const std::string expected = run_text(connection, "SELECT i, s FROM u WHERE s LIKE 'k%'");
  for (const char* setting : {"device = opencl", "fallback = error", "gpu_engine = generated", "residency = cached",
                              "device_memory_limit = 8500000"})
    run_text(connection, std::string("SET ") + setting);
  EXPECT_EQ(run_text(connection, "SELECT i, s FROM u WHERE s LIKE 'rare%'"), "7 rare 250007 rare ");
  EXPECT_EQ(run_text(connection, "SELECT i, s FROM u WHERE s LIKE 'k%'"), expected);
}

}  // namespace
}  // namespace diptych
