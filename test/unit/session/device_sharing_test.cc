// What statements on a device share with others and with the CPU: memory, limits, the counters, and the rule which rows
// may fail.
#include <gtest/gtest.h>

#include <thread>

#include "session/explain_json.h"
#include "session/opencl_database.h"

namespace diptych {
namespace {

using testing::run_text;

std::optional<SqlState> state_of_shared(Connection& connection, const std::string& sql) {
  try {
    run_text(connection, sql);
  } catch (const Error& error) {
    return error.state();
  }
  return std::nullopt;
}

using DeviceSharing = testing::OpenClDatabaseTest;

TEST_F(DeviceSharing, RowsBehindALimitFailOnlyWhereTheyAreReached) {
  run_text(connection, "CREATE TABLE t AS SELECT i, 9999 - i b FROM generate_series(1, 30000) g(i)");
  set(connection, {"device = opencl", "gpu_engine = generated"});
  for (const char* residency : {"cached", "streamed", "mapped", "serial"}) {
    if (!has(residency)) continue;
    run_text(connection, std::string("SET residency = ") + residency);
    EXPECT_EQ(run_text(connection, "SELECT 9998 / b FROM t LIMIT 3"), "1 1 1 ") << residency;
    EXPECT_EQ(run_text(connection, "SELECT count(9998 / b) FROM t LIMIT 0"), "") << residency;
    EXPECT_EQ(state_of_shared(connection, "SELECT 9998 / b FROM t LIMIT 20000"), SqlState::division_by_zero)
        << residency;
    EXPECT_EQ(state_of_shared(connection, "SELECT count(9998 / b) FROM t LIMIT 1"), SqlState::division_by_zero)
        << residency;
  }
  EXPECT_EQ(database.engines().fallbacks().begin()->first, "a row fails that LIMIT may not reach");
}

// Two sums of 128 bits call one function of shared memory twice, with the same place: see DK_SHARED_FN.
TEST_F(DeviceSharing, WorkGroupsHaveSharedMemoryOfTheirOwn) {
  run_text(connection,
           "CREATE TABLE t AS SELECT i * 46116860184::bigint w, i % 1009 * 1000000000000 b "
           "FROM generate_series(1::bigint, 80000) g(i)");
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error"});
  for (int run = 0; run < 200; ++run)
    ASSERT_EQ(run_text(connection, "SELECT sum(w), sum(b), count(*) FROM t"),
              "147575797263207360000 40216249000000000000 80000 ")
        << run;
}

TEST_F(DeviceSharing, RowsOfADeviceTakeTheirPartOfTheMemoryLimit) {
  run_text(connection, "CREATE TABLE t AS SELECT i::bigint i FROM generate_series(1, 400000) g(i)");
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error", "memory_limit = '16MB'"});
  for (const char* residency : {"cached", "streamed", "mapped"}) {
    if (!has(residency)) continue;
    run_text(connection, std::string("SET residency = ") + residency);
    connection.start_statement();
    {
      const int64_t before = database.budget().used();
      const auto rows = Statement(connection, "SELECT i FROM t").run();
      EXPECT_GE(database.budget().used() - before, 400000 * 8) << residency;
    }
    EXPECT_EQ(state_of_shared(connection, "SELECT i, i + 1, i + 2, i + 3, i + 4, i + 5 FROM t"),
              SqlState::feature_not_supported)
        << residency;
  }
}

TEST_F(DeviceSharing, ColumnsThatAreKeptGiveWayToWhateverNeedsTheRoom) {
  for (const char* table : {"a", "b"})
    run_text(connection, std::string("CREATE TABLE ") + table +
                             " AS SELECT i * 7919 % 10007 * 1000000007 + i % 3 x, i::text || 'abc' s "
                             "FROM generate_series(1::bigint, 200000) g(i)");
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error", "residency = cached",
                   "device_memory_limit = '12MB'"});
  const std::vector<std::string> queries = {"SELECT x FROM a ORDER BY x LIMIT 100000",
                                            "SELECT s FROM a WHERE length(s) > 8 LIMIT 100000"};
  for (const std::string& query : queries) {
    const std::string alone = run_text(connection, query);
    // These fill what there is.
    run_text(connection, "SELECT max(x), max(length(s)) FROM b");
    run_text(connection, "SELECT min(x), min(length(s)) FROM a");
    EXPECT_EQ(run_text(connection, query), alone);
  }
}

