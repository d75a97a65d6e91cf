// Transactions of several connections beside each other, of appenders, and what is left of one that ends otherwise than
// by COMMIT. What one connection sees of its own is in test/sql/transaction.
#include "session/transaction.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "session/appender.h"
#include "session/statement.h"

namespace diptych {
namespace {

class TransactionTest : public ::testing::Test {
 protected:
  TransactionTest() { run(a_, "CREATE TABLE t (i integer PRIMARY KEY)"); }

  static std::shared_ptr<const TabletSource> run(Connection& connection, const std::string& sql) {
    connection.start_statement();
    return Statement(connection, sql).run();
  }
  static std::string state_of(Connection& connection, const std::string& sql) {
    try {
      run(connection, sql);
      return "";
    } catch (const Error& error) {
      return code_of(error.state());
    }
  }
  static int64_t rows(Connection& connection) { return run(connection, "SELECT i FROM t")->row_count(); }

  MemoryFileSystem files_;
  std::unique_ptr<Database> database_ = std::make_unique<Database>("x.diptych", files_);
  Connection a_{*database_}, b_{*database_};
};

TEST_F(TransactionTest, OthersSeeWhatIsCommitted) {
  run(a_, "BEGIN");
  run(b_, "BEGIN");
  run(a_, "INSERT INTO t VALUES (1), (2)");
  EXPECT_EQ(rows(a_), 2);
  EXPECT_EQ(rows(b_), 0);
  run(a_, "COMMIT");
  EXPECT_EQ(rows(b_), 2) << "READ COMMITTED";
  EXPECT_EQ(b_.transaction().state(), TransactionState::Open);
}

TEST_F(TransactionTest, RepeatableReadKeepsItsSnapshot) {
  run(b_, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  run(a_, "INSERT INTO t VALUES (1)");
  EXPECT_EQ(rows(b_), 1) << "the snapshot is that of the first statement";
  run(a_, "INSERT INTO t VALUES (2)");
  run(a_, "CREATE TABLE u AS SELECT 1 x");
  EXPECT_EQ(rows(b_), 1);
  EXPECT_EQ(state_of(b_, "SELECT x FROM u"), "42P01");
  run(b_, "ROLLBACK");
  EXPECT_EQ(rows(b_), 2);
}

TEST_F(TransactionTest, ChangesOfRowsThatOthersHaveChangedAreRefused) {
  run(a_, "INSERT INTO t VALUES (1), (2)");
  run(b_, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  EXPECT_EQ(rows(b_), 2);
  run(a_, "UPDATE t SET i = 10 WHERE i = 1");
  run(b_, "DELETE FROM t WHERE i = 2");
  EXPECT_EQ(rows(b_), 1);
  EXPECT_EQ(state_of(b_, "DELETE FROM t WHERE i = 1"), "40001");
  EXPECT_EQ(b_.transaction().state(), TransactionState::Failed);
  run(a_, "INSERT INTO t VALUES (3)");  // which the refused one does not hinder
  run(b_, "ROLLBACK");
  EXPECT_EQ(rows(b_), 3);
}

TEST_F(TransactionTest, WritersWaitForOneAnother) {
  run(a_, "BEGIN");
  run(a_, "INSERT INTO t VALUES (1)");
  run(b_, "SET lock_timeout = 20");
  EXPECT_EQ(state_of(b_, "INSERT INTO t VALUES (2)"), "55P03");
  run(b_, "SET lock_timeout = 0");
  std::thread other([&] { run(b_, "INSERT INTO t VALUES (2)"); });
  run(a_, "INSERT INTO t VALUES (3)");
  run(a_, "COMMIT");
  other.join();
  EXPECT_EQ(rows(a_), 3);
}

TEST_F(TransactionTest, FailingLetsTheNextWriterGoOn) {
  run(a_, "BEGIN");
  run(a_, "INSERT INTO t VALUES (1)");
  EXPECT_EQ(state_of(a_, "INSERT INTO t VALUES (1)"), "23505");
  run(b_, "INSERT INTO t VALUES (1)");
  run(a_, "COMMIT");
  EXPECT_EQ(rows(a_), 1);
}

TEST_F(TransactionTest, AConnectionThatGoesRollsBack) {
  {
    Connection gone(*database_);
    run(gone, "BEGIN");
    run(gone, "INSERT INTO t VALUES (1)");
  }
  EXPECT_EQ(rows(a_), 0);
  run(a_, "INSERT INTO t VALUES (1)");
}

// A statement that was prepared before, and a plan that was kept, of tables that have come and gone again.
TEST_F(TransactionTest, PreparedStatementsFollow) {
  Statement count(a_, "SELECT i FROM t"), insert(a_, "INSERT INTO t VALUES ($1)");
  insert.bind_parameter(0, Value::integer(1));
  EXPECT_EQ(count.run()->row_count(), 0);
  for (int round = 0; round < 3; ++round) {
    run(a_, "BEGIN");
    insert.run();
    EXPECT_EQ(count.run()->row_count(), 1);
    run(a_, "DROP TABLE t");
    run(a_, "CREATE TABLE t AS SELECT 7 i, 8 j FROM generate_series(1, 5) g");
    EXPECT_EQ(count.run()->row_count(), 5);
    EXPECT_EQ(run(a_, "SELECT * FROM t")->columns().size(), 2U);
    run(a_, "ROLLBACK");
    EXPECT_EQ(count.run()->row_count(), 0);
    EXPECT_EQ(run(a_, "SELECT * FROM t")->columns().size(), 1U);
    run(b_, "CREATE TABLE x" + std::to_string(round) + " (i integer)");
  }
}

TEST_F(TransactionTest, RowsThatAreReturned) {
  run(a_, "CREATE TABLE u AS SELECT i % 3 k, i v FROM generate_series(1, 9) g(i)");
  Statement insert(a_, "INSERT INTO t SELECT i FROM generate_series(1, 5) g(i) RETURNING i * 2 AS twice, 'x'");
  ASSERT_EQ(insert.columns().size(), 2U);
  EXPECT_EQ(insert.columns()[0].name, "twice");
  EXPECT_EQ(insert.run()->row_count(), 5);
  EXPECT_EQ(insert.rows_changed(), 5);
  // Each of them meets three.
  Statement update(a_, "UPDATE t SET i = i + $1 FROM u WHERE i = k RETURNING i, v"),
      erase(a_, "DELETE FROM t USING u WHERE i = k + $1"), none(a_, "DELETE FROM t USING u WHERE i = k + 1000");
  update.bind_parameter(0, Value::integer(10));
  EXPECT_EQ(update.run()->row_count(), 2);
  EXPECT_EQ(update.rows_changed(), 2);
  erase.bind_parameter(0, Value::integer(10));
  EXPECT_EQ(erase.run()->columns().size(), 0U);
  EXPECT_EQ(erase.rows_changed(), 2);
  none.run();
  EXPECT_EQ(none.rows_changed(), 0);
  EXPECT_EQ(rows(a_), 3);
  run(a_, "DROP TABLE u");
}

// A prepared query says so when its columns are others now, and reads the new table when they are not.
TEST_F(TransactionTest, AReplacedTableUnderAPreparedQuery) {
  Statement all(b_, "SELECT * FROM t"), some(b_, "SELECT i FROM t WHERE i > 0");
  EXPECT_EQ(all.run()->row_count(), 0);
  EXPECT_EQ(some.run()->row_count(), 0);
  run(a_, "CREATE OR REPLACE TABLE t AS SELECT i, 1 AS one FROM generate_series(1, 3) g(i)");
  EXPECT_EQ(some.run()->row_count(), 3);
  EXPECT_THROW(all.run(), Error);
  run(a_, "BEGIN");
  run(a_, "CREATE OR REPLACE TABLE t (i integer)");
  EXPECT_EQ(some.run()->row_count(), 3);
  run(a_, "COMMIT");
  EXPECT_EQ(some.run()->row_count(), 0);
}

TEST_F(TransactionTest, PreparedChanges) {
  run(a_, "INSERT INTO t SELECT i FROM generate_series(1, 100) g(i)");
  Statement erase(a_, "DELETE FROM t WHERE i % $1 = 0"), move(a_, "UPDATE t SET i = i + $2 WHERE i > $1");
  for (const int divisor : {2, 3, 2}) {
    erase.bind_parameter(0, Value::integer(divisor));
    erase.run();
    EXPECT_EQ(erase.rows_changed(), divisor == 3 ? 17 : rows(a_) == 50 ? 50 : 0) << divisor;
  }
  move.bind_parameter(0, Value::integer(90));
  move.bind_parameter(1, Value::integer(1000));
  move.run();
  EXPECT_EQ(move.rows_changed(), 3);
  EXPECT_EQ(run(a_, "SELECT i FROM t WHERE i > 1000")->row_count(), 3);
  for (const char* none : {"DELETE FROM t WHERE false", "DELETE FROM t WHERE i = 1 AND i = 2",
                           "DELETE FROM t WHERE NULL", "UPDATE t SET i = 1 WHERE i IS NULL"})
    EXPECT_EQ(state_of(a_, none), "") << none;
  EXPECT_EQ(rows(a_), 33);
  run(a_, "DELETE FROM t WHERE true");
  EXPECT_EQ(rows(a_), 0);
}

// What a device or a kept plan knows of tablets is not taken for those that came in their place.
TEST_F(TransactionTest, KeptPlansSeeWhatIsLeft) {
  run(a_, "CREATE TABLE s AS SELECT i, 'name ' || i % 3 n FROM generate_series(1, 200000) g(i)");
  const std::string query = "SELECT n, count(*), min(i) FROM s GROUP BY n ORDER BY n";
  EXPECT_EQ(run(a_, query)->row_count(), 3);
  run(a_, "DELETE FROM s WHERE n = 'name 1'");
  EXPECT_EQ(run(a_, query)->row_count(), 2);
  run(a_, "UPDATE s SET n = 'other', i = -i WHERE i % 1000 = 0");
  EXPECT_EQ(run(a_, query)->row_count(), 3);
  EXPECT_EQ(run(a_, "SELECT i FROM s WHERE i < 0")->row_count(), 133);
  run(a_, "TRUNCATE s");
  EXPECT_EQ(run(a_, query)->row_count(), 0);
  run(a_, "INSERT INTO s VALUES (1, 'x')");
  EXPECT_EQ(run(a_, query)->row_count(), 1);
}

TEST_F(TransactionTest, AppendersBelongToTheTransaction) {
  const auto append = [&](int value, bool finishes) {
    Appender appender(a_, "t", 1 << 20);
    appender.append(int64_t{value});
    appender.end_row();
    EXPECT_EQ(state_of(a_, "COMMIT"), "55006");
    if (finishes) appender.finish();
  };
  run(a_, "BEGIN");
  append(1, false);
  EXPECT_EQ(a_.transaction().state(), TransactionState::Failed);
  run(a_, "ROLLBACK");
  run(a_, "BEGIN");
  {
    Appender appender(a_, "t", 1 << 20);
    appender.append(int64_t{1});
    appender.end_row();
    appender.finish();
  }
  EXPECT_EQ(rows(a_), 1);
  EXPECT_EQ(rows(b_), 0);
  run(a_, "COMMIT");
  EXPECT_EQ(rows(b_), 1);
  run(a_, "BEGIN");
  {
    Appender appender(a_, "t", 1 << 20);
    appender.append(int64_t{2});
    appender.end_row();
    run(a_, "ROLLBACK");
    run(a_, "BEGIN");
    EXPECT_THROW(appender.finish(), Error) << "its transaction has ended";
  }
  EXPECT_EQ(a_.transaction().state(), TransactionState::Open) << "that of another begin";
  EXPECT_EQ(rows(a_), 1);
}

// What was given up after a savepoint is not in the file, whoever else wrote before or behind it.
TEST_F(TransactionTest, SavepointsInAFile) {
  run(a_, "BEGIN");
  run(a_, "INSERT INTO t SELECT i FROM generate_series(1, 70000) g(i)");
  run(a_, "SAVEPOINT s");
  run(a_, "INSERT INTO t SELECT i FROM generate_series(70001, 200000) g(i)");
  EXPECT_EQ(state_of(a_, "INSERT INTO t VALUES (200001), (5)"), "23505");
  EXPECT_EQ(state_of(a_, "SELECT i FROM t"), "25P02");
  run(b_, "SET lock_timeout = 10");
  EXPECT_EQ(state_of(b_, "INSERT INTO t VALUES (0)"), "55P03") << "it may still go on";
  run(a_, "ROLLBACK TO s");
  run(a_, "INSERT INTO t VALUES (70001)");
  run(a_, "COMMIT");
  const auto left = files_.after_crash(1);
  Database opened("x.diptych", *left);
  Connection connection(opened);
  EXPECT_EQ(rows(connection), 70001);
  EXPECT_EQ(state_of(connection, "INSERT INTO t VALUES (70001)"), "23505");
  run(connection, "INSERT INTO t VALUES (70002)");
}

// The writer that came behind a savepoint goes with what it has changed.
TEST_F(TransactionTest, ASavepointBeforeTheFirstChangeLetsOthersWrite) {
  run(a_, "BEGIN");
  run(a_, "SAVEPOINT s");
  run(a_, "INSERT INTO t VALUES (1)");
  run(a_, "ROLLBACK TO s");
  run(b_, "INSERT INTO t VALUES (2)");
  run(a_, "INSERT INTO t VALUES (1)");
  run(a_, "COMMIT");
  EXPECT_EQ(rows(b_), 2);
}

// The rows of VALUES are made before others have ended; then the table may be another one.
TEST_F(TransactionTest, ATableThatChangesWhileAnInsertWaits) {
  run(a_, "BEGIN");
  run(a_, "DROP TABLE t");
  run(a_, "CREATE TABLE t (s text DEFAULT 'none', i bigint NOT NULL)");
  std::string inserted = "?", refused = "?";
  {
    Connection c(*database_);
    std::jthread one([&] { inserted = state_of(b_, "INSERT INTO t (i) VALUES (1), (2)"); });
    std::jthread other([&] { refused = state_of(c, "INSERT INTO t VALUES (1)"); });
    // So that they wait, mostly: what comes out does not depend on it.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    run(a_, "COMMIT");
    one.join();
    other.join();
  }
  EXPECT_EQ(inserted, "");
  EXPECT_EQ(refused, "23502") << "1 is a text there, and i is NULL";
  EXPECT_EQ(run(a_, "SELECT i FROM t WHERE s = 'none' AND i <= 2")->row_count(), 2);

  run(a_, "BEGIN");
  run(a_, "DROP TABLE t");
  {
    std::jthread one([&] { refused = state_of(b_, "INSERT INTO t (i) VALUES (3)"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    run(a_, "COMMIT");
  }
  EXPECT_EQ(refused, "42P01");
}

// At any moment between the binding of an INSERT and its turn.
TEST_F(TransactionTest, InsertsBesideNewTables) {
  std::atomic<bool> is_done = false;
  std::jthread other([&] {
    while (!is_done) EXPECT_EQ(state_of(b_, "CREATE OR REPLACE TABLE u (i integer)"), "");
  });
  for (int i = 0; i < 1500; ++i) EXPECT_EQ(state_of(a_, "INSERT INTO t VALUES (" + std::to_string(i) + ")"), "");
  is_done = true;
  other.join();
  EXPECT_EQ(rows(a_), 1500);
}

TEST_F(TransactionTest, ValuesAreStoredAsTheyAreCast) {
  run(a_, "CREATE TABLE v (a smallint, b numeric(6, 2) DEFAULT 7, c varchar(3), d date)");
  Statement insert(a_, "INSERT INTO v (d, c, a) VALUES ($1, $2, $3), (NULL, 'xyz  ', 5 + 5)");
  insert.parameter_types();
  insert.bind_parameter(0, Value::text("2024-02-29"));
  insert.bind_parameter(1, Value::text("abc"));
  insert.bind_parameter(2, Value::integer(-3));
  for (int i = 0; i < 3; ++i) {
    a_.start_statement();
    insert.run();
    EXPECT_EQ(insert.rows_changed(), 2);
  }
  EXPECT_EQ(run(a_, "SELECT * FROM v WHERE a = -3 AND b = 7 AND c = 'abc' AND d = DATE '2024-02-29'")->row_count(), 3);
  EXPECT_EQ(run(a_, "SELECT * FROM v WHERE a = 10 AND b = 7 AND c = 'xyz' AND d IS NULL")->row_count(), 3);
  EXPECT_EQ(state_of(a_, "INSERT INTO v VALUES (40000)"), "22003");
  EXPECT_EQ(state_of(a_, "INSERT INTO v VALUES (1, 1, 'abcd')"), "22001");
  EXPECT_EQ(state_of(a_, "INSERT INTO v VALUES (1 / 0)"), "22012");
  EXPECT_EQ(run(a_, "INSERT INTO v VALUES (1, 2, 'a', NULL) RETURNING c, a + 1")->row_count(), 1);
  run(a_, "INSERT INTO v DEFAULT VALUES");
  EXPECT_EQ(run(a_, "SELECT * FROM v WHERE b = 7 AND a IS NULL")->row_count(), 1);
}

// What is rolled back takes no room in the file that the next one could not have, and what is committed is there when
// it is opened again.
TEST_F(TransactionTest, FilesHaveWhatWasCommitted) {
  run(a_, "BEGIN");
  run(a_, "INSERT INTO t SELECT i FROM generate_series(1, 100000) g(i)");
  run(a_, "CREATE TABLE u AS SELECT i, 'name ' || i s FROM t");
  run(a_, "COMMIT");
  const auto roll_back = [&] {
    run(a_, "BEGIN");
    run(a_, "CREATE TABLE w AS SELECT i + 1 i, 'name ' || i s FROM t");
    run(a_, "INSERT INTO w SELECT i, s FROM w");
    run(a_, "ROLLBACK");
    run(a_, "INSERT INTO u VALUES (0, 'x')");
  };
  roll_back();
  const size_t size = files_.contents("x.diptych").size();
  for (int round = 0; round < 5; ++round) roll_back();
  EXPECT_LT(files_.contents("x.diptych").size(), size + size / 4);
  const auto left = files_.after_crash(1);
  Database opened("x.diptych", *left);
  Connection connection(opened);
  EXPECT_EQ(rows(connection), 100000);
  EXPECT_EQ(run(connection, "SELECT s FROM u")->row_count(), 100006);
  EXPECT_EQ(state_of(connection, "SELECT s FROM w"), "42P01");
}

}  // namespace
}  // namespace diptych
