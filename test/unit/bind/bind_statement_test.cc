#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bind/test_catalog.h"
#include "bind/test_operators.h"

namespace diptych {
namespace {

using testing::first_of;
using testing::source_of;

struct Refusal {
  const char* sql;
  const char* state;
  const char* at;  // the text at the error's position starts so; "?" for an unknown position
};

TEST(BindStatement, ErrorsHaveStateAndPlace) {
  const std::vector<Refusal> table = {
      {"select colx from every", "42703", "colx"},
      {"select every.colx from every", "42703", "every.colx"},
      {"select e.i from every", "42P01", "e.i"},
      {"select every.i from every e", "42P01", "every.i"},
      {"select * from evry", "42P01", "evry"},
      {"select *", "42601", "*"},
      {"select foo(1)", "42883", "foo"},
      {"select length(1)", "42883", "length"},
      {"select sum(t) from every", "42883", "sum"},
      {"select min(b) from every", "42883", "min"},
      {"select count(i, l) from every", "42883", "count"},
      {"select upper(distinct t) from every", "42809", "upper"},
      {"select t + 1 from every", "42883", "+"},
      {"select i = t from every", "42883", "="},
      {"select b < 1 from every", "42883", "<"},
      {"select day = v from every", "42883", "="},
      {"select d % 2 from every", "42883", "%"},
      {"select vc in (1, 2) from every", "42883", "in ("},
      {"select '1' + '2'", "42725", "+"},
      {"select i = 'abc' from every", "22P02", "'abc'"},
      {"select i = '99999999999' from every", "22003", "'999"},
      {"select day = '2024-02-30' from every", "22008", "'2024"},
      {"select day = 'tomorrowish' from every", "22007", "'tomo"},
      {"select 1e400", "22003", "1e400"},
      {"select 1e38", "22003", "1e38"},
      {"select 1 + 1e50", "22003", "1e50"},
      {"select i > 100000000000000000000000000000000000000 from every", "22003", "100"},
      {"select not i from every", "42804", "i from"},
      {"select i and true from every", "42804", "i and"},
      {"select * from every where i", "42804", "i"},
      {"select i from every having i", "42804", "i"},
      {"select case when i then 1 end from every", "42804", "i then"},
      {"select case when b then 1 else t end from every", "42804", "1 else"},
      {"select coalesce(i, day) from every", "42804", "day"},
      {"select i::date from every", "42846", "::date"},
      {"select i::foo from every", "42704", "foo"},
      {"select i::timestamptz from every", "0A000", "timestamptz"},
      {"select i from every where sum(i) > 1", "42803", "sum"},
      {"select sum(sum(i)) from every", "42803", "sum(i))"},
      {"select i from every group by sum(i)", "42803", "sum"},
      {"select sum(i) from every group by 1", "42803", "sum(i)"},
      {"select i, count(*) from every", "42803", "i,"},
      {"select i, t from every group by i", "42803", "t from"},
      {"select a from keyed group by z", "42803", "a from"},
      {"select i from every group by i order by t", "42803", "t"},
      {"select i from every group by i having t = 'a'", "42803", "t ="},
      {"select i from every group by 3", "42P10", "3"},
      {"select i from every order by 0", "42P10", "0"},
      {"select i from every order by 1.5", "42601", "1.5"},
      {"select i as a, l as a from every order by a", "42702", "a"},
      {"select distinct i from every order by t", "42P10", "t"},
      {"select i from every limit i", "42P10", "i"},
      {"select i from every limit true", "42804", "true"},
      {"select i from every limit 'x'", "22P02", "'x'"},
      {"select $0", "42P02", "$0"},
      {"select extract(foo from ts) from every", "22023", "foo"},
      {"select extract(hour from day) from every", "0A000", "hour"},
      {"select t ~ 'a' from every", "0A000", "~"},
      {"select string_agg(t, ',') from every", "0A000", "string_agg"},
      {"select generate_series(1, 2)", "0A000", "generate_series"},
      {"values (1), (2, 3)", "42601", "2, 3"},
      {"select * from (values (1)) t(a, b)", "42P10", "(values"},
      {"select * from generate_series(1.5, 2)", "0A000", "1.5"},
      {"select * from nofunc(1)", "42883", "nofunc"},
      {"select * from read_csv('x', foo => 1)", "42601", "1"},
      {"create table every (a int)", "42P07", "every"},
      {"create table x (a int, a text)", "42701", "a text"},
      {"create table x (a int primary key, b int primary key)", "42P16", "primary key)"},
      {"create table x (a int, primary key (b))", "42703", "primary key"},
      {"create table x (a numeric(39))", "22023", "numeric(39)"},
      {"create table x (a integr)", "42704", "integr"},
      {"create table x (a int default 'x')", "22P02", "'x'"},
      {"create table x (a int default b)", "42703", "b)"},
      {"create table x (a date default 5)", "42804", "5"},
      {"create table x as select 1, 1", "42701", "x as"},
      {"drop table every, nope", "42P01", "nope"},
      {"insert into nope values (1)", "42P01", "nope"},
      {"insert into keyed(kk) values (1)", "42703", "kk"},
      {"insert into keyed(k, k) values (1, 2)", "42701", "k) values"},
      {"insert into keyed values (1, 'a', 2, 3)", "42601", "3"},
      {"insert into keyed(k, a) values (1)", "42601", "a) values"},
      {"insert into keyed(k) values ('x')", "22P02", "'x'"},
      {"insert into keyed(k) select x from other", "42804", "x from"},
      {"insert into every(b) values (1)", "42804", "1"},
      {"select default", "42601", "default"},
      {"copy nope from 'x.csv'", "42P01", "nope"},
      {"copy every(foo) from 'x.csv'", "42703", "foo"},
      {"copy every to 'y.csv' (formt csv)", "42601", "formt"},
      {"copy every to 'y.csv' (delimiter '||')", "0A000", "delimiter"},
      {"copy every to 'y.csv' (freeze)", "0A000", "freeze"},
      {"describe nope", "42P01", "nope"},
  };
  for (const Refusal& row : table) {
    SCOPED_TRACE(row.sql);
    try {
      bind_text(row.sql);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(code_of(error.state()), row.state) << error.message();
      const std::string at = row.at;
      if (at == "?") {
        EXPECT_EQ(error.position(), -1);
      } else if (error.position() < 0) {
        ADD_FAILURE() << "no position: " << error.message();
      } else {
        EXPECT_EQ(std::string(row.sql).substr(static_cast<size_t>(error.position()), at.size()), at) << error.message();
      }
    }
  }
}

TEST(BindStatement, HintsForMisspeltNames) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"select * from evry", "every"},
      {"select lenght('a')", "length"},
      {"select dya from every", "day"},
      {"select evry.i from every", "every"},
      {"create table x (a integr)", "integer"},
      {"insert into every(dayy) values (1)", "day"},
      {"copy every to 'y' (formt csv)", "format"},
      {"select summ(i) from every", "sum"},
  };
  for (const auto& [sql, name] : table) {
    SCOPED_TRACE(sql);
    try {
      bind_text(sql);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.hint(), std::string("Did you mean \"") + name + "\"?");
    }
  }
}