// None has the memory that it takes alone while the others have theirs.
TEST_F(DeviceSharing, StatementsThatDoNotFitTogetherShareTheMemory) {
  run_text(connection,
           "CREATE TABLE t AS SELECT i * 7919 % 10007 * 1000000007 x FROM generate_series(1::bigint, 500000) g(i)");
  const std::string query = "SELECT sum(x), max(x) FROM t";
  const std::string expected = run_text(connection, query);
  run_text(connection, "SET device_memory_limit = '3MB'");
  std::vector<std::jthread> threads;
  for (const char* residency : {"serial", "streamed", "streamed", "serial"}) {
    threads.emplace_back([&, residency] {
      Connection mine(database);
      set(mine,
          {"device = opencl", "gpu_engine = generated", "fallback = error", std::string("residency = ") + residency});
      for (int i = 0; i < 10; ++i) EXPECT_EQ(run_text(mine, query), expected);
    });
  }
}

// Together they need twice the memory. Groups of the last two are many enough to stay on the device for the sections
// behind. Nothing runs twice: what has no room to stay would be streamed, and say so.
TEST_F(DeviceSharing, SixteenConnectionsThatGroup) {
  constexpr int64_t connections = 16;
  run_text(connection,
           "CREATE TABLE t AS SELECT i, i * 7919 % 10007 * 1000000007 w, 'name ' || i % 5000 s, i % 50 v "
           "FROM generate_series(1::bigint, 50000) g(i)");
  const std::vector<std::string> queries = {
      "SELECT w, count(*), sum(v) FROM t GROUP BY w ORDER BY 3 DESC, 1 LIMIT 5",
      "SELECT s, count(*), sum(i) FROM t GROUP BY s ORDER BY 3 DESC, 1 LIMIT 5",
      "SELECT i, sum(v) FROM t GROUP BY i HAVING sum(v) = 49 AND i > 49000 ORDER BY i",
      "SELECT i, count(*), max(w) FROM t GROUP BY i ORDER BY 3 DESC, 1 LIMIT 5",
  };
  std::vector<std::string> expected;
  for (const std::string& query : queries) expected.push_back(run_text(connection, query));
  set(connection, {"device = opencl", "gpu_engine = generated", "fallback = error", "residency = cached"});
  for (size_t i = 0; i < queries.size(); ++i) EXPECT_EQ(run_text(connection, queries[i]), expected[i]);
  const int64_t limit = device->memory_use().peak_bytes * connections / 2;
  run_text(connection, "SET device_memory_limit = " + std::to_string(limit));
  {
    std::vector<std::jthread> threads;
    for (size_t number = 0; number < connections; ++number) {
      threads.emplace_back([&, number] {
        Connection mine(database);
        const char* residency = number % 4 == 0 ? "streamed" : number % 4 == 1 ? "serial" : "cached";
        set(mine,
            {"device = opencl", "gpu_engine = generated", "fallback = error", std::string("residency = ") + residency});
        for (size_t i = 0; i < queries.size(); ++i) {
          const size_t query = (number + i) % queries.size();
          EXPECT_EQ(run_text(mine, queries[query]), expected[query]) << queries[query];
        }
        const std::string why = testing::text_of(testing::first_section(mine, queries[number % 4])["why"]);
        EXPECT_EQ(why, "asked for");
      });
    }
  }
  EXPECT_TRUE(database.engines().fallbacks().empty());
  EXPECT_LE(device->memory_use().peak_bytes, limit);
}

