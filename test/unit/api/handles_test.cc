// Calls in the wrong order, without arguments and on what is closed are errors or harmless, never a crash.
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "api/connections.h"

namespace diptych::testing {
namespace {

using HandlesTest = ConnectionsTest;

// What the getters give where there is no value.
void expect_nothing(diptych_statement* statement, int32_t column, const char* state) {
  int64_t bytes = 7;
  EXPECT_TRUE(diptych_column_is_null(statement, column));
  EXPECT_STREQ(diptych_statement_error(statement).sqlstate, state);
  diptych_reset(statement);
  EXPECT_EQ(diptych_column_int64(statement, column), 0);
  EXPECT_EQ(diptych_column_double(statement, column), 0);
  EXPECT_EQ(diptych_column_text(statement, column, &bytes), nullptr);
  EXPECT_EQ(bytes, 0);
  EXPECT_EQ(diptych_column_text(statement, column, nullptr), nullptr);
  EXPECT_STREQ(diptych_statement_error(statement).sqlstate, state);
}

TEST_F(HandlesTest, GettersWithoutARow) {
  diptych_statement* query = prepare(first, "SELECT 1 AS a, 'x' AS b");
  expect_nothing(query, 0, "25000");
  ASSERT_EQ(diptych_step(query), DIPTYCH_ROW);
  EXPECT_EQ(state_of(query), "00000");
  ASSERT_EQ(diptych_step(query), DIPTYCH_DONE);
  expect_nothing(query, 1, "25000");
  ASSERT_EQ(diptych_step(query), DIPTYCH_ROW);
  EXPECT_EQ(cells_of(query), "1 x ");
  ASSERT_EQ(diptych_reset(query), DIPTYCH_OK);
  diptych_chunk_column columns[2];
  int64_t rows = 0;
  ASSERT_EQ(diptych_step_chunk(query, columns, &rows), DIPTYCH_ROW);
  EXPECT_EQ(diptych_column_int64(query, 0), 0);
  EXPECT_EQ(state_of(query), "25000");
  diptych_finalize(query);
}

TEST_F(HandlesTest, ColumnsThatAreNotThere) {
  diptych_statement* query = prepare(first, "SELECT 1 AS a");
  for (const int32_t column : {-1, 1, INT32_MIN, INT32_MAX}) {
    ASSERT_EQ(diptych_step(query), DIPTYCH_ROW);
    expect_nothing(query, column, "22023");
    EXPECT_EQ(diptych_column_name(query, column), nullptr);
    EXPECT_EQ(diptych_column_type_name(query, column), nullptr);
    EXPECT_EQ(diptych_column_type(query, column), DIPTYCH_TYPE_NULL);
  }
  diptych_finalize(query);
  diptych_statement* command = prepare(first, "CREATE TABLE t(a integer)");
  EXPECT_EQ(diptych_column_count(command), 0);
  expect_nothing(command, 0, "22023");
  EXPECT_EQ(diptych_step_chunk(command, nullptr, nullptr), DIPTYCH_ERROR);
  int64_t rows = 1;
  EXPECT_EQ(diptych_step_chunk(command, nullptr, &rows), DIPTYCH_DONE);
  EXPECT_EQ(rows, 0);
  diptych_finalize(command);
}

TEST_F(HandlesTest, RowsOneByOneOrInBulk) {
  diptych_statement* query = prepare(first, "SELECT * FROM generate_series(1, 3)");
  diptych_chunk_column column;
  int64_t rows = 0;
  ASSERT_EQ(diptych_step(query), DIPTYCH_ROW);
  EXPECT_EQ(diptych_step_chunk(query, &column, &rows), DIPTYCH_ERROR);
  EXPECT_EQ(state_of(query), "25000");
  ASSERT_EQ(diptych_step(query), DIPTYCH_ROW);
  EXPECT_EQ(cells_of(query), "2 ");
  diptych_reset(query);
  EXPECT_EQ(diptych_step_chunk(query, nullptr, &rows), DIPTYCH_ERROR);
  EXPECT_EQ(state_of(query), "22023");
  ASSERT_EQ(diptych_step_chunk(query, &column, &rows), DIPTYCH_ROW);
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(diptych_step(query), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_step_chunk(query, &column, &rows), DIPTYCH_DONE);
  diptych_finalize(query);
}

TEST_F(HandlesTest, NullHandles) {
  diptych_statement* statement = nullptr;
  diptych_connection* connection = nullptr;
  diptych_appender* appender = nullptr;
  diptych_chunk_column column;
  int64_t rows = 1;
  EXPECT_EQ(diptych_connect(nullptr, &connection), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_prepare(nullptr, "SELECT 1", &statement, nullptr), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_execute(nullptr, "SELECT 1"), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_append_begin(nullptr, "t", &appender), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_step(nullptr), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_step_chunk(nullptr, &column, &rows), DIPTYCH_ERROR);
  EXPECT_EQ(rows, 0);
  EXPECT_EQ(diptych_reset(nullptr), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_bind_null(nullptr, 1), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_bind_boolean(nullptr, 1, true), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_bind_int64(nullptr, 1, 1), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_bind_double(nullptr, 1, 1), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_bind_text(nullptr, 1, "", 0), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_parameter_count(nullptr), 0);
  EXPECT_EQ(diptych_column_count(nullptr), 0);
  EXPECT_EQ(diptych_column_name(nullptr, 0), nullptr);
  EXPECT_EQ(diptych_column_type(nullptr, 0), DIPTYCH_TYPE_NULL);
  EXPECT_EQ(diptych_column_type_name(nullptr, 0), nullptr);
  EXPECT_TRUE(diptych_column_is_null(nullptr, 0));
  EXPECT_EQ(diptych_column_int64(nullptr, 0), 0);
  EXPECT_EQ(diptych_column_double(nullptr, 0), 0);
  EXPECT_EQ(diptych_column_text(nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(diptych_rows_changed(nullptr), -1);
  EXPECT_EQ(diptych_append_null(nullptr), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_append_int64(nullptr, 1), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_append_double(nullptr, 1), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_append_text(nullptr, "", 0), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_append_end_row(nullptr), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_append_finish(nullptr), DIPTYCH_ERROR);
  for (const diptych_error& error : {diptych_database_error(nullptr), diptych_connection_error(nullptr),
                                     diptych_statement_error(nullptr), diptych_append_error(nullptr)}) {
    EXPECT_STREQ(error.sqlstate, "22023");
    EXPECT_STREQ(error.message, "the handle is NULL");
  }
  diptych_interrupt(nullptr);
  EXPECT_EQ(diptych_get_transaction_state(nullptr), DIPTYCH_TRANSACTION_NONE);
  EXPECT_EQ(diptych_get_progress(nullptr).rows_total, 0);
  diptych_append_abandon(nullptr);
  diptych_finalize(nullptr);
  diptych_disconnect(nullptr);
  diptych_close(nullptr);
}

TEST_F(HandlesTest, NullArguments) {
  EXPECT_EQ(diptych_open(":memory:", nullptr), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_connect(database, nullptr), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_database_error(database).sqlstate, "22023");
  diptych_statement* statement = nullptr;
  diptych_appender* appender = nullptr;
  const char* tail = nullptr;
  const auto expect_argument = [&](diptych_status status) {
    EXPECT_EQ(status, DIPTYCH_ERROR);
    EXPECT_STREQ(diptych_connection_error(first).sqlstate, "22023");
  };
  expect_argument(diptych_prepare(first, nullptr, &statement, &tail));
  expect_argument(diptych_prepare(first, "SELECT 1", nullptr, &tail));
  expect_argument(diptych_execute(first, nullptr));
  run(first, "CREATE TABLE t(a text)");
  expect_argument(diptych_append_begin(first, nullptr, &appender));
  expect_argument(diptych_append_begin(first, "t", nullptr));
  statement = prepare(first, "INSERT INTO t VALUES ($1)");
  EXPECT_EQ(diptych_bind_text(statement, 1, nullptr, 3), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_bind_text(statement, 1, nullptr, -1), DIPTYCH_ERROR);
  EXPECT_EQ(state_of(statement), "22023");
  for (const int32_t parameter : {0, -1, 2, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(diptych_bind_int64(statement, parameter, 1), DIPTYCH_ERROR);
    EXPECT_EQ(state_of(statement), "42P02");
  }
  diptych_finalize(statement);
  ASSERT_EQ(diptych_append_begin(first, "t", &appender), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_text(appender, nullptr, -1), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22023");
  diptych_append_abandon(appender);
}

TEST_F(HandlesTest, ClosingOrderDoesNotMatter) {
  run(first, "CREATE TABLE t(a integer)");
  run(first, "INSERT INTO t SELECT * FROM generate_series(1, 5000)");
  diptych_statement* half_read = prepare(first, "SELECT a FROM t");
  diptych_statement* prepared = prepare(second, "SELECT count(*) FROM t");
  ASSERT_EQ(diptych_step(half_read), DIPTYCH_ROW);
  diptych_appender* appender = nullptr;
  ASSERT_EQ(diptych_append_begin(second, "t", &appender), DIPTYCH_OK);
  diptych_close(std::exchange(database, nullptr));
  EXPECT_EQ(answer_of(second, "SELECT min(a) FROM t"), "1 ");
  diptych_disconnect(std::exchange(first, nullptr));
  diptych_disconnect(std::exchange(second, nullptr));
  ASSERT_EQ(diptych_append_int64(appender, 5001), DIPTYCH_OK);
  ASSERT_EQ(diptych_append_end_row(appender), DIPTYCH_OK);
  ASSERT_EQ(diptych_append_finish(appender), DIPTYCH_OK);
  EXPECT_EQ(answer_of(prepared), "5001 ");
  int rows = 1;
  while (diptych_step(half_read) == DIPTYCH_ROW) ++rows;
  EXPECT_EQ(rows, 5000);
  diptych_append_abandon(appender);
  diptych_finalize(half_read);
  EXPECT_EQ(answer_of(prepared), "5001 ");
  diptych_finalize(prepared);
}

// A garbage collector closes on a thread of its own.
TEST_F(HandlesTest, OtherThreadsMayClose) {
  run(first, "CREATE TABLE t(a integer)");
  for (int i = 0; i < 50; ++i) {
    diptych_statement* statement = prepare(first, "SELECT * FROM generate_series(1, 100)");
    diptych_step(statement);
    diptych_appender* appender = nullptr;
    ASSERT_EQ(diptych_append_begin(first, "t", &appender), DIPTYCH_OK);
    std::thread collector([&] {
      diptych_append_abandon(appender);
      diptych_finalize(statement);
    });
    EXPECT_EQ(answer_of(first, "SELECT count(*) FROM t"), "0 ");
    collector.join();
  }
}

TEST_F(HandlesTest, AConnectionDoesNotWaitForItsOwnAppender) {
  run(first, "CREATE TABLE t(a integer)");
  diptych_appender* appender = nullptr;
  diptych_appender* another = nullptr;
  ASSERT_EQ(diptych_append_begin(first, "t", &appender), DIPTYCH_OK);
  for (const char* sql : {"INSERT INTO t VALUES (1)", "CREATE TABLE u(a integer)", "CREATE TABLE u AS SELECT 1",
                          "DROP TABLE t", "COPY t FROM 'nowhere.csv'"})
    EXPECT_EQ(state_of(first, sql), "55006") << sql;
  EXPECT_EQ(diptych_append_begin(first, "t", &another), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_connection_error(first).sqlstate, "55006");
  EXPECT_EQ(answer_of(first, "SELECT count(*) FROM t"), "0 ");
  diptych_append_abandon(appender);
  run(first, "INSERT INTO t VALUES (1)");
  ASSERT_EQ(diptych_append_begin(first, "t", &appender), DIPTYCH_OK);
  ASSERT_EQ(diptych_append_finish(appender), DIPTYCH_OK);
  run(first, "INSERT INTO t VALUES (2)");
  diptych_append_abandon(appender);
  EXPECT_EQ(answer_of(first, "SELECT count(*) FROM t"), "2 ");
}

// Interrupts the connection until the call has ended.
template <typename Call>
void interrupted(diptych_connection* connection, Call&& call) {
  std::atomic<bool> done{false};
  std::thread interrupter([&] {
    while (!done) {
      diptych_interrupt(connection);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  call();
  done = true;
  interrupter.join();
}

TEST_F(HandlesTest, WaitingForAnotherWriterCanBeInterrupted) {
  run(first, "CREATE TABLE t(a integer)");
  diptych_appender* appender = nullptr;
  diptych_appender* another = nullptr;
  ASSERT_EQ(diptych_append_begin(second, "t", &appender), DIPTYCH_OK);
  interrupted(first, [&] { EXPECT_EQ(state_of(first, "INSERT INTO t VALUES (1)"), "57014"); });
  interrupted(first, [&] { EXPECT_EQ(diptych_append_begin(first, "t", &another), DIPTYCH_ERROR); });
  EXPECT_STREQ(diptych_connection_error(first).sqlstate, "57014");
  std::thread waiting([&] { run(first, "INSERT INTO t VALUES (2)"); });
  diptych_append_int64(appender, 1);
  diptych_append_end_row(appender);
  EXPECT_EQ(diptych_append_finish(appender), DIPTYCH_OK);
  waiting.join();
  EXPECT_EQ(answer_of(first, "SELECT sum(a) FROM t"), "3 ");
  diptych_append_abandon(appender);
}

}  // namespace
}  // namespace diptych::testing
