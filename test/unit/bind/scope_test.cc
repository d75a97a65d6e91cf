// Names in a chain of scopes.
#include "bind/scope.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace diptych {
namespace {

const Type integer{TypeId::Integer};

// A table whose columns have the ids from `first` on.
ScopeTable table_of(const std::string& name, const std::vector<std::string>& columns, uint32_t first) {
  ScopeTable table{name, {}, -1};
  for (const std::string& column : columns) table.columns.push_back({column, ColumnId{first++}, integer, integer});
  return table;
}

ColumnId meaning_of(const Scope& scope, std::vector<std::string> parts) {
  return scope.resolve({std::move(parts)}, 5)->column;
}

void expect_error(const Scope& scope, std::vector<std::string> parts, const char* state) {
  try {
    scope.resolve({std::move(parts)}, 5);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(code_of(error.state()), state);
    EXPECT_EQ(error.position(), 5);
  }
}

TEST(Scope, ANameMeansWhatTheInnermostScopeHas) {
  const Scope outer(table_of("t", {"a", "b"}, 0), nullptr);
  const Scope inner(table_of("t", {"a", "c"}, 10), &outer);
  EXPECT_EQ(meaning_of(inner, {"a"}), ColumnId{10});
  EXPECT_EQ(meaning_of(inner, {"t", "c"}), ColumnId{11});
  EXPECT_EQ(meaning_of(outer, {"a"}), ColumnId{0});
  // The innermost table of the name decides, whatever columns others have.
  expect_error(inner, {"t", "b"}, "42703");
}

TEST(Scope, ColumnsOfAQueryAroundAreFoundAndRefused) {
  const Scope outermost(table_of("o", {"x", "y"}, 0), nullptr);
  const Scope middle(&outermost);
  const Scope inner(table_of("t", {"a"}, 10), &middle);
  expect_error(inner, {"x"}, "0A000");
  expect_error(inner, {"o", "y"}, "0A000");
  expect_error(inner, {"z"}, "42703");
  expect_error(inner, {"p", "x"}, "42P01");
  EXPECT_THROW(inner.expand({{"o"}}, 5), Error);
  EXPECT_EQ(inner.expand({}, 5).size(), 1u);
}

TEST(Scope, TwoColumnsOfAScopeAreAmbiguousEvenWithOthersAround) {
  const Scope outer(table_of("o", {"x"}, 0), nullptr);
  Scope inner(table_of("t", {"x"}, 10), &outer);
  inner.join(Scope(table_of("u", {"x"}, 20), &outer), {});
  expect_error(inner, {"x"}, "42702");
  EXPECT_EQ(meaning_of(inner, {"u", "x"}), ColumnId{20});
}

TEST(Scope, NotedTablesAreOutOfReachUntilTheNamesAreTaken) {
  Scope query;
  query.note_table("other", "o");
  const Scope condition(table_of("t", {"a"}, 10), &query);
  for (const char* name : {"other", "o"}) {
    try {
      condition.resolve({{name, "x"}}, 5);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), std::string("invalid reference to FROM-clause entry for table \"") + name + "\"");
    }
  }
  query.take_names(Scope(table_of("o", {"x"}, 0), &query));
  EXPECT_EQ(meaning_of(query, {"o", "x"}), ColumnId{0});
}

}  // namespace
}  // namespace diptych