TEST(BindStatement, OutputNames) {
  const LogicalOperatorPtr query = bind_query(
      "select i, i + 1, count(*), i::text, '1'::int, case when b then 1 end, case when b then 1 else l end, "
      "coalesce(i, 1), extract(year from day), "
      "trim(t), position('a' in t), i as \"A b\", current_date, nullif(i, 1), greatest(i, 1), true, date '2024-01-01', "
      "-i, sum(i) filter (where b) "
      "from every group by i, b, l, day, t");
  const std::vector<std::string> wanted = {
      "i",        "?column?", "count",        "i",      "int4",     "case",     "l",    "coalesce", "extract", "btrim",
      "position", "A b",      "current_date", "nullif", "greatest", "?column?", "date", "?column?", "sum"};
  EXPECT_EQ(query->names(), wanted);
}

// What outputs of a grouped query see: the groups, then the aggregates.
std::vector<BoundColumn> grouped_columns(const LogicalOperator& groups, const std::vector<std::string>& names) {
  std::vector<BoundColumn> columns = groups.columns;
  for (size_t i = 0; i < columns.size(); ++i) columns[i].name = names[i];
  return columns;
}

TEST(BindStatement, GroupingSharesAggregatesAndFindsGroups) {
  const LogicalOperatorPtr query = bind_query(
      "select i + 1 as k, sum(n), sum(n) * 2, count(*) filter (where b) from every where i > 0 group by k having "
      "sum(n) > 5 order by i + 1 desc, avg(n)");
  EXPECT_EQ(query->columns.size(), 4u) << "the hidden output is dropped";
  const LogicalOperator& sort = first_of(OperatorKind::Sort, *query);
  const LogicalOperator& outputs = sort.input();
  const LogicalOperator& having = outputs.input();
  const LogicalOperator& groups = having.input();
  ASSERT_EQ(groups.kind, OperatorKind::Aggregate);
  EXPECT_EQ(groups.expressions.size(), 1u);
  EXPECT_EQ(groups.aggregates.size(), 3u);
  ASSERT_EQ(outputs.expressions.size(), 5u);
  const std::vector<BoundColumn> names = grouped_columns(groups, {"k", "sum_n", "count_b", "avg_n"});
  EXPECT_EQ(outputs.expressions[0]->to_text(names), "k");
  EXPECT_EQ(outputs.expressions[1]->to_text(names), "sum_n");
  EXPECT_EQ(outputs.expressions[2]->to_text(names), "(sum_n * 2)");
  EXPECT_EQ(outputs.expressions[4]->to_text(names), "avg_n");
  EXPECT_EQ(having.predicate->to_text(names), "(sum_n > 5.00)");
  EXPECT_EQ(groups.input().predicate->to_text(source_of(*query).columns), "(i > 0)");
  ASSERT_EQ(sort.keys.size(), 2u);
  EXPECT_EQ(sort.keys[0].column, outputs.columns[0].id);
  EXPECT_TRUE(sort.keys[0].descending && sort.keys[0].nulls_first);
  EXPECT_EQ(sort.keys[1].column, outputs.columns[4].id);
}

