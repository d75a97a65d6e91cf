// Prepared statements beside the same statements with literals in the place of parameters.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "session/opencl_database.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych::testing {

using Row = std::vector<std::string>;  // of a statement's parameters; "NULL" is NULL

// The rows, or the SQLSTATE of an error.
inline std::string outcome_of(Statement& statement) {
  statement.connection().start_statement();
  try {
    std::string text;
    for (const Value& value : read_values(*statement.run())) text += value.is_null() ? "NULL " : value.to_text() + " ";
    return text;
  } catch (const Error& error) {
    return code_of(error.state());
  }
}

inline std::string literal_of(const std::string& value, const Type& type) {
  if (value == "NULL") return "CAST(NULL AS " + type.name() + ")";
  std::string quoted;
  for (const char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
  return "CAST('" + quoted + "' AS " + type.name() + ")";
}

// From the last on: $1 is the head of $10.
inline std::string with_literals(std::string sql, const Row& values, const std::vector<Type>& types) {
  for (size_t i = values.size(); i-- > 0;) {
    const std::string name = "$" + std::to_string(i + 1), literal = literal_of(values[i], types[i]);
    for (size_t at = sql.find(name); at != std::string::npos; at = sql.find(name, at + literal.size()))
      sql.replace(at, name.size(), literal);
  }
  return sql;
}

// What an engine makes of prepared statements: "1" or "2" threads of the CPU, or "opencl".
class PreparedStatementsTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string engine = GetParam();
    if (engine != "opencl") {
      set("threads = " + engine);
    } else {
      try {
        database.engines().devices().find("opencl");
      } catch (const Error& error) {
        GTEST_SKIP() << error.what();
      }
      set("device = opencl");
      set("device_memory_limit = '4GB'");
    }
    set("tablet_rows = 1024");
    run("CREATE TABLE t(i integer, b bigint, s smallint, n numeric(15,2), r real, d double precision, "
        "c text, v text, day date, at timestamp, f boolean)");
    insert(1, 3000);
    run("CREATE TABLE u(k integer PRIMARY KEY, name text)");
    run("INSERT INTO u SELECT i, 'name ' || i FROM generate_series(1, 50) g(i)");
    run("CREATE VIEW shown AS SELECT i + 1 AS j, c, day FROM t WHERE i > 10");
  }

  // c is codes of a dictionary; each v is another string.
  void insert(int from, int to) {
    run("INSERT INTO t SELECT i, i * 1000003::bigint, i % 100, i % 977 / 4.0, i % 33 / 2.0, i % 71 / 3.0, "
        "'c' || i % 20, 'value ' || i, date '2024-01-01' + (i % 400)::integer, "
        "timestamp '2024-01-01' + (i % 400) * interval '1 day', i % 3 = 0 FROM generate_series(" +
        std::to_string(from) + ", " + std::to_string(to) + ") g(i)");
    run("INSERT INTO t(i) VALUES (" + std::to_string(to + 1) + ")");
  }

  void run(const std::string& sql) { run_text(connection, sql); }
  void set(const std::string& setting) { run("SET " + setting); }

  // Runs the statement with the values, and compares. Returns what it took of an earlier run.
  Reused compare_with_literals(Statement& statement, const std::string& sql, const Row& values) {
    for (size_t i = 0; i < values.size(); ++i)
      statement.bind_parameter(i, values[i] == "NULL" ? Value() : Value::text(values[i]));
    const std::string outcome = outcome_of(statement);
    const std::string other = with_literals(sql, values, statement.parameter_types());
    Statement literal(connection, other);
    EXPECT_EQ(outcome, outcome_of(literal)) << sql << "\n" << other;
    const int64_t planned = statement.nanoseconds(Stage::Plan) + statement.nanoseconds(Stage::Optimize);
    EXPECT_EQ(planned == 0, statement.reused() != Reused::Nothing) << other;
    EXPECT_EQ(statement.nanoseconds(Stage::Compile) == 0, statement.reused() == Reused::PlanAndProgram) << other;
    return statement.reused();
  }

  Database database{":memory:"};
  Connection connection{database};
};

}  // namespace diptych::testing
