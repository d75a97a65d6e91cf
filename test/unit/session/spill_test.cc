// Statements that need more than memory_limit: the same rows as without a limit, and clean errors when temporary files
// fail.
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "sanitized.h"
#include "session/explain_json.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych {
namespace {

const std::string spill_path = "x.diptych";

// All types, NULLs, strings from none to 3000 bytes.
const std::string make_sixty_thousand_rows =
    "CREATE TABLE t AS SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE i::bigint * 7919 % 100003 END k, "
    "CASE WHEN i % 11 = 0 THEN NULL WHEN i % 997 = 0 THEN repeat('long ' || i, 300) "
    "ELSE 'name ' || i::bigint * 31 % 5003 END s, (i % 1000)::numeric(30, 2) n, i % 3 = 0 b, "
    "i * interval '1 hour' v, sqrt(i) d, 'x' || i % 5 e FROM generate_series(1, 60000) g(i)";

std::shared_ptr<const TabletSource> run_rows(Connection& connection, const std::string& sql) {
  connection.start_statement();
  return Statement(connection, sql).run();
}

std::string rows_of(const TabletSource& rows) {
  std::string text;
  const size_t columns = rows.columns().size();
  size_t i = 0;
  for (const Value& value : read_values(rows))
    text += (value.is_null() ? "NULL" : value.to_text()) + (++i % columns == 0 ? "\n" : "|");
  return text;
}

class SpillTest : public ::testing::TestWithParam<int> {
 protected:
  void open(Connection& connection, const char* memory) {
    run_rows(connection, "SET threads = " + std::to_string(GetParam()));
    run_rows(connection, "SET tablet_rows = 4096");
    run_rows(connection, make_sixty_thousand_rows);
    run_rows(connection, std::string("SET memory_limit = '") + memory + "'");
  }
};

const std::vector<std::string> spilling_queries = {
    "SELECT * FROM t",
    "SELECT * FROM t WHERE i % 100 = 1",
    "SELECT s || '!' FROM t OFFSET 12345",
    "SELECT i, s, v FROM t LIMIT 30000 OFFSET 20001",
    "SELECT * FROM t ORDER BY k NULLS FIRST, i DESC",
    "SELECT * FROM t ORDER BY s DESC, n, i",
    "SELECT e, v, b, d, n FROM t ORDER BY v DESC",
    "SELECT i, s FROM t ORDER BY s, i LIMIT 40000 OFFSET 777",
    "SELECT i, s FROM t ORDER BY s, i LIMIT 10",
    "SELECT count(*), sum(i), max(s) FROM t",
    "SELECT k, count(*), sum(n), min(s), max(s), avg(n) FROM t GROUP BY k ORDER BY k",
    "SELECT s, e, count(DISTINCT i % 10), max(v) FROM t GROUP BY s, e ORDER BY s, e",
    "SELECT i, s, count(*) FROM t GROUP BY i, s ORDER BY i",
    "SELECT k, b, v, d::real f, n, e, count(*), min(i) FROM t GROUP BY k, b, v, f, n, e ORDER BY 8",
    "SELECT count(*), sum(c), min(m) FROM (SELECT s, k, b, count(*) c, min(v) m FROM t GROUP BY s, k, b) x",
    "SELECT repeat(s, 40), i, repeat(e, i % 90) FROM t WHERE i < 9000",  // a block has more strings than a tablet
};

TEST_P(SpillTest, GivesTheSameRows) {
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  open(connection, "1GB");
  std::vector<std::string> expected;
  for (const std::string& query : spilling_queries) expected.push_back(rows_of(*run_rows(connection, query)));
  for (const char* limit : {"64MB", "8MB", "4MB"}) {
    run_rows(connection, std::string("SET memory_limit = '") + limit + "'");
    for (size_t i = 0; i < spilling_queries.size(); ++i) {
      const auto rows = run_rows(connection, spilling_queries[i]);
      EXPECT_LE(database.budget().used(), database.budget().limit());
      EXPECT_TRUE(rows_of(*rows) == expected[i]) << limit << ": " << spilling_queries[i];
      // Statements that run meanwhile take the memory of this result, which is read again from the file.
      EXPECT_TRUE(rows_of(*run_rows(connection, spilling_queries[0])) == expected[0]) << limit;
      EXPECT_TRUE(rows_of(*rows) == expected[i]) << limit << ", again: " << spilling_queries[i];
    }
    EXPECT_EQ(database.temp().used(), 0);
  }
  EXPECT_EQ(files.paths(), std::vector<std::string>{spill_path});
}

// Tablets of which not every thread can have one at the same time.
TEST_P(SpillTest, TabletsOfSomeThreadsAreEnough) {
  const std::vector<std::string> large = {
      "SELECT max(s), max(t), count(*) FROM wide",
      "SELECT k % 100 g, max(s), max(t) FROM wide GROUP BY g ORDER BY g",
      "SELECT s, max(t) FROM wide GROUP BY s ORDER BY s LIMIT 9 OFFSET 400",
      "SELECT s, t FROM wide WHERE i % 30 = 0",
      "SELECT i, s FROM wide LIMIT 500 OFFSET 70000",
      "SELECT i, s FROM wide ORDER BY s DESC, i LIMIT 500 OFFSET 30000",
      "SELECT s, i FROM wide ORDER BY s, i LIMIT 3",
  };
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  run_rows(connection, "SET tablet_rows = 16384");
  run_rows(connection,
           "CREATE TABLE wide AS SELECT i, i::bigint * 7919 % 100003 k, repeat('s' || i, 12) s, "
           "repeat('t' || i, 9) t FROM generate_series(1, 100000) g(i)");
  for (const char* limit : {"1GB", "10MB", "8MB", "7MB"}) {
    run_rows(connection, std::string("SET memory_limit = '") + limit + "'");
    std::vector<std::string> expected;
    run_rows(connection, "SET threads = 1");
    for (const std::string& query : large) expected.push_back(rows_of(*run_rows(connection, query)));
    for (const int threads : {GetParam(), 2 * GetParam()}) {
      run_rows(connection, "SET threads = " + std::to_string(threads));
      for (size_t i = 0; i < large.size(); ++i)
        EXPECT_TRUE(rows_of(*run_rows(connection, large[i])) == expected[i])
            << limit << ", " << threads << ": " << large[i];
    }
  }
}

TEST_P(SpillTest, WritesTables) {
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  open(connection, "4MB");
  run_rows(connection, "CREATE TABLE u AS SELECT * FROM t ORDER BY s, i");
  run_rows(connection, "INSERT INTO u SELECT * FROM t");
  run_rows(connection, "SET memory_limit = '1GB'");
  const std::string expected = rows_of(*run_rows(connection, "SELECT * FROM t ORDER BY s, i"));
  EXPECT_TRUE(rows_of(*run_rows(connection, "SELECT * FROM u LIMIT 60000")) == expected);
  EXPECT_TRUE(rows_of(*run_rows(connection, "SELECT * FROM u OFFSET 60000")) ==
              rows_of(*run_rows(connection, "SELECT * FROM t")));
}

TEST_P(SpillTest, ConnectionsShareTheLimit) {
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  open(connection, "1GB");
  const std::string expected = rows_of(*run_rows(connection, spilling_queries[4]));
  run_rows(connection, "SET memory_limit = '16MB'");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      Connection own(database);
      run_rows(own, "SET threads = " + std::to_string(GetParam()));
      for (int round = 0; round < 3; ++round) EXPECT_TRUE(rows_of(*run_rows(own, spilling_queries[4])) == expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database.temp().used(), 0);
}

// Runs the query with every nth file operation failing and expects the state, or the right rows.
void fail_operations(MemoryFileSystem& files, Database& database, Connection& connection, const std::string& query,
                     FaultPlan::Kind kind, SqlState state) {
  files.set_faults({});
  const std::string expected = rows_of(*run_rows(connection, query));
  const int64_t operations = files.operations();
  const int64_t memory = database.budget().used();
  int errors = 0;
  for (const bool for_good : {false, true}) {
    const int64_t step = operations / testing::unless_sanitized(15, 4) + 1;
    for (int64_t at = 0; at < operations; at += at < 4 ? 1 : step) {
      files.set_faults({.kind = kind, .at = at, .for_good = for_good, .short_transfers = true});
      try {
        EXPECT_TRUE(rows_of(*run_rows(connection, query)) == expected) << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.state(), state) << at << ": " << error.message();
        ++errors;
      }
      EXPECT_EQ(database.temp().used(), 0) << at;
    }
  }
  EXPECT_GT(errors, 0);
  files.set_faults({});
  // Caches come and go; what a statement leaked would add up.
  EXPECT_LE(database.budget().used(), std::max(memory, database.budget().limit()));
  EXPECT_TRUE(rows_of(*run_rows(connection, query)) == expected);
}