TEST_F(DeviceSharing, TheDeviceMemoryLimitIsTheDatabases) {
  run_text(
      connection,
      "CREATE TABLE t AS SELECT i * 7919 % 10007 * 1000000007 + i % 3 i FROM generate_series(1::bigint, 500000) g(i)");
  Connection other(database);
  set(connection, {"device = opencl", "gpu_engine = generated", "residency = cached", "device_memory_limit = '2MB'"});
  const auto residency = [&] {
    return testing::text_of(testing::first_section(other, "SELECT sum(i), max(i) FROM t")["residency"]);
  };
  set(other, {"device = opencl", "gpu_engine = generated", "residency = cached"});
  EXPECT_NE(residency(), "cached") << "another connection's limit";
  Connection third(database);
  EXPECT_EQ(run_text(third, "SHOW device_memory_limit"), "2MB ");
  // It can be raised at any time.
  run_text(connection, "SET device_memory_limit = 0");
  EXPECT_EQ(residency(), "cached");
}

TEST_F(DeviceSharing, WhatAFileHoldsIsReadByTheCpuWhichSaysSo) {
  set(connection, {"device = opencl", "fallback = count"});
  EXPECT_EQ(run_text(connection, "SELECT sum(i) FROM generate_series(1, 100) g(i)"), "5050 ");
  EXPECT_EQ(database.engines().fallbacks(),
            (std::map<std::string, int64_t>{{"rows of a series are read by the CPU", 1}}));
  run_text(connection, "SET fallback = error");
  EXPECT_EQ(run_text(connection, "SELECT 1"), "1 ");
  EXPECT_EQ(run_text(connection, "SELECT sum(i) FROM generate_series(1, 100) g(i)"), "5050 ")
      << "it is so on every device";
  EXPECT_EQ(testing::first_section(connection, "SELECT sum(i) FROM generate_series(1, 100) g(i)")["fallback"],
            "rows of a series are read by the CPU");
}

TEST_F(DeviceSharing, MoreValuesThanAKernelHasRoomForAreTheCpus) {
  std::string columns, values;
  for (int i = 0; i < 60; ++i) {
    columns += (i > 0 ? ", " : "") + ("i + " + std::to_string(i)) + " c" + std::to_string(i);
    values += (i > 0 ? ", c" : "c") + std::to_string(i) + "::text || 'x'";
  }
  run_text(connection, "CREATE TABLE t AS SELECT " + columns + " FROM generate_series(1, 300) g(i)");
  const std::string query = "SELECT " + values + " FROM t WHERE c0 > 299";
  const std::string expected = run_text(connection, query);
  set(connection, {"device = opencl", "gpu_engine = generated"});
  EXPECT_EQ(run_text(connection, query), expected);
  EXPECT_EQ(database.engines().fallbacks().begin()->first, "it computes more values than a kernel has room for");
}

TEST_F(DeviceSharing, ReasonsDoNotGrowWithTheirNumbers) {
  run_text(connection, "CREATE TABLE t AS SELECT i::bigint i FROM generate_series(1, 200000) g(i)");
  set(connection, {"device = opencl", "gpu_engine = generated", "residency = serial"});
  for (int limit = 1000; limit < 1020; ++limit) {
    run_text(connection, "SET device_memory_limit = " + std::to_string(limit));
    run_text(connection, "SELECT sum(i) FROM t");
  }
  EXPECT_EQ(database.engines().fallbacks().size(), 1U);
}

TEST_F(DeviceSharing, ProgressIsOfAllRowsOnce) {
  run_text(connection, "CREATE TABLE t AS SELECT i, 9999 - i b FROM generate_series(1, 30000) g(i)");
  set(connection, {"device = opencl", "gpu_engine = generated"});
  for (const char* sharing : {"off", "on"}) {
    set(connection, {std::string("share_tablets = ") + sharing, "residency = streamed"});
    run_text(connection, "SELECT sum(i) FROM t");
    // The row of the aggregate is read, too.
    EXPECT_EQ(connection.progress().rows_total, 30001) << sharing;
    EXPECT_EQ(connection.progress().rows_done, 30001) << sharing;
    run_text(connection, "SELECT 9998 / b FROM t LIMIT 30");
    EXPECT_EQ(connection.progress().rows_total, 30000) << sharing;
    EXPECT_LE(connection.progress().rows_done, 30000) << sharing;
  }
}

}  // namespace
}  // namespace diptych
