// Statements nested 2,000 levels deep, through every stage, from threads of any stack; and beyond: an error, no crash.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "sanitized.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych {
namespace {

constexpr int levels = 2000;

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string nested(const std::string& before, const std::string& middle, const std::string& after, int count = levels) {
  return repeated(before, count) + middle + repeated(after, count);
}

struct Deep {
  std::string expression;  // over i = 3
  std::string value;
};

const std::vector<Deep>& deep_numbers() {
  static const std::vector<Deep> list = {
      {nested("(", "i", ")"), "3"},
      {nested("abs(", "i", ")"), "3"},
      {nested("", "i", " + 1"), "2003"},
      {nested("(1 + ", "i", ")"), "2003"},
      {nested("- ", "i", ""), "3"},
      {nested("", "i", "::bigint::int", levels / 2), "3"},
      {nested("coalesce(", "i", ", 5)"), "3"},
      {nested("nullif(", "i", ", 5)"), "3"},
      {nested("greatest(i, ", "i", ")"), "3"},
      {nested("case when i > 0 then ", "i", " else 1 end", levels / 2), "3"},
      {nested("case ", "i", " when 3 then 3 else 1 end", levels / 2), "3"},
      {nested("length('a' || ", "'bc'", ")"), "2"},
      {nested("(1 + abs(", "3", "))", 1000), "1003"},
  };
  return list;
}

const std::vector<std::string>& deep_conditions() {
  static const std::vector<std::string> list = {
      nested("not ", "i = 3", ""),
      nested("(i = 3 and (i > 5 or ", "true", "))", levels / 2),
      nested("", "i", " is not null"),
      nested("(true = ", "(i = 3)", ")"),
      nested("(true in (false, i = 3, ", "true", "))", levels / 2),
  };
  return list;
}

// The first column's values as text.
std::vector<std::string> values_of(Connection& connection, const std::string& sql) {
  connection.start_statement();
  std::vector<std::string> result;
  for (const Value& value : read_values(*Statement(connection, sql).run())) result.push_back(value.to_text());
  return result;
}

SqlState state_of_deep(Connection& connection, const std::string& sql) {
  try {
    values_of(connection, sql);
  } catch (const Error& error) {
    return error.state();
  }
  ADD_FAILURE() << "no error: " << sql.substr(0, 60);
  return SqlState::internal_error;
}

void on_stack(size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  const auto call = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// The parameter: bytes of the calling thread's stack.
class DeepStatementTest : public ::testing::TestWithParam<size_t> {
 protected:
  void with_connection(const std::function<void(Connection&)>& work) {
    on_stack(GetParam(), [&] {
      Database database(":memory:");
      Connection connection(database);
      values_of(connection, "create table t as select i from generate_series(3, 3) g(i)");
      work(connection);
    });
  }
};

TEST_P(DeepStatementTest, NumbersHaveTheirValues) {
  with_connection([](Connection& connection) {
    for (const Deep& deep : deep_numbers()) {
      SCOPED_TRACE(deep.expression.substr(0, 40));
      const std::string& e = deep.expression;
      try {
        EXPECT_EQ(values_of(connection, "select " + e + " from t"), std::vector{deep.value});
        EXPECT_EQ(values_of(connection, "select " + e + " from (values (3)) t(i)"), std::vector{deep.value});
        EXPECT_FALSE(values_of(connection, "explain select count(*) from t group by " + e + " order by " + e).empty());
      } catch (const Error& error) {
        ADD_FAILURE() << code_of(error.state()) << " " << error.message();
      }
    }
  });
}

TEST_P(DeepStatementTest, ConditionsHold) {
  with_connection([](Connection& connection) {
    for (const std::string& condition : deep_conditions()) {
      SCOPED_TRACE(condition.substr(0, 40));
      try {
        EXPECT_EQ(values_of(connection, "select i from t where (" + condition + ") is not null"),
                  std::vector<std::string>{"3"});
        values_of(connection,
                  "explain select count(*) filter (where " + condition + ") from t having " + "count(*) > 0");
      } catch (const Error& error) {
        ADD_FAILURE() << code_of(error.state()) << " " << error.message();
      }
    }
  });
}

TEST_P(DeepStatementTest, OtherStatementsTakeThemToo) {
  with_connection([](Connection& connection) {
    const std::string constant = nested("(1 + ", "3", ")");
    values_of(connection, "create table d (a int, b int default " + constant + ")");
    values_of(connection, "insert into d values (" + constant + ")");
    values_of(connection, "insert into d (a) select " + nested("(1 + ", "i", ")") + " from t");
    values_of(connection, "create table e as select " + nested("(1 + ", "i", ")") + " x from t");
    EXPECT_EQ(values_of(connection, "select a + b from d"), (std::vector<std::string>{"4006", "4006"}));
    EXPECT_EQ(values_of(connection, "select x from e limit " + nested("(", "1", ")")),
              std::vector<std::string>{"2003"});
    EXPECT_EQ(values_of(connection, "values (" + constant + ")"), std::vector<std::string>{"2003"});
    const std::string query = nested("select x + 1 as x from (", "select 3 as x", ") q where x > 0", 190);
    EXPECT_EQ(values_of(connection, query), std::vector<std::string>{"193"});
    EXPECT_EQ(state_of_deep(connection, nested("select x from (", query, ") q", 20)), SqlState::statement_too_complex);
  });
}

TEST_P(DeepStatementTest, ErrorsInTheDepthAreTheirOwn) {
  with_connection([](Connection& connection) {
    EXPECT_EQ(state_of_deep(connection, "select " + nested("(1 + ", "1 / (i - 3)", ")") + " from t"),
              SqlState::division_by_zero);
    EXPECT_EQ(state_of_deep(connection, "select " + nested("abs(", "nosuch", ")") + " from t"),
              SqlState::undefined_column);
    EXPECT_EQ(state_of_deep(connection, "select " + nested("not ", "5", "")), SqlState::datatype_mismatch);
  });
}

TEST_P(DeepStatementTest, BeyondIsAnError) {
  with_connection([](Connection& connection) {
    const std::vector<std::string> too_deep = {
        nested("(", "i", ")", 100'000),   nested("abs(", "i", ")", 100'000),
        nested("", "i", " + 1", 100'000), nested("(1 + abs(", "i", "))", 20'000),
        nested("- ", "i", "", 100'000),   nested("case when true then ", "i", " end", 20'000),
    };
    for (const std::string& e : too_deep)
      EXPECT_EQ(state_of_deep(connection, "select " + e + " from t"), SqlState::statement_too_complex)
          << e.substr(0, 40);
  });
}

// What is evaluated twice doubles with every level.
TEST_P(DeepStatementTest, WhatDoublesIsAnError) {
  with_connection([](Connection& connection) {
    const std::vector<std::string> doubling = {
        nested("(", "(i = 3)", " between false and true)", 40),
        nested("(", "(i = 3)", " between symmetric false and true)", 40),
        nested("(case ", "i = 3", " when true then false when false then true end)", 40),
    };
    for (const std::string& e : doubling)
      EXPECT_EQ(state_of_deep(connection, "select " + e + " from t"), SqlState::statement_too_complex)
          << e.substr(0, 40);
  });
}

constexpr size_t small_stack = size_t{512} << 10, usual_stack = size_t{8} << 20;
INSTANTIATE_TEST_SUITE_P(Stacks, DeepStatementTest,
                         ::testing::Range(small_stack, usual_stack + 1,
                                          testing::unless_sanitized(usual_stack - small_stack, usual_stack)));

}  // namespace
}  // namespace diptych
