// A prepared statement is neither planned nor compiled again for other values of its parameters, and each run says what
// the statement with these values as literals says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/plan_text.h"
#include "session/prepared_statements.h"

namespace diptych::testing {
namespace {

class PreparedTest : public PreparedStatementsTest {
 protected:
  // expected: what each run takes of those before; empty: the first one nothing, all others plan and program.
  void compare(const std::string& sql, const std::vector<Row>& rows, std::vector<Reused> expected = {}) {
    if (expected.empty()) {
      expected.assign(rows.size(), Reused::PlanAndProgram);
      expected.front() = Reused::Nothing;
    }
    Statement statement(connection, sql);
    std::vector<Reused> reused;
    for (const Row& row : rows) reused.push_back(compare_with_literals(statement, sql, row));
    EXPECT_EQ(reused, expected) << sql;
  }
};

constexpr Reused nothing = Reused::Nothing, plan = Reused::Plan, all = Reused::PlanAndProgram;

TEST_P(PreparedTest, ComparisonsOfEachType) {
  compare("SELECT i, v FROM t WHERE i = $1", {{"17"}, {"2999"}, {"-5"}, {"2147483647"}, {"0"}});
  compare("SELECT count(*), sum(i) FROM t WHERE i < $1 AND i >= $2", {{"100", "50"}, {"3000", "0"}, {"0", "100000"}});
  compare("SELECT count(*) FROM t WHERE $1 > s", {{"10"}, {"32767"}, {"-32768"}});
  compare("SELECT count(*), min(n) FROM t WHERE n <= $1", {{"1.25"}, {"100"}, {"-0.01"}, {"244.00"}});
  compare("SELECT count(*) FROM t WHERE r > $1 AND d <= $2", {{"3.5", "7"}, {"-1", "1e300"}, {"NaN", "Infinity"}});
  compare("SELECT count(*) FROM t WHERE day = $1", {{"2024-01-01"}, {"2025-02-03"}, {"infinity"}, {"1900-01-01"}});
  compare("SELECT count(*) FROM t WHERE at BETWEEN $1 AND $2",
          {{"2024-01-01", "2024-02-01"}, {"2024-06-01 12:00", "infinity"}, {"2025-01-01", "2024-01-01"}});
  compare("SELECT count(*) FROM t WHERE i IS DISTINCT FROM $1", {{"1"}, {"2"}});
}

TEST_P(PreparedTest, NumbersOutsideOfTheProvenRange) {
  compare("SELECT count(*) FROM t WHERE b < $1", {{"5000000"}, {"9223372036854775807"}, {"6000000"}});
  // The rows fit 32 bits, and so must what they are compared with.
  run("CREATE TABLE small AS SELECT i::bigint AS b FROM generate_series(1, 100) g(i)");
  compare("SELECT count(*) FROM small WHERE b < $1", {{"50"}, {"60"}, {"9223372036854775807"}, {"70"}},
          {nothing, all, plan, all});
  compare("SELECT sum(i * $1::integer) FROM t", {{"3"}, {"100"}, {"-7"}, {"1000"}, {"900"}, {"2147483647"}, {"5"}},
          {nothing, all, all, plan, all, plan, all});
  compare("SELECT sum(n * $1) FROM t", {{"0.5"}, {"0.25"}, {"12345678901.25"}, {"1"}}, {nothing, all, plan, all});
}

TEST_P(PreparedTest, StringsOfDictionariesAndOthers) {
  compare("SELECT count(*) FROM t WHERE c = $1", {{"c7"}, {"c19"}, {"none"}, {""}, {"c7"}});
  compare("SELECT count(*) FROM t WHERE c <> $1 AND v < $2", {{"c7", "value 2"}, {"c0", "value 1000"}});
  compare("SELECT i FROM t WHERE v = $1", {{"value 100"}, {"value 3000"}, {"a string that is longer than others"}});
  compare("SELECT count(*) FROM t WHERE v LIKE $1", {{"value 1%"}, {"%9"}, {"value _"}});
  // Computed for each string of the dictionary.
  compare("SELECT count(*) FROM t WHERE c LIKE $1", {{"c1%"}, {"%9"}, {"%9"}}, {nothing, plan, all});
  compare("SELECT count(*) FROM t WHERE c > $1", {{"c1"}, {"c5"}}, {nothing, plan});
  compare("SELECT c || $1 FROM t WHERE i = $2", {{"x", "1"}, {"x", "9"}, {"y", "9"}}, {nothing, all, plan});
}

TEST_P(PreparedTest, Lists) {
  compare("SELECT count(*), max(i) FROM t WHERE i IN ($1, $2, 5)", {{"1", "2"}, {"100", "100"}, {"-1", "3000"}});
  compare("SELECT count(*) FROM t WHERE v IN ($1, 'value 3', $2)", {{"value 1", "value 2"}, {"x", "value 2999"}});
  compare("SELECT count(*) FROM t WHERE n NOT IN ($1, $2)", {{"1", "2"}, {"1.25", "1.50"}});
  compare("SELECT count(*) FROM t WHERE day IN ($1, $2)", {{"2024-01-01", "2024-01-02"}, {"2024-03-01", "2024-01-02"}});
  compare("SELECT count(*) FROM t WHERE i IN ($1, NULL)", {{"1"}, {"2"}});
}

TEST_P(PreparedTest, NullsAndTruthValuesAreOtherPlans) {
  compare("SELECT count(*) FROM t WHERE i = $1 OR c = $2", {{"5", "c1"}, {"NULL", "c2"}, {"7", "NULL"}, {"9", "c3"}},
          {nothing, nothing, nothing, all});
  compare("SELECT count(*) FROM t WHERE f = $1", {{"t"}, {"f"}, {"t"}, {"NULL"}}, {nothing, nothing, all, nothing});
  compare("SELECT count(*) FROM t WHERE $1 > 5 AND i < $2", {{"6", "10"}, {"9", "11"}, {"5", "10"}, {"100", "12"}},
          {nothing, all, nothing, all});
  compare("SELECT coalesce(nullif($1::integer, 3), -1), i FROM t WHERE i < 3", {{"1"}, {"2"}, {"3"}, {"4"}});
  compare("SELECT nullif($1::integer, 3), i FROM t WHERE i < 3", {{"1"}, {"2"}, {"3"}, {"4"}},
          {nothing, all, nothing, all});
  compare("SELECT count(*) FROM t WHERE ($1 = '' OR c = $1)", {{""}, {"c1"}, {"c2"}, {""}},
          {nothing, nothing, all, all});
}

TEST_P(PreparedTest, ExpressionsOverParameters) {
  compare("SELECT count(*) FROM t WHERE i < $1 + 10 * $2", {{"1", "2"}, {"100", "20"}, {"-100", "1"}});
  compare("SELECT count(*) FROM t WHERE day >= $1::date AND day < $1::date + interval '1 month'",
          {{"2024-01-01"}, {"2024-03-31"}, {"2025-01-01"}});
  compare("SELECT count(*) FROM t WHERE v = 'value ' || $1", {{"1"}, {"77"}});
  compare("SELECT $1 + 1, $1 * 2.5, upper($2), i FROM t WHERE i <= 2", {{"1", "x"}, {"20", "yz"}});
  compare("SELECT count(*) FROM t WHERE i < abs($1::integer) AND i > abs($1::integer) - 5", {{"-100"}, {"200"}});
}

TEST_P(PreparedTest, NarrowComparisons) {
  compare("SELECT count(*) FROM t WHERE i < $1::numeric(10,1)", {{"10.0"}, {"20.0"}, {"20.5"}, {"30.0"}, {"-3.5"}},
          {nothing, all, nothing, all, nothing});
  compare("SELECT count(*) FROM t WHERE i = $1::bigint", {{"10"}, {"20"}, {"99999999999"}, {"30"}, {"99999999998"}},
          {nothing, all, nothing, all, all});
  compare("SELECT count(*) FROM t WHERE r <= $1::double precision", {{"1.5"}, {"2.25"}, {"0.1"}},
          {nothing, all, nothing});
  compare("SELECT count(*) FROM t WHERE day <= $1::timestamp", {{"2024-02-01"}, {"2024-03-01"}, {"2024-03-01 12:00"}},
          {nothing, all, nothing});
}

TEST_P(PreparedTest, ErrorsComeAsBefore) {
  compare("SELECT i / $1 FROM t WHERE i < 5", {{"1"}, {"0"}, {"2"}});
  compare("SELECT i FROM t WHERE i < 5 AND i > 10 / $1", {{"5"}, {"0"}, {"10"}, {"0"}}, {nothing, nothing, all, all});
  compare("SELECT i FROM t WHERE i < 0 AND i > 10 / $1", {{"0"}, {"5"}}, {nothing, nothing});
  compare("SELECT i + $1 FROM t WHERE i < 5", {{"1"}, {"2147483647"}, {"2147483600"}}, {nothing, plan, all});
  compare("SELECT CASE WHEN $1 = 0 THEN -1 ELSE 10 / $1 END", {{"0"}, {"5"}, {"0"}, {"2"}});
  compare("SELECT 10 / $1 = NULL", {{"0"}, {"5"}, {"0"}}, {nothing, nothing, all});
  compare("SELECT i::smallint + $1 FROM t WHERE i < 5", {{"1"}, {"32767"}}, {nothing, plan});
}

TEST_P(PreparedTest, ValuesThatThePlanDependsOn) {
  compare("SELECT i FROM t WHERE i > $1 ORDER BY i LIMIT $2", {{"10", "3"}, {"20", "3"}, {"20", "2"}, {"30", "2"}},
          {nothing, all, nothing, all});
  compare("SELECT i FROM generate_series(1, $1) g(i) WHERE i > $2", {{"5", "2"}, {"5", "3"}, {"6", "3"}},
          {nothing, all, nothing});
  compare("SELECT a FROM (VALUES ($1), (5)) v(a) WHERE a < $2", {{"3", "4"}, {"3", "9"}, {"4", "9"}},
          {nothing, all, nothing});
}

TEST_P(PreparedTest, AllClauses) {
  compare("SELECT c, count(*), sum(i + $1) FROM t WHERE i < $2 GROUP BY c HAVING count(*) > $3 ORDER BY c",
          {{"1", "500", "3"}, {"2", "2000", "90"}, {"100", "3000", "150"}});
  compare("SELECT i % $1, count(*), min(v) FROM t GROUP BY 1 ORDER BY 1", {{"3"}, {"7"}, {"2"}});
  compare("SELECT (i > $1), count(*) FILTER (WHERE s < $2) FROM t GROUP BY 1 ORDER BY 1", {{"3", "9"}, {"700", "50"}});
  compare("SELECT t.i, u.name FROM t JOIN u ON t.s = u.k AND u.k < $1 WHERE t.i < $2 ORDER BY 1, 2",
          {{"5", "300"}, {"50", "100"}, {"0", "10"}});
  compare("SELECT count(*) FROM t JOIN u ON t.s + $1 = u.k", {{"1"}, {"20"}, {"-3"}});
  compare("SELECT count(*) FROM t a JOIN t b ON a.i = b.i + $1 AND a.n < b.n + $2", {{"1", "5"}, {"4", "1"}});
  compare("SELECT j, c FROM shown WHERE j < $1 AND day > $2 ORDER BY j",
          {{"20", "2024-01-01"}, {"40", "2024-01-15"}, {"15", "2025-01-01"}});
  compare("WITH w AS (SELECT i, n FROM t WHERE i > $1) SELECT count(*), avg(n) FROM w WHERE i < $2",
          {{"10", "20"}, {"100", "2000"}});
  compare("SELECT CASE WHEN i < $1 THEN $2 WHEN i = $1 THEN 'b' ELSE c END FROM t WHERE i < 6 ORDER BY i",
          {{"2", "a"}, {"4", "zz"}});
  compare("SELECT greatest(i, $1), least(n, $2), nullif(i, $1) FROM t WHERE i < 6 ORDER BY i",
          {{"2", "0.5"}, {"4", "1.25"}});
  compare("SELECT DISTINCT i / $1 FROM t WHERE i < 100 ORDER BY 1", {{"10"}, {"30"}});
}

TEST_P(PreparedTest, RowsThatComeBetweenRuns) {
  const std::string sql = "SELECT count(*), sum(b), max(v) FROM t WHERE i >= $1 AND c = $2 AND b < $3";
  Statement statement(connection, sql);
  for (int i = 0; i < 4; ++i) {
    for (const Row& row :
         std::vector<Row>{{"10", "c1", "5000000"}, {"2990", "c9", "999999999999"}, {"10000", "new", "0"}})
      compare_with_literals(statement, sql, row);
    insert(3000 + 1000 * i, 4000 + 1000 * i);
    run("INSERT INTO t(i, b, c) VALUES (" + std::to_string(1000000 * i) + ", 9223372036854775807, 'new')");
  }
}

TEST_P(PreparedTest, FewPlansOfOneTextStandBesideEachOther) {
  const std::string sql = "SELECT count(*) FROM t WHERE i < $1::numeric(10,1)";
  Statement statement(connection, sql);
  const size_t before = connection.plan_cache().size();
  for (int i = 0; i < 10; ++i) {
    statement.bind_parameter(0, Value::text(std::to_string(i) + ".5"));
    outcome_of(statement);
  }
  EXPECT_EQ(connection.plan_cache().size(), before + 4);
  statement.bind_parameter(0, Value::text("8.5"));
  outcome_of(statement);
  EXPECT_EQ(statement.reused(), all);
}

// Joins are put in order by what conditions leave.
TEST_P(PreparedTest, ManyMoreRowsArePlannedAgain) {
  run("CREATE TABLE large AS SELECT i, i % 100 AS k FROM generate_series(1, 20000) g(i)");
  compare("SELECT count(*) FROM large JOIN u ON large.k = u.k WHERE large.i < $1",
          {{"10"}, {"300"}, {"15000"}, {"20000"}, {"5"}}, {nothing, all, nothing, all, nothing});
  compare("SELECT count(*) FROM large WHERE i < $1", {{"10"}, {"15000"}});
}

TEST_P(PreparedTest, PlansHaveParameters) {
  const auto plan_with = [&](const std::string& sql, const Row& values) {
    Statement statement(connection, sql);
    for (size_t i = 0; i < values.size(); ++i)
      statement.bind_parameter(i, values[i] == "NULL" ? Value() : Value::text(values[i]));
    for (const std::string& line : describe(statement.optimized_plan()))
      if (const size_t at = line.find("Filter"); at != std::string::npos)
        return line.substr(at, line.rfind(" (~") - at);
    return std::string();
  };
  EXPECT_EQ(plan_with("SELECT i FROM t WHERE i > $1 + 5 AND $2 > 3", {"1", "4"}), "Filter (i > ($1 + 5))");
  EXPECT_EQ(plan_with("SELECT i FROM t WHERE i > $1 + 5 AND $2 > 3", {"1", "2"}), "Filter false");
  EXPECT_EQ(plan_with("SELECT i FROM t WHERE i > $1", {"NULL"}), "Filter NULL");
  EXPECT_EQ(plan_with("SELECT i FROM t WHERE $1 < i", {"1"}), "Filter (i > $1)");
  EXPECT_EQ(plan_with("SELECT i FROM t WHERE i < $1::bigint", {"5"}), "Filter (i < $1::integer)");
  EXPECT_EQ(plan_with("SELECT i FROM t WHERE i < $1::numeric(10,1)", {"5.5"}), "Filter (i <= 5)");
  EXPECT_EQ(plan_with("SELECT i FROM t WHERE i > 10 / $1", {"0"}), "Filter (i > (10 / $1))");
}

// Each has its values, whoever ran last.
TEST_P(PreparedTest, TwoStatementsOfOneText) {
  const std::string sql = "SELECT v, $2 || 'x' FROM t WHERE i = $1";
  Statement one(connection, sql), other(connection, sql);
  for (int i = 0; i < 5; ++i) {
    compare_with_literals(one, sql, {std::to_string(i), "one"});
    compare_with_literals(other, sql, {std::to_string(100 + i), "other"});
    one.connection().start_statement();
    const auto kept = one.run();
    compare_with_literals(other, sql, {std::to_string(200 + i), "third"});
    EXPECT_EQ(read_values(*kept).size(), i == 0 ? 0U : 2U);
    if (i > 0) {
      EXPECT_EQ(read_values(*kept).front().to_text(), "value " + std::to_string(i));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, PreparedTest, ::testing::Values("1", "2", "opencl"));

}  // namespace
}  // namespace diptych::testing