TEST(BindStatement, PrimaryKeyDeterminesTheOtherColumns) {
  const LogicalOperatorPtr query = bind_query("select a, count(*), z + 1 from keyed group by k");
  ASSERT_EQ(query->input().expressions.size(), 3u);
  const std::vector<BoundColumn> names = grouped_columns(query->input(), {"k", "a", "z", "count"});
  EXPECT_EQ(query->expressions[0]->to_text(names), "a");
  EXPECT_EQ(query->expressions[1]->to_text(names), "count");
  EXPECT_EQ(query->expressions[2]->to_text(names), "(z + 1)");
}

TEST(BindStatement, Sources) {
  const LogicalOperatorPtr one_row = bind_query("select 1");
  EXPECT_EQ(source_of(*one_row).scan_of, ScanOf::Values);
  EXPECT_TRUE(source_of(*one_row).columns.empty());
  const LogicalOperatorPtr file = bind_query("select * from 'x.csv'");
  EXPECT_EQ(source_of(*file).scan_of, ScanOf::File);
  EXPECT_EQ(source_of(*file).columns.size(), 2u);
  const LogicalOperatorPtr values = bind_query("select y from (values (1, 'a'), (2.5, null)) t(x, y) where x > 1");
  EXPECT_EQ(source_of(*values).scan_of, ScanOf::Values);
  EXPECT_EQ(source_of(*values).expressions.size(), 4u);
  EXPECT_EQ(source_of(*values).columns[0].type.name(), "numeric(11,1)");
  EXPECT_EQ(source_of(*values).columns[1].type.name(), "text");
  const LogicalOperatorPtr series = bind_query("select g from generate_series(1, 10) g");
  EXPECT_EQ(source_of(*series).scan_of, ScanOf::Series);
  EXPECT_EQ(source_of(*series).columns[0].type.name(), "integer");
  EXPECT_EQ(bind_query("select * from generate_series(1, 10000000000)")->columns[0].type.name(), "bigint");
}

TEST(BindStatement, InsertFillsTheTable) {
  const BoundStatement bound = bind_text("insert into keyed(a, k) values (5, '1'), (default, 2)");
  const LogicalOperator& query = *std::get<BoundInsert>(bound.statement).query;
  const LogicalOperator& values = query.input();
  ASSERT_EQ(query.columns.size(), 3u);
  EXPECT_EQ(values.columns[0].type.name(), "text");
  EXPECT_EQ(values.columns[1].type.name(), "integer");
  ASSERT_EQ(values.expressions.size(), 4u);
  EXPECT_EQ(values.expressions[0]->to_text({}), "5::text");
  EXPECT_EQ(values.expressions[1]->to_text({}), "1");
  EXPECT_TRUE(values.expressions[2]->value.is_null());
  EXPECT_EQ(query.expressions[0]->column, values.columns[1].id);
  EXPECT_EQ(query.expressions[1]->column, values.columns[0].id);
  EXPECT_EQ(query.expressions[2]->to_text({}), "7");
}

