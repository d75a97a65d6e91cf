// A prepared statement runs against the tables and rows of its run, whatever has happened to them since it was
// prepared.
#include <cstdio>
#include <fstream>
#include <thread>

#include "api/connections.h"

namespace diptych::testing {
namespace {

class PreparedTest : public ConnectionsTest {
 protected:
  void replace_table(const std::string& columns) {
    run(second, "DROP TABLE t");
    run(second, "CREATE TABLE t(" + columns + ")");
  }
};

TEST_F(PreparedTest, TheFirstRunSeesRowsInsertedSincePrepare) {
  run(first, "CREATE TABLE t(a integer)");
  diptych_statement* count = prepare(first, "SELECT count(*) FROM t");
  run(second, "INSERT INTO t VALUES (1), (2)");
  ASSERT_EQ(diptych_step(count), DIPTYCH_ROW);
  EXPECT_EQ(diptych_column_int64(count, 0), 2);
  run(first, "INSERT INTO t VALUES (3)");
  EXPECT_EQ(answer_of(count), "3 ");
  diptych_finalize(count);
}

// Values of each way to bind, again and again, some of them NULL or not of the parameter's type.
TEST_F(PreparedTest, ManyRunsWithOtherValues) {
  run(first, "CREATE TABLE t(a integer, b double precision, c boolean, d text, e date, f numeric(10,2))");
  run(first,
      "INSERT INTO t SELECT i, i / 2.0, i % 2 = 0, 's' || i % 10, date '2024-01-01' + i::integer, i / 4.0 "
      "FROM generate_series(1, 100) g(i)");
  diptych_statement* query = prepare(
      first, "SELECT count(*) FROM t WHERE a <= $1 AND b > $2 AND (c = $3 OR $3) AND d <> $4 AND e < $5 AND f <= $6");
  for (int i = 1; i <= 100; ++i) {
    diptych_bind_int64(query, 1, i);
    diptych_bind_double(query, 2, 0);
    diptych_bind_boolean(query, 3, i % 3 == 0);
    diptych_bind_text(query, 4, i % 7 == 0 ? "s1" : "none", -1);
    diptych_bind_text(query, 5, "infinity", -1);
    if (i % 5 == 0)
      diptych_bind_null(query, 6);
    else
      diptych_bind_double(query, 6, 25);
    const std::string literal = "SELECT count(*) FROM t WHERE a <= " + std::to_string(i) + " AND b > 0 AND " +
                                (i % 3 == 0 ? "true" : "NOT c") + " AND d <> '" + (i % 7 == 0 ? "s1" : "none") +
                                "' AND " + (i % 5 == 0 ? "NULL" : "f <= 25");
    EXPECT_EQ(answer_of(query), answer_of(first, literal)) << literal;
    diptych_reset(query);
  }
  diptych_bind_int64(query, 1, int64_t{1} << 40);
  EXPECT_EQ(answer_of(query), "22003");
  diptych_bind_int64(query, 1, 10);
  diptych_bind_text(query, 5, "no date", -1);
  EXPECT_EQ(answer_of(query), "22007");
  diptych_finalize(query);
}

TEST_F(PreparedTest, ARunKeepsItsRows) {
  run(first, "CREATE TABLE t(a integer)");
  run(first, "INSERT INTO t VALUES (1), (2)");
  diptych_statement* query = prepare(first, "SELECT a FROM t");
  ASSERT_EQ(diptych_step(query), DIPTYCH_ROW);
  run(second, "INSERT INTO t VALUES (3)");
  run(second, "DROP TABLE t");
  EXPECT_EQ(diptych_step(query), DIPTYCH_ROW);
  EXPECT_EQ(diptych_column_int64(query, 0), 2);
  EXPECT_EQ(diptych_step(query), DIPTYCH_DONE);
  EXPECT_EQ(diptych_step(query), DIPTYCH_DONE);
  EXPECT_EQ(answer_of(query), "42P01");
  diptych_finalize(query);
}

TEST_F(PreparedTest, InsertIntoATableOfOtherTypes) {
  struct Case {
    const char* columns;
    const char* answer;  // "": it is inserted
    const char* rows;
  };
  const Case cases[] = {{"a text", "", "1 "},
                        {"a numeric(30, 2)", "", "1.00 "},
                        {"a bigint, b text, c double precision", "", "1 NULL NULL "},
                        {"a varchar(5) DEFAULT 'x', b text DEFAULT 'y'", "", "1 y "},
                        {"a date", "42804", ""},
                        {"b boolean, a integer", "42804", ""}};
  run(first, "CREATE TABLE t(a integer)");
  diptych_statement* insert = prepare(first, "INSERT INTO t VALUES (1)");
  for (const Case& c : cases) {
    replace_table(c.columns);
    EXPECT_EQ(answer_of(insert), c.answer) << c.columns;
    EXPECT_EQ(answer_of(first, "SELECT * FROM t"), c.rows) << c.columns;
  }
  run(second, "DROP TABLE t");
  EXPECT_EQ(answer_of(insert), "42P01");
  diptych_finalize(insert);
}

TEST_F(PreparedTest, InsertOfAQueryOverATableOfOtherTypes) {
  run(first, "CREATE TABLE t(a integer)");
  run(first, "CREATE TABLE target(a integer)");
  diptych_statement* insert = prepare(first, "INSERT INTO target SELECT * FROM t");
  replace_table("a bigint, b text");
  EXPECT_EQ(answer_of(insert), "42601");
  replace_table("a bigint");
  run(second, "INSERT INTO t VALUES (5000000000)");
  EXPECT_EQ(answer_of(insert), "22003");
  run(second, "DROP TABLE target");
  run(second, "CREATE TABLE target(a text)");
  EXPECT_EQ(answer_of(insert), "");
  EXPECT_EQ(answer_of(first, "SELECT * FROM target"), "5000000000 ");
  diptych_finalize(insert);
}

TEST_F(PreparedTest, CopyIntoATableOfOtherTypes) {
  const std::string path = ::testing::TempDir() + "diptych_prepared_copy.csv";
  std::ofstream(path) << "1\n2\n";
  run(first, "CREATE TABLE t(a integer)");
  diptych_statement* copy = prepare(first, "COPY t FROM '" + path + "'");
  replace_table("a text");
  EXPECT_EQ(answer_of(copy), "");
  EXPECT_EQ(diptych_rows_changed(copy), 2);
  replace_table("a integer, b interval, c numeric(30, 2)");
  EXPECT_EQ(answer_of(copy), "22P04");
  replace_table("c boolean DEFAULT true, a numeric(30, 2)");
  EXPECT_EQ(answer_of(copy), "22P04");
  run(second, "DROP TABLE t");
  EXPECT_EQ(answer_of(copy), "42P01");
  diptych_finalize(copy);
  std::remove(path.c_str());
}

TEST_F(PreparedTest, FilesThatChange) {
  const std::string path = ::testing::TempDir() + "diptych_prepared_from.csv";
  const auto write = [&](const char* text) { std::ofstream(path) << text; };
  write("a\n1\n2\n");
  diptych_statement* sum = prepare(first, "SELECT sum(a) FROM '" + path + "'");
  diptych_statement* star = prepare(first, "SELECT * FROM '" + path + "'");
  run(second, "CREATE TABLE t(a integer)");
  EXPECT_EQ(answer_of(sum), "3 ");
  write("b,a\n1,2\n");
  EXPECT_EQ(answer_of(sum), "2 ");
  EXPECT_EQ(answer_of(star), "22P02");  // it was opened by prepare
  EXPECT_EQ(answer_of(star), "0A000");
  std::remove(path.c_str());
  EXPECT_EQ(answer_of(sum), "58P01");
  diptych_finalize(sum);
  diptych_finalize(star);
}

TEST_F(PreparedTest, TablesThatComeAndGo) {
  diptych_statement* create = prepare(first, "CREATE TABLE t(a integer)");
  diptych_statement* create_missing = prepare(first, "CREATE TABLE IF NOT EXISTS t(a integer)");
  run(second, "CREATE TABLE t(a text)");
  diptych_statement* drop = prepare(first, "DROP TABLE t");
  diptych_statement* drop_existing = prepare(first, "DROP TABLE IF EXISTS t");
  EXPECT_EQ(answer_of(create), "42P07");
  EXPECT_EQ(answer_of(create_missing), "");
  run(second, "DROP TABLE t");
  EXPECT_EQ(answer_of(drop), "42P01");
  EXPECT_EQ(answer_of(drop_existing), "");
  EXPECT_EQ(answer_of(create_missing), "");
  EXPECT_EQ(answer_of(first, "SELECT count(*) FROM t"), "0 ");
  EXPECT_EQ(answer_of(drop), "");
  for (diptych_statement* statement : {create, create_missing, drop, drop_existing}) diptych_finalize(statement);
}

TEST_F(PreparedTest, AResultOfAnotherShape) {
  run(first, "CREATE TABLE t(a integer, b text)");
  diptych_statement* star = prepare(first, "SELECT * FROM t");
  diptych_statement* column = prepare(first, "SELECT a FROM t");
  for (const char* columns :
       {"a integer", "a integer, b text, c date", "a integer, c text", "a integer, b varchar(3)"}) {
    replace_table(columns);
    run(second, "INSERT INTO t(a) VALUES (7)");
    EXPECT_EQ(answer_of(star), "0A000") << columns;
    diptych_chunk_column two[2];
    int64_t rows = 1;
    EXPECT_EQ(diptych_step_chunk(star, two, &rows), DIPTYCH_ERROR);
    EXPECT_STREQ(diptych_statement_error(star).message, "cached plan must not change result type");
    EXPECT_EQ(rows, 0);
    EXPECT_EQ(answer_of(column), "7 ") << columns;
  }
  EXPECT_EQ(diptych_column_count(star), 2);
  EXPECT_STREQ(diptych_column_name(star, 1), "b");
  replace_table("a integer, b text");
  run(second, "INSERT INTO t VALUES (7, 'x')");
  EXPECT_EQ(answer_of(star), "7 x ");
  diptych_finalize(star);
  diptych_finalize(column);
}

TEST_F(PreparedTest, ParametersKeepTheirTypes) {
  run(first, "CREATE TABLE t(a integer)");
  diptych_statement* insert = prepare(first, "INSERT INTO t VALUES ($1)");
  ASSERT_EQ(diptych_bind_text(insert, 1, "12", -1), DIPTYCH_OK);
  replace_table("a text");
  EXPECT_EQ(answer_of(insert), "");
  EXPECT_EQ(answer_of(first, "SELECT * FROM t"), "12 ");
  ASSERT_EQ(diptych_reset(insert), DIPTYCH_OK);
  ASSERT_EQ(diptych_bind_text(insert, 1, "twelve", -1), DIPTYCH_OK);
  EXPECT_EQ(answer_of(insert), "22P02");
  replace_table("a date");
  EXPECT_EQ(answer_of(insert), "42804");
  diptych_finalize(insert);
}

TEST_F(PreparedTest, AParameterWithoutAValueIsAnError) {
  diptych_statement* sum = prepare(first, "SELECT $1::integer + $2::integer");
  EXPECT_EQ(answer_of(sum), "42P02");
  diptych_bind_int64(sum, 1, 40);
  EXPECT_EQ(answer_of(sum), "42P02");
  EXPECT_STREQ(diptych_statement_error(sum).message, "there is no value for parameter $2");
  diptych_bind_null(sum, 2);
  EXPECT_EQ(answer_of(sum), "NULL ");
  diptych_reset(sum);
  diptych_bind_int64(sum, 2, 2);
  EXPECT_EQ(answer_of(sum), "42 ");
  diptych_finalize(sum);
  run(first, "CREATE TABLE t(a integer)");
  for (const char* sql : {"SELECT $1", "INSERT INTO t VALUES ($1)", "CREATE TABLE u AS SELECT $1 AS a",
                          "EXPLAIN SELECT $1", "SELECT 1 LIMIT $1", "INSERT INTO t SELECT a FROM t WHERE a = $1"})
    EXPECT_EQ(state_of(first, sql), "42P02") << sql;
}

TEST_F(PreparedTest, ExplainTakesParameters) {
  diptych_statement* explain = prepare(first, "EXPLAIN ANALYZE SELECT $1::integer + 1");
  diptych_bind_int64(explain, 1, 41);
  EXPECT_EQ(diptych_step(explain), DIPTYCH_ROW) << diptych_statement_error(explain).message;
  diptych_finalize(explain);
}

TEST_F(PreparedTest, TheClockIsThatOfTheRun) {
  diptych_statement* now = prepare(first, "SELECT now()");
  const std::string before = answer_of(second, "SELECT now()");
  EXPECT_GE(answer_of(now), before);
  const std::string later = answer_of(second, "SELECT now()");
  EXPECT_GE(answer_of(now), later);
  diptych_finalize(now);
}

// Two connections: one inserts into a table that the other replaces all the time.
TEST_F(PreparedTest, InsertsRaceWithTablesThatChange) {
  run(first, "CREATE TABLE t(a integer)");
  diptych_statement* insert = prepare(first, "INSERT INTO t(a) VALUES (1), (2)");
  diptych_statement* insert_query = prepare(first, "INSERT INTO t(a) SELECT x FROM generate_series(1, 100) g(x)");
  std::thread other([&] {
    const char* columns[] = {"a text", "a bigint, b text", "b date, a text", "a integer"};
    for (int i = 0; i < 400; ++i) {
      run(second, "DROP TABLE t");
      run(second, std::string("CREATE TABLE t(") + columns[i % 4] + ")");
    }
  });
  const auto is_expected = [](const std::string& answer) {
    return answer.empty() || answer == "42P01" || answer == "42703";
  };
  for (int i = 0; i < 400; ++i) {
    for (diptych_statement* statement : {insert, insert_query}) {
      const std::string answer = answer_of(statement);
      EXPECT_TRUE(is_expected(answer)) << answer;
    }
  }
  other.join();
  diptych_finalize(insert);
  diptych_finalize(insert_query);
}

}  // namespace
}  // namespace diptych::testing
