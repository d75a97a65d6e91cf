// A repeated query starts with the plan and the program of the run before, as far as they are right for the tables as
// they are now.
#include "session/plan_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "session/explain_json.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych {
namespace {

using testing::explain_json;

class PlanCacheTest : public ::testing::Test {
 protected:
  // The values of all rows, with a blank behind each; the SQLSTATE and the position of an error.
  static std::string answer_of(Statement& statement) {
    statement.connection().start_statement();
    try {
      std::string text;
      for (const Value& value : read_values(*statement.run())) text += value.to_text() + " ";
      return text;
    } catch (const Error& error) {
      return std::string(code_of(error.state())) + " at " + std::to_string(error.position());
    }
  }

  std::string run(const std::string& sql, Connection& by) {
    Statement statement(by, sql);
    std::string answer = answer_of(statement);
    reused = statement.reused();
    plan_ns = statement.nanoseconds(Stage::Plan) + statement.nanoseconds(Stage::Optimize);
    compile_ns = statement.nanoseconds(Stage::Compile);
    return answer;
  }
  std::string run(const std::string& sql) { return run(sql, connection); }

  void expect(const std::string& sql, const std::string& answer, Reused from) {
    EXPECT_EQ(run(sql), answer) << sql;
    EXPECT_EQ(reused, from) << sql;
    EXPECT_EQ(plan_ns > 0, from == Reused::Nothing) << sql;
    EXPECT_EQ(compile_ns > 0, from != Reused::PlanAndProgram) << sql;
  }

  // Its plan was kept; the program, too, if it is right for as many rows.
  void expect_kept(const std::string& sql, const std::string& answer) {
    EXPECT_EQ(run(sql), answer) << sql;
    EXPECT_NE(reused, Reused::Nothing) << sql;
  }

  Database database{":memory:"};
  Connection connection{database}, other{database};
  // Of the last run.
  Reused reused = Reused::Nothing;
  int64_t plan_ns = 0, compile_ns = 0;
};

constexpr Reused nothing = Reused::Nothing, plan = Reused::Plan, all = Reused::PlanAndProgram;

TEST_F(PlanCacheTest, ARepeatedQueryIsNeitherPlannedNorCompiled) {
  run("CREATE TABLE t(a integer, s text)");
  run("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'x')");
  const std::string query = "SELECT s, sum(a) FROM t WHERE s <> 'z' GROUP BY s ORDER BY s";
  expect(query, "x 4 y 2 ", nothing);
  expect(query, "x 4 y 2 ", all);
  expect(query, "x 4 y 2 ", all);
  expect("select a from t limit 1", "1 ", nothing);
  expect(query, "x 4 y 2 ", all);
}

TEST_F(PlanCacheTest, ARepeatedChangeIsNeitherPlannedNorCompiled) {
  run("CREATE TABLE t(a integer, s text)");
  run("CREATE TABLE u(a integer, s text)");
  run("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 100) g(i)");
  const std::string insert = "INSERT INTO u SELECT a, s FROM t WHERE a <= 3 RETURNING a",
                    rows = "SELECT count(*) FROM u",
                    update = "UPDATE t SET a = a + 1 WHERE a BETWEEN 10 AND 12 RETURNING a",
                    erase = "DELETE FROM u WHERE a = 2";
  expect(insert, "1 2 3 ", nothing);
  expect(insert, "1 2 3 ", all);
  EXPECT_EQ(run(rows), "6 ");
  expect(erase, "", nothing);
  expect(insert, "1 2 3 ", all);
  expect_kept(erase, "");
  expect_kept(erase, "");
  EXPECT_EQ(run(rows), "6 ");
  expect(update, "11 12 13 ", nothing);
  expect_kept(update, "12 13 ");
  expect_kept(update, "13 ");
  EXPECT_EQ(run("SELECT sum(a), count(*) FROM t"), "5056 100 ");
}

TEST_F(PlanCacheTest, KeptChangesSeeTheRowsOfTheirTransaction) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t SELECT i FROM generate_series(1, 10) g(i)");
  const std::string twice = "INSERT INTO t SELECT a FROM t", rows = "SELECT count(*) FROM t",
                    erase = "DELETE FROM t WHERE a = 1";
  run("BEGIN");
  run(twice);
  expect_kept(twice, "");
  EXPECT_EQ(run(rows), "40 ");
  run("SAVEPOINT s");
  run(twice);
  EXPECT_EQ(run(rows), "80 ");
  run(erase);
  EXPECT_EQ(run(rows), "72 ");
  run("ROLLBACK TO s");
  expect_kept(erase, "");
  EXPECT_EQ(run(rows), "36 ");
  run("ROLLBACK");
  expect_kept(twice, "");
  EXPECT_EQ(run(rows), "20 ");
  EXPECT_EQ(run(erase, other), "");
  expect_kept(erase, "");
  EXPECT_EQ(run(rows), "18 ");
}