TEST_P(SpillTest, EveryFailingOperationIsACleanError) {
  for (const FaultPlan::Kind kind : {FaultPlan::Kind::IoError, FaultPlan::Kind::DiskFull}) {
    MemoryFileSystem files;
    Database database(spill_path, files);
    Connection connection(database);
    open(connection, "4MB");
    const SqlState state = kind == FaultPlan::Kind::IoError ? SqlState::io_error : SqlState::disk_full;
    fail_operations(files, database, connection, spilling_queries[0], kind, state);
    fail_operations(files, database, connection, spilling_queries[5], kind, state);
    fail_operations(files, database, connection, spilling_queries[10], kind, state);
  }
}

TEST_P(SpillTest, AFullDiskAndTheLimitAre53100) {
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  open(connection, "4MB");
  const auto state_of = [&](const std::string& query) {
    try {
      run_rows(connection, query);
    } catch (const Error& error) {
      EXPECT_NE(error.hint(), "");
      return error.state();
    }
    return SqlState::internal_error;
  };
  files.set_faults({.capacity_bytes = static_cast<int64_t>(files.contents(spill_path).size()) + 100000});
  EXPECT_EQ(state_of(spilling_queries[0]), SqlState::disk_full);
  EXPECT_EQ(state_of(spilling_queries[4]), SqlState::disk_full);
  files.set_faults({});
  run_rows(connection, "SET temp_limit = '100KB'");
  EXPECT_EQ(state_of(spilling_queries[0]), SqlState::disk_full);
  EXPECT_EQ(state_of(spilling_queries[4]), SqlState::disk_full);
  run_rows(connection, "SET temp_limit TO DEFAULT");
  EXPECT_EQ(run_rows(connection, spilling_queries[4])->row_count(), 60000);
  EXPECT_EQ(database.temp().used(), 0);
}

