#include "sql/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace diptych {
namespace {

struct Refusal {
  std::string sql;
  std::string state;
  std::string at;  // the text at the error's position starts so; "" for the end, "?" for an unknown position
};

void expect_refusal(const Refusal& wanted) {
  SCOPED_TRACE(wanted.sql.substr(0, 100));
  try {
    parse_statement(wanted.sql);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(code_of(error.state()), wanted.state) << error.message();
    if (wanted.at == "?") {
      EXPECT_EQ(error.position(), -1);
      return;
    }
    ASSERT_GE(error.position(), 0) << error.message();
    const std::string rest = wanted.sql.substr(static_cast<size_t>(error.position()));
    EXPECT_EQ(rest.substr(0, wanted.at.size()), wanted.at) << error.message() << " at " << rest.substr(0, 20);
    if (wanted.at.empty()) {
      EXPECT_EQ(rest, "");
    }
  }
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

const syntax::Select& as_select(const std::optional<syntax::Statement>& statement) {
  return std::get<syntax::Select>(statement->node);
}

TEST(Parser, RefusesWhatIsNoSql) {
  const std::vector<Refusal> table = {
      {"select 1 from", "42601", ""},
      {"select i frm every", "42601", "every"},
      {"select 'abc", "42601", "'abc"},
      {"select 'é', x frm t u", "42601", "t u"},
      {"select 1 /* open", "42601", "/* open"},
      {"select ((1)", "42601", ""},
      {"select 1; select 2", "42601", " select 2"},
      {"select '\xff'", "22021", "\xff"},
      {"select '\xc0\x80'", "22021", "\xc0"},
      {"select '\xed\xa0\x80'", "22021", "\xed"},
      {std::string("select 'a\0b'", 12), "22021", std::string("\0b", 2)},
      {"select 0x10", "42601", "0x10"},
  };
  for (const Refusal& row : table) expect_refusal(row);
}

TEST(Parser, NamesWhatIsNotThereYet) {
  const std::vector<Refusal> table = {
      {"select 1 union select 2", "0A000", "union"},
      {"select 1 intersect select 2", "0A000", "intersect"},
      {"select 1 except select 2", "0A000", "except"},
      {"with recursive a as (select 1) select * from a", "0A000", "with"},
      {"with a as (select 1), b as (select (2) union select 3) select * from a", "0A000", "union"},
      {"with a as (select 1 from t) select * from a left join b on true", "0A000", "left"},
      {"with a as (delete from t) select 1", "0A000", "a as"},
      {"select (1) from ((select 2 from (select 3 except select 4) x)) t", "0A000", "except"},
      {"select * from lateral (select 1) t", "0A000", "lateral"},
      {"select left('a', 1) from a left join b on true", "0A000", "left join"},
      {"select * from a join b on left(x, 1) = y right outer join c using (x)", "0A000", "right"},
      {"select * from a, b full join c on true", "0A000", "full"},
      {"select * from a, (select 1 from b) s natural left join (select 2) t", "0A000", "left"},
      {"select * from a, lateral (select a.x) t", "0A000", "lateral"},
      {"select * from a join b using (x) as c", "0A000", "as c"},
      {"select * from a join lateral f(1) on true", "0A000", "lateral"},
      {"select * from (select 1 from a) s, b tablesample system (1)", "0A000", "tablesample"},
      {"select (select 1)", "0A000", "(select"},
      {"select i in (select 1)", "0A000", "in"},
      {"select exists (select 1)", "0A000", "exists"},
      {"select sum(i) over (order by i) from t", "0A000", "(order"},
      {"select i from t group by rollup (i)", "0A000", "rollup"},
      {"select distinct on (i) i from t", "0A000", "distinct"},
      {"select a[1] from t", "0A000", "a"},
      {"select array[1]", "0A000", "array"},
      {"select row(1, 2)", "0A000", "row"},
      {"select 'a' similar to 'b'", "0A000", "similar"},
      {"select x = any(y)", "0A000", "="},
      {"select count(*) filter (where true) within group (order by x)", "42601", "within"},
      {"select * from t for update", "0A000", "for"},
      {"select * from t tablesample system (1)", "0A000", "tablesample"},
      {"select 1 into t", "0A000", "into"},
      {"begin isolation level serializable", "0A000", "isolation"},
      {"commit and chain", "0A000", "chain"},
      {"prepare transaction 'a'", "0A000", "prepare"},
      {"set session characteristics as transaction read only", "0A000", "set"},
      {"with u as (select 1) insert into t default values", "0A000", "u"},
      {"with u as (delete from t) delete from t", "0A000", "u"},
      {"truncate t, u", "0A000", "u"},
      {"create temp view v as select 1", "0A000", "temp"},
      {"create view v as select 1 with check option", "0A000", "check"},
      {"create materialized view v as select 1", "0A000", "create"},
      {"create index on t (a)", "0A000", "create"},
      {"alter table t add b int", "0A000", "alter"},
      {"drop schema v", "0A000", "drop"},
      {"create temp table t (a int) on commit drop", "0A000", "commit"},
      {"create table t (a int unique)", "0A000", "unique"},
      {"create table t (a int check (a > 1))", "0A000", "check"},
      {"create table t (a int references u)", "0A000", "references"},
      {"create table t (a int[])", "0A000", "int[]"},
      {"insert into t values (1) on conflict do nothing", "0A000", "on conflict"},
      {"copy t from stdin", "0A000", "stdin"},
      {"copy t to program 'x'", "0A000", "program"},
      {"copy t from 'x' where a = 1", "0A000", "where"},
      {"explain (foo) select 1", "42601", "foo"},
      {"explain (format xml) select 1", "0A000", "format"},
      {"explain (analyze, format yaml) select 1", "0A000", "format"},
      {"explain (format csv) select 1", "22023", "format"},
      {"explain (format) select 1", "42601", "format"},
      {"set local threads = 1", "0A000", "local"},
      {"prepare p as select 1", "0A000", "prepare"},
  };
  for (const Refusal& row : table) expect_refusal(row);
}

TEST(Parser, RefusesDeepNesting) {
  const std::vector<std::string> deep = {
      "select " + repeated("(", 10001) + "1" + repeated(")", 10001),
      "select 1" + repeated(" + 1", 100000),
      "select " + repeated("not ", 10000) + "true",
      "select " + repeated("- ", 10000) + "x",
      "select 1" + repeated("::int", 10001),
      "select 1" + repeated(" is null", 10001),
      "select " + repeated("case when true then ", 5000) + "1" + repeated(" end", 5000),
      "select " + repeated("abs(", 5000) + "1" + repeated(")", 5000),
      "select " + repeated("(", 900) + "1" + repeated(repeated("+1", 100) + ")", 900),
      "select 1, 2" + repeated(" union select 1, 2", 10001),
      "select * from t" + repeated(" join u on true and true", 10001),
      "select * from " + repeated("(select * from ", 3000) + "t" + repeated(")", 3000),
      repeated("explain ", 10001) + "select 1",
  };
  for (const std::string& sql : deep) {
    SCOPED_TRACE(sql.substr(0, 60));
    try {
      parse_statement(sql);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(code_of(error.state()), "54001") << error.message();
    }
  }
}

TEST(Parser, TakesLongListsAndTheDepthAllowed) {
  const std::vector<std::string> fine = {
      "select " + repeated("(", 9000) + "1" + repeated(")", 9000),
      "select 1" + repeated(" + 1", 9000),
      "select " + repeated("abs(1 + ", 1000) + "1" + repeated(")", 1000),
      "select * from t where true" + repeated(" and a = 1", 100000),
      "select * from t where a in (1" + repeated(", 1", 100000) + ")",
      "insert into t values (- 1)" + repeated(", (- 1)", 100000),
      "select case" + repeated(" when a = 1 then - 2", 10000) + " end from t",
  };
  for (const std::string& sql : fine) EXPECT_NO_THROW(parse_statement(sql)) << sql.substr(0, 60);
}

TEST(Parser, BlankTextIsNoStatement) {
  for (const char* text : {"", "  \n", ";", ";;", "-- comment", "/* a /* nested */ comment */ ;"}) {
    EXPECT_FALSE(parse_statement(text).has_value()) << text;
  }
}

TEST(Parser, KeepsLiterals) {
  const auto statement = parse_statement("select -5, 2147483648, 1.50, 'it''s', null, true, -9223372036854775808");
  const auto& items = as_select(statement).items;
  EXPECT_EQ(std::get<syntax::IntegerLiteral>(items[0].expression->node).value, -5);
  EXPECT_EQ(std::get<syntax::NumberLiteral>(items[1].expression->node).digits, "2147483648");
  EXPECT_EQ(std::get<syntax::NumberLiteral>(items[2].expression->node).digits, "1.50");
  EXPECT_EQ(std::get<syntax::StringLiteral>(items[3].expression->node).text, "it's");
  EXPECT_TRUE(std::holds_alternative<syntax::NullLiteral>(items[4].expression->node));
  EXPECT_TRUE(std::get<syntax::BooleanLiteral>(items[5].expression->node).value);
  EXPECT_EQ(std::get<syntax::NumberLiteral>(items[6].expression->node).digits, "-9223372036854775808");
}

TEST(Parser, QueriesInBracketsStandWhereTheirBracketsAre) {
  const std::string text = "with a(x) as ((select (1))) select (2) from ((select 3 from (values (4)) v)) t";
  const auto statement = parse_statement(text);
  const auto place_of = [&](std::string_view what) { return static_cast<int>(text.find(what)); };
  const syntax::Select& query = as_select(statement);
  ASSERT_EQ(query.with.size(), 1);
  EXPECT_EQ(query.with[0].name, "a");
  EXPECT_EQ(query.with[0].column_aliases, std::vector<std::string>{"x"});
  EXPECT_EQ(query.with[0].query->position, place_of("select (1)"));
  EXPECT_EQ(query.position, place_of("select (2)"));
  EXPECT_EQ(query.from[0].position, place_of("((select 3"));
  const syntax::Select& inner = *std::get<syntax::TableQuery>(query.from[0].source).query;
  EXPECT_EQ(inner.position, place_of("select 3"));
  EXPECT_EQ(inner.from[0].position, place_of("(values"));
  EXPECT_EQ(std::get<syntax::TableQuery>(inner.from[0].source).query->position, place_of("values"));
}

TEST(Parser, Joins) {
  const std::string text =
      "select using_ from (a natural join b) j(x, y), (select 1 from (values (1)) v join w using (q)) s cross join c, "
      "d inner join (e join f(1) using (x, y)) on d.x = e.x";
  const auto statement = parse_statement(text);
  const auto place_of = [&](std::string_view what) { return static_cast<int>(text.find(what)); };
  const std::vector<syntax::TableReference>& from = as_select(statement).from;
  ASSERT_EQ(from.size(), 3u);
  const auto& first = std::get<syntax::TableJoin>(from[0].source);
  EXPECT_EQ(from[0].alias, "j");
  EXPECT_EQ(from[0].column_aliases, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(from[0].position, place_of("a natural"));
  EXPECT_EQ(first.natural_position, place_of("natural"));
  EXPECT_FALSE(first.condition);
  const auto& second = std::get<syntax::TableJoin>(from[1].source);
  EXPECT_EQ(second.natural_position, -1);
  EXPECT_EQ(second.left->position, place_of("(select 1"));
  EXPECT_EQ(second.right->position, place_of("c,"));
  const syntax::Select& query = *std::get<syntax::TableQuery>(second.left->source).query;
  const auto& inner = std::get<syntax::TableJoin>(query.from[0].source);
  ASSERT_EQ(inner.merged_columns.size(), 1u);
  EXPECT_EQ(inner.merged_columns[0].position, place_of("q)"));
  const auto& third = std::get<syntax::TableJoin>(from[2].source);
  ASSERT_TRUE(third.condition);
  EXPECT_EQ(third.condition->position, place_of("= e.x"));
  const auto& merging = std::get<syntax::TableJoin>(third.right->source);
  ASSERT_EQ(merging.merged_columns.size(), 2u);
  EXPECT_EQ(merging.merged_columns[0].position, place_of("x, y)) on"));
  EXPECT_EQ(merging.merged_columns[1].position, place_of("y)) on"));
}

TEST(Parser, FromHasAMostNumberOfTables) {
  EXPECT_NO_THROW(parse_statement("select * from t" + repeated(", t", 199)));
  EXPECT_NO_THROW(parse_statement("select * from t" + repeated(" cross join t", 199)));
  EXPECT_NO_THROW(
      parse_statement("select * from (select 1 from t" + repeated(", t", 150) + ") s" + repeated(", t", 150)));
  expect_refusal({"select * from t" + repeated(", t", 199) + ", u", "54001", "u"});
  expect_refusal({"select * from t" + repeated(", t", 1600), "54001", "t"});
  expect_refusal({"select * from t" + repeated(" natural join t", 199) + " join u using (x)", "54001", "u"});
  expect_refusal({"select * from t" + repeated(" join t on true", 3000), "54001", "t"});
  expect_refusal(
      {"select * from " + repeated("t join (", 1500) + "t cross join t" + repeated(") on true", 1500), "54001", "t"});
}

TEST(Parser, FilesInFrom) {
  const auto path_of = [](const std::string& sql) -> std::string {
    const auto statement = parse_statement(sql);
    const auto* file = std::get_if<syntax::TableFile>(&as_select(statement).from[0].source);
    return file ? file->path : "";
  };
  EXPECT_EQ(path_of("select * from 'a/b.parquet'"), "a/b.parquet");
  EXPECT_EQ(path_of("SELECT trim(both from 'x'), a is distinct from 'y' FROM'it''s \"it\".csv' t"), "it's \"it\".csv");
  EXPECT_EQ(
      path_of("select * from 'a name that is longer than any identifier of PostgreSQL may be, which is 63 bytes.csv'"),
      "a name that is longer than any identifier of PostgreSQL may be, which is 63 bytes.csv");
  const auto joined = parse_statement(
      "select 'a', 'b' from t, 'x.csv' join ('y.csv' cross join (select 'c', 'd' from 'z.csv') s) on f(a, 'e') in "
      "('g', "
      "'h') and 'i' is distinct from 'j', (values ('k'), ('l')) v where true group by a, 'm' order by b, 'n'");
  const auto& from = as_select(joined).from;
  ASSERT_EQ(from.size(), 3u);
  const auto& join = std::get<syntax::TableJoin>(from[1].source);
  EXPECT_EQ(std::get<syntax::TableFile>(join.left->source).path, "x.csv");
  const auto& inner = std::get<syntax::TableJoin>(join.right->source);
  EXPECT_EQ(std::get<syntax::TableFile>(inner.left->source).path, "y.csv");
  const auto& query = *std::get<syntax::TableQuery>(inner.right->source).query;
  EXPECT_EQ(std::get<syntax::TableFile>(query.from[0].source).path, "z.csv");
  const auto statement = parse_statement("select a from 'x.csv' where b = 'c'");
  EXPECT_EQ(as_select(statement).from[0].position, 14);
  expect_refusal({"select * from ''", "42601", "''"});
}

TEST(Parser, Describe) {
  const auto table = parse_statement("describe t");
  EXPECT_EQ(std::get<syntax::TableName>(std::get<syntax::Describe>(table->node).query->from[0].source).name, "t");
  const auto query = parse_statement("DESCRIBE SELECT 1, 2");
  EXPECT_EQ(std::get<syntax::Describe>(query->node).query->items.size(), 2u);
  const auto file = parse_statement("describe 'x.csv'");
  EXPECT_EQ(std::get<syntax::TableFile>(std::get<syntax::Describe>(file->node).query->from[0].source).path, "x.csv");
}

TEST(Parser, DefaultsKeepTheirText) {
  const auto statement = parse_statement(
      "create table t (a int default 1 + (2 * 3) not null, b text default 'x,y' primary key, c int default null null, "
      "d date default "
      "case when true then null else date '2024-01-01' end)");
  const auto& columns = std::get<syntax::CreateTable>(statement->node).columns;
  EXPECT_EQ(columns[0].default_sql, "1 + (2 * 3)");
  EXPECT_EQ(columns[0].not_null, true);
  EXPECT_EQ(columns[1].default_sql, "'x,y'");
  EXPECT_GE(columns[1].primary_key_position, 0);
  EXPECT_EQ(columns[2].default_sql, "null");
  EXPECT_EQ(columns[3].default_sql, "case when true then null else date '2024-01-01' end");
}

TEST(Parser, ExpressionsStandWhereTheyWereTaken) {
  EXPECT_EQ(parse_expression("x", 40).expression->position, 40);
  EXPECT_THROW(parse_expression("1, 2"), Error);
  EXPECT_THROW(parse_expression("1 from t"), Error);
}

TEST(Splitter, CutsAtSemicolonsOutsideQuotes) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"select 1; select 2", "select 1"},
      {"select ';'; x", "select ';'"},
      {"select 'it'';s'; x", "select 'it'';s'"},
      {"select \"a;b\"; x", "select \"a;b\""},
      {"select E'\\';'; x", "select E'\\';'"},
      {"select '\\'; x", "select '\\'"},
      {"select $$a;b$$; x", "select $$a;b$$"},
      {"select $t$a;$$b$t$; x", "select $t$a;$$b$t$"},
      {"select $1; x", "select $1"},
      {"select a$b;c$d", "select a$b"},
      {"select 1 -- a;b\n; x", "select 1 -- a;b\n"},
      {"select 1 /* a; /* b; */ c; */; x", "select 1 /* a; /* b; */ c; */"},
      {"select 'open; x", "select 'open; x"},
      {"/* open; x", "/* open; x"},
      {"/*", "/*"},
      {"$", "$"},
      {"", ""},
  };
  for (const auto& [script, first] : table) EXPECT_EQ(split_statement(script).text, first) << script;
  EXPECT_EQ(split_statement("a; b; bad").rest, " b; bad");
  EXPECT_EQ(split_statement("a").rest, "");
}

}  // namespace
}  // namespace diptych