TEST_F(PlanCacheTest, KeptChangesAreRefusedAsOthersAre) {
  run("CREATE TABLE t(a integer PRIMARY KEY, b integer)");
  run("INSERT INTO t VALUES (1, 0), (2, 0)");
  const std::string update = "UPDATE t SET a = a + 1 WHERE a < 5", insert = "INSERT INTO t SELECT a + 10, b FROM t";
  run(update);
  run(insert);
  EXPECT_EQ(run(insert), "23505 at -1");
  EXPECT_EQ(run("SELECT count(*) FROM t"), "4 ");
  run("BEGIN READ ONLY");
  EXPECT_EQ(run(update), "25006 at -1");
  EXPECT_EQ(run(update), "25P02 at -1");
  run("ROLLBACK");
  // Other tables of the name.
  run("DROP TABLE t");
  EXPECT_EQ(run(update), "42P01 at 7");
  run("CREATE TABLE t(b integer, a integer NOT NULL DEFAULT 7)");
  run("INSERT INTO t(b) VALUES (4)");
  expect(update, "", nothing);
  expect(insert, "", nothing);
  EXPECT_EQ(run("SELECT a, b FROM t ORDER BY a"), "4 17 7 4 ");
  run("DROP TABLE t");
  run("CREATE VIEW t AS SELECT 1 AS a");
  EXPECT_EQ(run(update), "0A000 at 7");
}

TEST_F(PlanCacheTest, ParametersOfChangesTakeOtherValues) {
  run("CREATE TABLE t(a integer, s text, n numeric(10,2))");
  run("INSERT INTO t SELECT i, 'old', i FROM generate_series(1, 100) g(i)");
  Statement update(connection, "UPDATE t SET s = $1, n = n * $2 WHERE a = $3 RETURNING s, n"),
      insert(connection, "INSERT INTO t(a, s) SELECT a + $1, $2 FROM t WHERE a <= 2 RETURNING a, s");
  const auto expect_run = [&](Statement& statement, const std::vector<Value>& values, const std::string& answer,
                              bool is_kept) {
    ASSERT_EQ(statement.parameter_types().size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) statement.bind_parameter(i, values[i]);
    EXPECT_EQ(answer_of(statement), answer);
    EXPECT_EQ(statement.reused() != nothing, is_kept) << answer;
  };
  expect_run(insert, {Value::integer(200), Value::text("x")}, "201 x 202 x ", false);
  expect_run(insert, {Value::integer(300), Value::text("longer")}, "301 longer 302 longer ", true);
  expect_run(insert, {Value::integer(300), Value::text("y")}, "301 y 302 y ", true);
  expect_run(insert, {Value::integer(300), Value()}, "301  302  ", false);
  expect_run(insert, {Value::integer(2147483647), Value::text("y")}, "22003 at 29", true);
  expect_run(update, {Value::text("new"), Value::text("1.5"), Value::integer(7)}, "new 10.50 ", false);
  expect_run(update, {Value::text("newer"), Value::text("0.01"), Value::integer(8)}, "newer 0.08 ", true);
  expect_run(update, {Value::text("newest"), Value::text("2"), Value::integer(9)}, "newest 18.00 ", true);
  expect_run(update, {Value::text("none"), Value::text("2"), Value::integer(99999)}, "", true);
  EXPECT_EQ(run("SELECT count(*), sum(a) FROM t WHERE s <> 'old'"), "9 1633 ");
}