TEST_P(SpillTest, ExplainAnalyzeSaysHowMuch) {
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  open(connection, "4MB");
  EXPECT_GT(testing::explain_json(connection, spilling_queries[4])["run"]["memory"]["spilled_bytes"], 0);
  const nlohmann::json groups = testing::explain_json(connection, spilling_queries[10])["run"]["operations"][0];
  EXPECT_EQ(groups["form"], "runs");
  EXPECT_GT(groups["parts"], GetParam());
  run_rows(connection, "SET memory_limit = '1GB'");
  EXPECT_EQ(testing::explain_json(connection, spilling_queries[4])["run"]["memory"]["spilled_bytes"], 0);
}

// Of a section that runs once for each part of an index, in an order that is made of all parts: its joins are those of
// the program that is shown, and their pairs are those of all parts.
TEST_P(SpillTest, JoinsOfPartsAreExplained) {
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  open(connection, "4MB");
  const std::string join = "FROM t JOIN t u ON t.k = u.k";
  const std::string pairs = rows_of(*run_rows(connection, "SELECT count(*) " + join));
  for (const char* query : {"SELECT count(*), max(u.s) ", "SELECT t.i, u.s, t.s "}) {
    const auto document = testing::explain_json(connection, query + join);
    const auto& section = document["run"]["sections"].at(1);
    EXPECT_GT(section["passes"], 1) << query;
    ASSERT_EQ(section["joins"].size(), 1U) << query;
    const auto& found = section["joins"].at(0);
    EXPECT_EQ(std::to_string(found["rows"].get<int64_t>()) + "\n", pairs) << query;
    EXPECT_EQ(found["estimated_rows"], section["estimated_rows_out"]) << query;
    const std::string line = document["program"].at(found["address"].get<size_t>() + 1);
    EXPECT_NE(line.find("Matches"), std::string::npos) << line;
  }
}

// Whatever others hold, as long as a sixth of the limit is left: no index, sorted rows or groups take what they could
// do without and what runs behind them needs.
TEST_P(SpillTest, ASixthOfTheLimitIsEnough) {
  struct Case {
    const char* query;
    int64_t step;  // of what is held
  };
  constexpr int64_t small = 96 << 10, large = 16 * small;
  const std::vector<Case> cases = {
      {"SELECT t.i, u.s, u.v FROM t JOIN t u ON t.k = u.k LIMIT 5", small},
      {"SELECT i, s, v FROM t WHERE i < 20000 ORDER BY s, i", small},
      {"SELECT i, s, v, d FROM t ORDER BY d, s LIMIT 9000 OFFSET 5000", large},
      {"SELECT i, s, v, d FROM t", large},
      {"SELECT i, count(*) FROM t WHERE i < 9000 GROUP BY i", large},
      {"SELECT k, count(*), max(s) FROM t GROUP BY k", large},
      {"SELECT b, count(DISTINCT s), count(DISTINCT k) FROM t GROUP BY b", large},
      {"SELECT t.k, count(*), max(u.s) FROM t JOIN t u ON t.k = u.k GROUP BY t.k ORDER BY t.k", large},
      {"SELECT x.s, y.i FROM t x JOIN t y ON x.s = y.s AND x.k = y.k ORDER BY y.i", large},
  };
  MemoryFileSystem files;
  Database database(spill_path, files);
  Connection connection(database);
  open(connection, "12MB");
  for (const auto& [query, step] : cases) {
    const int64_t rows = run_rows(connection, query)->row_count();
    for (int64_t held = database.budget().limit() / 6 * 5; held > 0; held -= step) {
      if (!database.budget().try_reserve(held)) continue;
      const auto released = std::shared_ptr<void>(nullptr, [&](void*) { database.budget().release(held); });
      EXPECT_NO_THROW(EXPECT_EQ(run_rows(connection, query)->row_count(), rows))
          << query << ", with " << held << " bytes held";
    }
  }
}

std::vector<int> thread_counts() { return testing::unless_sanitized(std::vector<int>{1, 2, 4}, std::vector<int>{2}); }

INSTANTIATE_TEST_SUITE_P(Threads, SpillTest, ::testing::ValuesIn(thread_counts()),
                         [](const auto& info) { return "Threads" + std::to_string(info.param); });

}  // namespace
}  // namespace diptych