TEST(BindStatement, InsertOrdersByTheValuesBeforeTheyAreStored) {
  const BoundStatement bound = bind_text("insert into keyed(k, a) select i, i from other order by 2 limit 5");
  const LogicalOperator& query = *std::get<BoundInsert>(bound.statement).query;
  EXPECT_EQ(query.columns.size(), 3u);
  const LogicalOperator& sort = first_of(OperatorKind::Sort, query);
  const LogicalOperator& outputs = sort.input();
  ASSERT_EQ(outputs.columns.size(), 4u);
  EXPECT_EQ(outputs.columns[1].type.name(), "text");
  EXPECT_EQ(sort.keys[0].column, outputs.columns[3].id);
  EXPECT_EQ(outputs.columns[3].type.name(), "integer");
}

TEST(BindStatement, StoringStringsRaisesWhereACastCuts) {
  const BoundStatement bound = bind_text("insert into every(vc, t) select t, t::varchar(10) from every");
  const LogicalOperator& query = *std::get<BoundInsert>(bound.statement).query;
  EXPECT_EQ(query.expressions[12]->kind, ExpressionKind::Call);
  EXPECT_EQ(query.expressions[12]->function, FunctionId::assign_text_varchar);
  EXPECT_EQ(query.expressions[12]->type.name(), "character varying(10)");
}

TEST(BindStatement, CreateTable) {
  const BoundStatement bound = bind_text(
      "create table x (a int, b varchar(10) default 'q', c numeric, d decimal(12), e char, primary key (b, a))");
  const TableDefinition& table = std::get<BoundCreateTable>(bound.statement).definition;
  EXPECT_EQ(table.columns[1].default_sql, "'q'");
  EXPECT_EQ(table.columns[2].type.name(), "numeric(38,9)");
  EXPECT_EQ(table.columns[3].type.name(), "numeric(12,0)");
  EXPECT_EQ(table.columns[4].type.name(), "character(1)");
  EXPECT_EQ(table.primary_key, (std::vector<size_t>{1, 0}));
  EXPECT_TRUE(table.columns[0].not_null && table.columns[1].not_null && !table.columns[2].not_null);
  EXPECT_TRUE(std::get<BoundCreateTable>(bind_text("create table if not exists every (a int)").statement).exists);
}

TEST(BindStatement, Copy) {
  const BoundStatement from = bind_text("copy keyed(a, k) from 'x.tbl' with csv header delimiter '|' null 'NULL'");
  const auto& copy = std::get<BoundCopyFrom>(from.statement);
  EXPECT_EQ(copy.columns, (std::vector<size_t>{1, 0}));
  EXPECT_EQ(copy.defaults[2].to_text(), "7");
  EXPECT_EQ(copy.options.delimiter, '|');
  EXPECT_EQ(copy.options.null_string, "NULL");
  EXPECT_EQ(copy.options.header, true);
  const BoundStatement to = bind_text("copy (select i from every order by l) to 'x.parquet'");
  EXPECT_EQ(std::get<BoundCopyTo>(to.statement).options.format, FileFormat::Parquet);
  EXPECT_EQ(std::get<BoundCopyTo>(bind_text("copy every(l, i) to 'x.csv'").statement).query->columns.size(), 2u);
}

TEST(BindStatement, Explain) {
  const BoundStatement bound = bind_text("explain analyze insert into keyed values (1, 'a', 2)");
  const auto& explain = std::get<BoundExplain>(bound.statement);
  EXPECT_EQ(explain.what, BoundExplain::What::Analyze);
  EXPECT_FALSE(explain.json);
  EXPECT_TRUE(std::holds_alternative<BoundInsert>(explain.statement->statement));
  EXPECT_TRUE(std::get<BoundExplain>(bind_text("explain (format json) select i from every").statement).json);
  EXPECT_FALSE(std::get<BoundExplain>(bind_text("explain (format json, format text) values (1)").statement).json);
}

}  // namespace
}  // namespace diptych