// Their rows stand in the text, or change with the time.
TEST_F(PlanCacheTest, ChangesThatHardlyComeAgainAreNotKept) {
  run("CREATE TABLE t(a integer, day date DEFAULT current_date)");
  run("INSERT INTO t VALUES (1, NULL)");
  EXPECT_EQ(reused, nothing);
  EXPECT_EQ(compile_ns, 0) << "they are stored as they stand";
  for (const std::string insert : {"INSERT INTO t VALUES (1)", "INSERT INTO t SELECT i FROM generate_series(1, 3) g(i)",
                                   "INSERT INTO t(a) SELECT a FROM t", "UPDATE t SET day = current_date"}) {
    run(insert);
    expect(insert, "", nothing);
  }
  EXPECT_EQ(connection.plan_cache().size(), 0U);
}

TEST_F(PlanCacheTest, RowsThatWereNotProvenAreCompiledAgain) {
  run("CREATE TABLE t(a integer, s text)");
  run("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 10) g(i)");
  const std::string sum = "SELECT sum(a * 3) FROM t", strings = "SELECT count(*) FROM t WHERE s = 'new'",
                    nulls = "SELECT count(a) FROM t";
  expect(sum, "165 ", nothing);
  expect(strings, "0 ", nothing);
  expect(nulls, "10 ", nothing);
  run("INSERT INTO t VALUES (700000000, 'new'), (NULL, 'x')");
  expect(sum, "2100000165 ", plan);
  expect(strings, "1 ", plan);
  expect(nulls, "11 ", plan);
  expect(sum, "2100000165 ", all);
  expect(strings, "1 ", all);
  expect(nulls, "11 ", all);
  run("INSERT INTO t VALUES (800000000, 'x')");
  expect(sum, "22003 at 13", plan);
  expect(sum, "22003 at 13", all);
}

// What is kept by the number holds for the constants and rows of the run before.
TEST_F(PlanCacheTest, ProgramsThatComeAgainAsTheyWereHaveANumber) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t SELECT i FROM generate_series(1, 10) g(i)");
  const auto number_of = [&](const std::string& query, int below) {
    Statement statement(connection, query);
    if (below > 0) statement.bind_parameter(0, Value::integer(below));
    const uint64_t number = statement.program().number;
    answer_of(statement);
    return number;
  };
  const std::string query = "SELECT count(*) FROM t WHERE a < $1", other_query = "SELECT sum(a) FROM t";
  EXPECT_EQ(number_of(query, 5), 0U) << "compiled";
  EXPECT_EQ(number_of(query, 6), 0U) << "another constant";
  const uint64_t number = number_of(query, 6);
  EXPECT_NE(number, 0U);
  EXPECT_EQ(number_of(query, 6), number);
  for (int i = 0; i < 2; ++i) number_of(other_query, 0);
  const uint64_t other_number = number_of(other_query, 0);
  EXPECT_NE(other_number, 0U);
  EXPECT_NE(other_number, number);
  EXPECT_EQ(number_of(query, 5), 0U) << "another constant";
  EXPECT_GT(number_of(query, 5), other_number);
  run("INSERT INTO t VALUES (11)");
  EXPECT_EQ(number_of(query, 5), 0U) << "other rows";
  number_of(query, 5);  // the first run was compiled
  EXPECT_GT(number_of(query, 5), other_number);
}

// What another table gets, or a writer that gives up, proves nothing.
TEST_F(PlanCacheTest, OtherTablesMakeNoDifference) {
  run("CREATE TABLE t(a integer, s text)");
  run("CREATE TABLE u(a integer)");
  run("INSERT INTO t VALUES (1, 'x')");
  expect("SELECT a FROM t", "1 ", nothing);
  run("INSERT INTO u VALUES (5)", other);
  expect("SELECT a FROM t", "1 ", all);
  expect("SELECT a FROM u", "5 ", nothing);
}

