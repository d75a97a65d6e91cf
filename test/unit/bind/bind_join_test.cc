#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "bind/test_catalog.h"
#include "bind/test_operators.h"

namespace diptych {
namespace {

using testing::first_of;
using testing::source_of;

// The source's columns, called by their position.
std::vector<BoundColumn> numbered_columns_of(const LogicalOperator& source) {
  std::vector<BoundColumn> columns = source.columns;
  for (size_t i = 0; i < columns.size(); ++i) columns[i].name = "#" + std::to_string(i);
  return columns;
}

// The condition over columns that are called by their position: (#1 = #2).
std::string condition_of(const LogicalOperator& source) {
  return source.predicate ? source.predicate->to_text(numbered_columns_of(source)) : "none";
}

std::string condition_of(const std::string& sql) { return condition_of(source_of(*bind_query(sql))); }

// The outputs, each as its name and the source's column or expression: "x=#0 i=#1".
std::string outputs_of(const LogicalOperator& query) {
  const std::vector<BoundColumn> columns = numbered_columns_of(source_of(query));
  std::string result;
  for (size_t i = 0; i < query.columns.size(); ++i)
    result += (i > 0 ? " " : "") + query.columns[i].name + "=" + query.expressions[i]->to_text(columns);
  return result;
}

std::string outputs_of(const std::string& sql) { return outputs_of(*bind_query(sql)); }

TEST(BindJoin, ListsAreJoinedFromTheLeft) {
  const LogicalOperatorPtr query = bind_query("select k, o.i, p.x from other o, keyed, other p where o.i = k");
  const LogicalOperator& outer = source_of(*query);
  ASSERT_EQ(outer.kind, OperatorKind::Join);
  ASSERT_EQ(outer.inputs.size(), 2u);
  EXPECT_EQ(condition_of(outer), "none");
  EXPECT_EQ(outer.names(), (std::vector<std::string>{"x", "i", "k", "a", "z", "x", "i"}));
  EXPECT_EQ(outer.inputs[0]->kind, OperatorKind::Join);
  EXPECT_EQ(outer.inputs[0]->names(), (std::vector<std::string>{"x", "i", "k", "a", "z"}));
  EXPECT_EQ(outer.inputs[0]->inputs[1]->source_name, "keyed");
  EXPECT_EQ(outer.inputs[0]->inputs[1]->scan_of, ScanOf::Table);
  EXPECT_EQ(outer.inputs[1]->source_name, "other");
  EXPECT_EQ(outputs_of(*query), "k=#2 i=#1 x=#5");
}

TEST(BindJoin, ConditionsSeeTheColumnsOfTheirJoin) {
  const LogicalOperatorPtr query =
      bind_query("select * from every, (other o join keyed on o.i = k) join other p on p.i = z");
  const LogicalOperator& right = *source_of(*query).inputs[1];
  EXPECT_EQ(condition_of(source_of(*query)), "none");
  EXPECT_EQ(condition_of(right), "(#6 = #4)");
  EXPECT_EQ(condition_of(*right.inputs[0]), "(#1 = #2)");
  EXPECT_EQ(condition_of("select 1 from other cross join keyed"), "none");
}

TEST(BindJoin, OrderOfStar) {
  EXPECT_EQ(outputs_of("select * from other, keyed"), "x=#0 i=#1 k=#2 a=#3 z=#4");
  EXPECT_EQ(outputs_of("select keyed.*, other.* from other, keyed"), "k=#2 a=#3 z=#4 x=#0 i=#1");
  EXPECT_EQ(outputs_of("select * from other o join other p using (i)"), "i=#1 x=#0 x=#2");
  EXPECT_EQ(outputs_of("select p.*, i, p.i from other o join other p using (i)"), "x=#2 i=#3 i=#1 i=#3");
  EXPECT_EQ(outputs_of("select * from other o natural join other p"), "x=#0 i=#1");
  EXPECT_EQ(outputs_of("select * from other natural join keyed"), "x=#0 i=#1 k=#2 a=#3 z=#4");
  EXPECT_EQ(outputs_of("select * from other o join other p using (i) join other q using (i)"), "i=#1 x=#0 x=#2 x=#4");
  EXPECT_EQ(outputs_of("select * from keyed, other o join other p using (i)"), "k=#0 a=#1 z=#2 i=#4 x=#3 x=#5");
}

TEST(BindJoin, ConditionsOfMergedColumns) {
  EXPECT_EQ(condition_of("select * from other o natural join other p"), "((#0 = #2) AND (#1 = #3))");
  EXPECT_EQ(condition_of("select * from other natural join keyed"), "none");
  EXPECT_EQ(condition_of("select * from other o join other p using (i) join other q using (i)"), "(#1 = #5)");
  EXPECT_EQ(condition_of("select * from other o join (select l from every) e(i) using (i)"), "(#1::bigint = #2)");
}

TEST(BindJoin, MergedColumnsHaveTheTypeOfBoth) {
  const auto merged = [](const std::string& left, const std::string& right) {
    const LogicalOperatorPtr query = bind_query("select m from (select " + left + " from every) v(m) join (select " +
                                                right + " from every) w(m) using (m)");
    return outputs_of(*query) + " " + query->columns[0].type.name();
  };
  EXPECT_EQ(merged("i", "i"), "m=#0 integer");
  EXPECT_EQ(merged("l", "i"), "m=#0 bigint");
  EXPECT_EQ(merged("i", "l"), "m=#1 bigint");
  EXPECT_EQ(merged("i", "n"), "m=#0::numeric(10,0) numeric(10,0)");
  EXPECT_EQ(merged("n", "i"), "m=#0 numeric(15,2)");
  EXPECT_EQ(merged("n", "w"), "m=#0 numeric(15,2)");
  EXPECT_EQ(merged("w", "d"), "m=#1 double precision");
  EXPECT_EQ(merged("vc", "t"), "m=#0::character varying character varying");
  EXPECT_EQ(merged("c", "vc"), "m=rpad(#0, 5)::character character");
  EXPECT_EQ(merged("day", "ts"), "m=#1 timestamp without time zone");
}

TEST(BindJoin, AnAliasOfAJoinHidesTheNamesInside) {
  EXPECT_EQ(outputs_of("select * from (other o join keyed on true) as j"), "x=#0 i=#1 k=#2 a=#3 z=#4");
  EXPECT_EQ(outputs_of("select j.k, a from (other o join keyed on true) as j"), "k=#2 a=#3");
  EXPECT_EQ(outputs_of("select first, j.a from (other o join keyed on true) as j(first)"), "first=#0 a=#3");
  EXPECT_EQ(outputs_of("select j.*, o.i from (other o join other p using (i)) as j(m), other o"),
            "m=#1 x=#0 x=#2 i=#5");
  EXPECT_EQ(outputs_of("select k.* from (keyed k cross join other) as j join keyed k on j.k = k.k"), "k=#5 a=#6 z=#7");
}

TEST(BindJoin, AKeyDeterminesItsOwnTable) {
  const LogicalOperatorPtr query = bind_query("select a, count(x) from other, keyed group by k");
  const LogicalOperator& groups = first_of(OperatorKind::Aggregate, *query);
  ASSERT_EQ(groups.expressions.size(), 2u);
  EXPECT_EQ(groups.expressions[1]->column, source_of(*query).columns[3].id);
  EXPECT_NO_THROW(bind_query("select q.a from keyed p, keyed q group by q.k"));
  EXPECT_NO_THROW(bind_query("select q.a from keyed p join keyed q using (k) group by q.k"));
  EXPECT_NO_THROW(bind_query("select k from keyed p join keyed q using (k) group by p.k"));
  EXPECT_NO_THROW(bind_query("select j.a from (keyed cross join other) as j group by j.k"));
}

TEST(BindJoin, GroupsAndOrdersByMergedColumns) {
  const LogicalOperatorPtr sorted =
      bind_query("select i, count(*) from other o join other p using (i) group by i order by i");
  ASSERT_EQ(sorted->kind, OperatorKind::Sort);
  ASSERT_EQ(sorted->keys.size(), 1u);
  EXPECT_EQ(sorted->keys[0].column, sorted->columns[0].id);
  const LogicalOperatorPtr grouped = bind_query("select o.i from other o join other p using (i) group by i");
  EXPECT_EQ(grouped->expressions[0]->column, first_of(OperatorKind::Aggregate, *grouped).columns[0].id);
  const LogicalOperatorPtr distinct = bind_query("select distinct i from other o join other p using (i) order by o.i");
  EXPECT_EQ(first_of(OperatorKind::Project, *distinct).columns.size(), 1u);
}

TEST(BindJoin, ViewsAndWithQueries) {
  const std::string sql =
      "with w as (select i from other) select i, a.p, k from w join pairs a on i = p join pairs using (k)";
  const LogicalOperatorPtr query = bind_query(sql);
  EXPECT_EQ(outputs_of(*query), "i=#0 p=#1 k=#2");
  const LogicalOperator& inner = *source_of(*query).inputs[0];
  EXPECT_EQ(inner.inputs[0]->kind, OperatorKind::Project);
  ASSERT_EQ(inner.inputs[1]->kind, OperatorKind::Project);
  EXPECT_EQ(inner.inputs[1]->names(), (std::vector<std::string>{"p", "k", "z"}));
  const LogicalOperator& view = source_of(*inner.inputs[1]);
  EXPECT_EQ(view.kind, OperatorKind::Join);
  EXPECT_EQ(view.predicate->position, static_cast<int>(sql.find("pairs a")));
}

TEST(BindJoin, EveryPlaceThatNamesAQueryHasColumnsOfItsOwn) {
  for (const char* sql : {"select * from every a, every b", "with w as (select i from every) select * from w a, w b",
                          "select * from pairs a, pairs b", "select a.i, a.i, a.i + 1 from every a"}) {
    const LogicalOperatorPtr query = bind_query(sql);
    std::set<ColumnId> ids;
    size_t count = 0;
    const auto note = [&](ColumnId id) {
      EXPECT_NE(id, no_column);
      ids.insert(id);
      ++count;
    };
    for (const BoundColumn& column : source_of(*query).columns) note(column.id);
    for (const BoundColumn& column : query->columns) note(column.id);
    EXPECT_EQ(ids.size(), count) << sql;
  }
}

TEST(BindJoin, TablesAreReleasedAndTakenOnBothSides) {
  BoundStatement bound = bind_text("select * from other o join (select 1 from keyed, every) s on true, pairs");
  const auto count_held = [&] {
    int held = 0;
    for_each_operator(*query_of(bound), [&](LogicalOperatorPtr& op) { held += op->source ? 1 : 0; });
    return held;
  };
  EXPECT_EQ(count_held(), 5);
  release_tables(bound);
  EXPECT_EQ(count_held(), 0);
  take_tables(bound, test_catalog());
  EXPECT_EQ(count_held(), 5);
}

TEST(BindJoin, ExpressionsOfAllOperatorsAreVisited) {
  LogicalOperatorPtr query = bind_query(
      "select 1 from (values (2)) v join (select 3 from other o join keyed on i = k) s on true, generate_series(4, 5) "
      "where true limit 6 offset 7");
  size_t visited = 0;
  for_each_operator(query, [&](LogicalOperatorPtr& op) {
    for_each_expression(*op, [&](ExpressionPtr& e) { visited += e ? 1 : 0; });
  });
  EXPECT_EQ(visited, 10u);
}

TEST(BindJoin, ParametersTakeTheTypeOfTheOtherSide) {
  EXPECT_EQ(bind_text("select 1 from other join keyed on i = $1").parameters[0].name(), "integer");
}

struct JoinRefusal {
  const char* sql;
  const char* state;
  const char* at;  // the text at the error's position starts so
  const char* message;
  const char* hint = "";
};

constexpr const char* out_of_reach =
    "There is an entry for table \"o\", but it cannot be referenced from this part of the query.";

void expect_refusals(const std::vector<JoinRefusal>& table) {
  for (const JoinRefusal& row : table) {
    SCOPED_TRACE(row.sql);
    try {
      bind_text(row.sql);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(code_of(error.state()), row.state);
      EXPECT_EQ(error.message(), row.message);
      EXPECT_EQ(error.hint(), row.hint);
      ASSERT_GE(error.position(), 0);
      const std::string at = row.at;
      EXPECT_EQ(std::string(row.sql).substr(static_cast<size_t>(error.position()), at.size()), at);
    }
  }
}

TEST(BindJoin, NamesOfTables) {
  expect_refusals({
      {"select * from other, other", "42712", "other", "table name \"other\" specified more than once"},
      {"select * from keyed k, other as k", "42712", "other as", "table name \"k\" specified more than once"},
      {"select * from other o join keyed o on nope", "42712", "keyed", "table name \"o\" specified more than once"},
      {"select * from (other o cross join keyed) j, keyed j", "42712", "keyed j",
       "table name \"j\" specified more than once"},
      {"select q.x from other, keyed", "42P01", "q.x", "missing FROM-clause entry for table \"q\""},
      {"select kyed.k from other, keyed", "42P01", "kyed.k", "missing FROM-clause entry for table \"kyed\"",
       "Did you mean \"keyed\"?"},
      {"select q.* from other, keyed", "42P01", "q.*", "missing FROM-clause entry for table \"q\""},
      {"select other.x from other q, keyed", "42P01", "other.x",
       "invalid reference to FROM-clause entry for table \"other\"",
       "Perhaps you meant to reference the table alias \"q\"."},
      {"select * from other q join keyed on other.i = k", "42P01", "other.i",
       "invalid reference to FROM-clause entry for table \"other\"",
       "Perhaps you meant to reference the table alias \"q\"."},
      {"select o.x from (other o cross join keyed) as j", "42P01", "o.x",
       "invalid reference to FROM-clause entry for table \"o\"", out_of_reach},
      {"select * from other o, keyed join every on o.i = k", "42P01", "o.i",
       "invalid reference to FROM-clause entry for table \"o\"", out_of_reach},
      {"select * from other o join (keyed join every on o.i = k) on true", "42P01", "o.i",
       "invalid reference to FROM-clause entry for table \"o\"", out_of_reach},
      {"select * from other o, (select o.i) s", "42P01", "o.i",
       "invalid reference to FROM-clause entry for table \"o\"", out_of_reach},
      {"select * from keyed join every on o.i = k, other o", "42P01", "o.i",
       "missing FROM-clause entry for table \"o\""},
  });
}

TEST(BindJoin, NamesOfColumns) {
  expect_refusals({
      {"select x from other o, other p", "42702", "x", "column reference \"x\" is ambiguous"},
      {"select 1 from other o join other p on i = 1", "42702", "i =", "column reference \"i\" is ambiguous"},
      {"select count(*) from other o, other p group by i", "42702", "i", "column reference \"i\" is ambiguous"},
      {"select j.i from (other o cross join other p) j", "42702", "j.i", "column reference \"i\" is ambiguous"},
      {"select o.k from other o, keyed", "42703", "o.k", "column o.k does not exist"},
      {"select dayy from other o, every", "42703", "dayy", "column \"dayy\" does not exist", "Did you mean \"day\"?"},
      {"select keyed from other o, keyed", "0A000", "keyed", "a row as a value is not supported yet"},
      {"select a, z from keyed, other group by z", "42803", "a, z",
       "column \"keyed.a\" must appear in the GROUP BY clause or be used in an aggregate function"},
      {"select a, x from keyed k, other o group by k", "42803", "x",
       "column \"o.x\" must appear in the GROUP BY clause or be used in an aggregate function"},
      {"select x from (keyed cross join other) as j group by k", "42803", "x",
       "column \"other.x\" must appear in the GROUP BY clause or be used in an aggregate function"},
      {"select * from (other cross join keyed) as j(a, b, c, d, e, f)", "42P10", "other",
       "join expression \"j\" has 5 columns available but 6 columns specified"},
  });
}

TEST(BindJoin, Conditions) {
  expect_refusals({
      {"select * from other join keyed using (q)", "42703", "q",
       "column \"q\" specified in USING clause does not exist in left table"},
      {"select * from other join keyed using (i)", "42703", "i",
       "column \"i\" specified in USING clause does not exist in right table"},
      {"select * from other o join other p using (x, i, x)", "42701", "x)",
       "column name \"x\" appears more than once in USING clause"},
      {"select * from other o cross join other p join other q using (i)", "42702", "i)",
       "common column name \"i\" appears more than once in left table"},
      {"select * from other q join (other o cross join other p) using (i)", "42702", "i)",
       "common column name \"i\" appears more than once in right table"},
      {"select * from other o cross join other p natural join other q", "42702", "natural",
       "common column name \"x\" appears more than once in left table"},
      {"select * from other natural join (select true) s(i)", "42804", "natural",
       "JOIN/USING types integer and boolean cannot be matched"},
      {"select * from other join keyed on i", "42804", "i",
       "argument of JOIN/ON must be type boolean, not type integer"},
      {"select * from other join keyed on sum(i) = 1", "42803", "sum",
       "aggregate functions are not allowed in JOIN conditions"},
  });
}

TEST(BindJoin, LimitsOfSize) {
  const auto state_of = [](const std::string& sql) -> std::string {
    try {
      bind_text(sql);
    } catch (const Error& error) {
      return code_of(error.state());
    }
    return "fine";
  };
  std::string many = "select 1 from keyed k0";
  for (int i = 1; i < 200; ++i) many += " join keyed k" + std::to_string(i) + " using (k)";
  EXPECT_EQ(state_of(many), "fine");
  std::string nested = "select 1 from other";
  for (int level = 0; level < 10; ++level) {
    std::string around = "select 1 from (" + nested + ") s";
    for (int i = 0; i < 150; ++i) around += ", keyed k" + std::to_string(i);
    nested = around;
  }
  EXPECT_EQ(state_of(nested), "54001");
  std::string doubling = "with w0 as (select i from other)";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "w" + std::to_string(i - 1);
    doubling += ", w" + std::to_string(i) + " as (select a.i from " + before + " a, " + before + " b)";
  }
  EXPECT_EQ(state_of(doubling + " select 1 from w39"), "54001");
}

}  // namespace
}  // namespace diptych