TEST_F(PlanCacheTest, OtherDefinitionsAreOtherPlans) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t VALUES (1)");
  run("CREATE VIEW v AS SELECT a FROM t");
  expect("SELECT * FROM t", "1 ", nothing);
  expect("SELECT * FROM v", "1 ", nothing);
  run("CREATE OR REPLACE VIEW v AS SELECT a + 1 AS a, 'b' AS b FROM t", other);
  expect("SELECT * FROM v", "2 b ", nothing);
  expect("SELECT * FROM v", "2 b ", all);
  run("DROP TABLE t", other);
  EXPECT_EQ(run("SELECT * FROM t"), "42P01 at 14");
  run("CREATE TABLE t(b text, c text)", other);
  run("INSERT INTO t VALUES ('x', 'y')");
  expect("SELECT * FROM t", "x y ", nothing);
  expect("SELECT * FROM t", "x y ", all);
}

TEST_F(PlanCacheTest, ErrorsKeepTheirPlace) {
  run("CREATE TABLE t(a integer, b integer)");
  run("INSERT INTO t VALUES (1, 0)");
  expect("SELECT a / b FROM t", "22012 at 9", nothing);
  expect("SELECT a / b FROM t", "22012 at 9", all);
  expect("SELECT  a / b FROM t", "22012 at 10", nothing);
}

TEST_F(PlanCacheTest, TheClockAndFilesAreReadInEachRun) {
  run("CREATE TABLE t(a integer)");
  for (const std::string query : {"SELECT now() > timestamp '2020-01-01'", "SELECT count(current_date) FROM t"}) {
    const std::string answer = run(query);
    expect(query, answer, nothing);
  }
  const std::string file = ::testing::TempDir() + "plan_cache_test.csv";
  run("COPY (SELECT 1 AS a) TO '" + file + "' (HEADER)");
  expect("SELECT a FROM '" + file + "'", "1 ", nothing);
  run("COPY (SELECT 2.5 AS a) TO '" + file + "' (HEADER)");
  expect("SELECT a FROM '" + file + "'", "2.5 ", nothing);
}

TEST_F(PlanCacheTest, SettingsMakeNoDifferenceToPlans) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t VALUES (3), (1), (2)");
  const std::string query = "SELECT a FROM t ORDER BY a";
  expect(query, "1 2 3 ", nothing);
  for (const char* setting : {"threads = 1", "row_place = file", "tablet_rows = 64", "memory_limit = '64MB'"}) {
    run(std::string("SET ") + setting);
    expect(query, "1 2 3 ", all);
  }
}

TEST_F(PlanCacheTest, EachConnectionHasItsOwn) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t VALUES (1)");
  expect("SELECT a FROM t", "1 ", nothing);
  EXPECT_EQ(run("SELECT a FROM t", other), "1 ");
  EXPECT_EQ(reused, nothing);
  EXPECT_EQ(run("SELECT a FROM t", other), "1 ");
  EXPECT_EQ(reused, all);
}

TEST_F(PlanCacheTest, MuchGrowthIsPlannedAgain) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t SELECT i % 10 FROM generate_series(1, 4000) g(i)");
  const std::string query = "SELECT min(a) FROM t WHERE a >= 0";
  expect(query, "0 ", nothing);
  run("INSERT INTO t SELECT i % 10 FROM generate_series(1, 1000) g(i)");
  expect(query, "0 ", plan);
  run("INSERT INTO t SELECT i % 10 FROM generate_series(1, 9000) g(i)");
  expect(query, "0 ", nothing);
  expect(query, "0 ", all);
}

TEST_F(PlanCacheTest, ParametersTakeOtherValues) {
  run("CREATE TABLE t(a integer, s text)");
  run("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, NULL)");
  Statement query(connection, "SELECT a, $1::text FROM t WHERE s = $1 OR a > $2");
  ASSERT_EQ(query.parameter_types().size(), 2U);
  const auto expect_run = [&](Value s, Value a, const std::string& answer, Reused from) {
    query.bind_parameter(0, std::move(s));
    query.bind_parameter(1, std::move(a));
    EXPECT_EQ(answer_of(query), answer);
    EXPECT_EQ(query.reused(), from) << answer;
  };
  expect_run(Value::text("x"), Value::integer(5), "1 x ", nothing);
  expect_run(Value::text("x"), Value::integer(5), "1 x ", all);
  expect_run(Value::text("y"), Value::integer(5), "2 y ", all);
  expect_run(Value::text("y"), Value::bigint(5), "2 y ", all);
  expect_run(Value::text("none"), Value::bigint(2), "3 none ", all);
  expect_run(Value(), Value::bigint(1), "2  3  ", nothing);
  expect_run(Value(), Value::bigint(1), "2  3  ", all);
  expect_run(Value::text("x"), Value::integer(5), "1 x ", all);
  expect_run(Value::text("x"), Value::text("nine"), "22P02 at -1", nothing);
  // Another statement of the text has no values yet.
  EXPECT_EQ(run("SELECT a, $1::text FROM t WHERE s = $1 OR a > $2"), "42P02 at -1");
}

// What the engine makes of a program has its constants, which another program of the plan may have had, too.
TEST_F(PlanCacheTest, ConstantsAreThoseOfTheRun) {
  run("CREATE TABLE t(a integer, s text)");
  run("INSERT INTO t SELECT i, 'even' FROM generate_series(2, 10, 2) g(i)");
  run("INSERT INTO t SELECT i, 'odd' FROM generate_series(1, 9, 2) g(i)");
  Statement query(connection, "SELECT count(*) FROM t WHERE a * 3 <= $1 * 3 AND a IN (1, 2, $1) AND s <> $2");
  const auto expect_run = [&](int most, const char* s, const std::string& answer, Reused from) {
    query.bind_parameter(0, Value::integer(most));
    query.bind_parameter(1, Value::text(s));
    EXPECT_EQ(answer_of(query), answer) << most << s;
    EXPECT_EQ(query.reused(), from) << most << s;
  };
  expect_run(5, "none", "3 ", nothing);
  for (int i = 0; i < 2; ++i) expect_run(5, "none", "3 ", all);
  for (int i = 0; i < 2; ++i) expect_run(5, "even", "2 ", all);
  expect_run(1, "even", "1 ", all);
  expect_run(5, "odd", "1 ", all);
  run("INSERT INTO t VALUES (100000000, 'odd')");
  expect_run(1, "none", "1 ", plan);
  expect_run(5, "odd", "1 ", all);
  run("INSERT INTO t VALUES (4, 'even')");
  expect_run(4, "odd", "3 ", plan);
  expect_run(4, "odd", "3 ", all);
}

// A statement that was prepared before has told what its columns are.
TEST_F(PlanCacheTest, APreparedStatementDoesNotChangeItsColumns) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t VALUES (1)");
  Statement query(connection, "SELECT a FROM t");
  EXPECT_EQ(query.columns().at(0).type.id, TypeId::Integer);
  run("DROP TABLE t");
  run("CREATE TABLE t(a text)");
  run("INSERT INTO t VALUES ('x')");
  expect("SELECT a FROM t", "x ", nothing);
  EXPECT_EQ(answer_of(query), "0A000 at -1");
  expect("SELECT a FROM t", "x ", all);
  Statement again(connection, "SELECT a FROM t");
  EXPECT_EQ(again.columns().at(0).type.id, TypeId::Text);
  EXPECT_EQ(again.nanoseconds(Stage::Bind), 0);
}

TEST_F(PlanCacheTest, KeepsNoRows) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t SELECT i FROM generate_series(1, 10000) g(i)");
  std::weak_ptr<const TabletSource> table = database.store().snapshot()->find_table("t");
  run("SELECT t.a FROM t JOIN t u ON t.a = u.a WHERE t.a < 3 ORDER BY 1");
  ASSERT_EQ(connection.plan_cache().size(), 1U);
  run("DROP TABLE t");
  EXPECT_TRUE(table.expired());
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t SELECT i FROM generate_series(1, 10000) g(i)");
  table = database.store().snapshot()->find_table("t");
  run("DELETE FROM t WHERE a < 3");
  ASSERT_EQ(connection.plan_cache().size(), 2U);
  EXPECT_TRUE(table.expired());
}

TEST_F(PlanCacheTest, AResultOutlivesItsPlan) {
  run("CREATE TABLE t(a integer, s text)");
  run("INSERT INTO t VALUES (1, 'old')");
  const auto rows = Statement(connection, "SELECT s, 'const' FROM t").run();
  run("INSERT INTO t VALUES (2, 'new')");
  expect("SELECT s, 'const' FROM t", "old const new const ", plan);
  run("DROP TABLE t");
  for (int i = 0; i < 100; ++i) run("SELECT " + std::to_string(i));
  const std::vector<Value> values = read_values(*rows);
  EXPECT_EQ(values.at(0).to_text() + values.at(1).to_text(), "oldconst");
}

TEST_F(PlanCacheTest, HasRoomForSoMany) {
  for (int i = 0; i < 200; ++i) run("SELECT " + std::to_string(i));
  EXPECT_EQ(connection.plan_cache().size(), 64U);
  expect("SELECT 199", "199 ", all);
  expect("SELECT 1", "1 ", nothing);
  const std::string text = "SELECT 5 " + std::string(PlanCache::most_key_bytes, ' ');
  expect(text, "5 ", nothing);
  expect(text, "5 ", nothing);
}

// A lookup over a large dictionary is a value for each of its strings.
TEST_F(PlanCacheTest, HasRoomForSoManyConstants) {
  run("CREATE TABLE t(s text)");
  // Whole tablets one after the other: a few rows, stored first, would be no codes of a dictionary.
  run("SET threads = 1");
  run("INSERT INTO t SELECT 's' || i % 4000 FROM generate_series(1, 196608) g(i)");
  for (int i = 0; i < 40; ++i) run("SELECT count(*) FROM t WHERE s LIKE '%" + std::to_string(i) + "'");
  EXPECT_EQ(connection.plan_cache().size(), 32U);
  expect("SELECT count(*) FROM t WHERE s LIKE '%9'", "19660 ", all);
}

TEST_F(PlanCacheTest, ExplainTellsWhatIsReused) {
  run("CREATE TABLE t(a integer)");
  run("INSERT INTO t VALUES (1), (2)");
  const auto told = [&] { return explain_json(connection, "SELECT sum(a) FROM t"); };
  const auto first = told();
  EXPECT_EQ(first["run"]["reused"], "nothing");
  const auto second = told();
  EXPECT_EQ(second["run"]["reused"], "plan and program");
  EXPECT_EQ(second["run"]["time"]["plan_ns"], 0);
  EXPECT_EQ(second["run"]["time"]["optimize_ns"], 0);
  EXPECT_EQ(second["run"]["time"]["compile_ns"], 0);
  EXPECT_EQ(second["plan"], first["plan"]);
  EXPECT_EQ(second["program"], first["program"]);
  run("INSERT INTO t VALUES (3000)");
  EXPECT_EQ(told()["run"]["reused"], "plan");
  EXPECT_EQ(explain_json(connection, "SELECT now()")["run"]["reused"], "nothing");
  EXPECT_EQ(explain_json(connection, "SELECT now()")["run"]["reused"], "nothing");
  // The text of an EXPLAIN is not that of a query.
  const std::string text = run("EXPLAIN SELECT a FROM t LIMIT 0");
  EXPECT_EQ(run("EXPLAIN SELECT a FROM t LIMIT 0"), text);
}

}  // namespace
}  // namespace diptych
