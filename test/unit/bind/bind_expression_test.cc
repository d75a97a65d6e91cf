#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bind/test_catalog.h"

namespace diptych {
namespace {

struct TypedExpression {
  const char* sql;
  const char* type;
};

// The types are PostgreSQL's, but for the precision that a numeric has here.
TEST(BindExpression, Types) {
  const std::vector<TypedExpression> table = {
      {"1", "integer"},
      {"2147483647", "integer"},
      {"2147483648", "bigint"},
      {"-2147483648", "integer"},
      {"9223372036854775807", "bigint"},
      {"9223372036854775808", "numeric(19,0)"},
      {"1.50", "numeric(3,2)"},
      {"0.05", "numeric(2,2)"},
      {"1e3", "numeric(4,0)"},
      {"1e-3", "numeric(3,3)"},
      {"1e50::float8", "double precision"},
      {"d + 1e50", "double precision"},
      {"'x'", "text"},
      {"null", "text"},
      {"true", "boolean"},
      {"s + s", "smallint"},
      {"s + i", "integer"},
      {"s + 1", "integer"},
      {"i + l", "bigint"},
      {"i / 2", "integer"},
      {"i + 1.5", "numeric(12,1)"},
      {"l * 1.5", "numeric(21,1)"},
      {"n + n", "numeric(16,2)"},
      {"n - 1", "numeric(16,2)"},
      {"n * n", "numeric(30,4)"},
      {"n * w", "numeric(38,6)"},
      {"n / 3", "numeric(29,16)"},
      {"n % 3", "numeric(15,2)"},
      {"r + r", "real"},
      {"r + i", "double precision"},
      {"r + n", "double precision"},
      {"r * 1.5", "double precision"},
      {"d + i", "double precision"},
      {"d - n", "double precision"},
      {"- s", "smallint"},
      {"- n", "numeric(15,2)"},
      {"i + '5'", "integer"},
      {"i + null", "integer"},
      {"day + 1", "date"},
      {"day - 1", "date"},
      {"1 + day", "date"},
      {"day - day", "integer"},
      {"day + v", "timestamp without time zone"},
      {"day - interval '1 day'", "timestamp without time zone"},
      {"ts + v", "timestamp without time zone"},
      {"ts - ts", "interval"},
      {"ts - day", "interval"},
      {"ts - '2024-01-01'", "interval"},
      {"v + v", "interval"},
      {"v * 2", "interval"},
      {"2 * v", "interval"},
      {"v / 2.5", "interval"},
      {"- v", "interval"},
      {"t || vc", "text"},
      {"t || 1", "text"},
      {"'a' || 'b'", "text"},
      {"i = 1", "boolean"},
      {"i & 5", "integer"},
      {"l | 5", "bigint"},
      {"1 << 3", "integer"},
      {"2 ^ 3", "double precision"},
      {"case when b then i else l end", "bigint"},
      {"case when b then i else 1.5 end", "numeric(11,1)"},
      {"case when b then r else n end", "real"},
      {"case when b then r else d end", "double precision"},
      {"case when b then 'x' end", "text"},
      {"case when b then day else ts end", "timestamp without time zone"},
      {"case when b then vc else t end", "text"},
      {"coalesce(i, 0)", "integer"},
      {"coalesce(null, s)", "smallint"},
      {"nullif(i, 1.5)", "numeric(10,0)"},
      {"nullif(n, 1.555)", "numeric(15,2)"},
      {"nullif('a', 'b')", "text"},
      {"greatest(s, i, l)", "bigint"},
      {"least(n, 1)", "numeric(15,2)"},
      {"extract(year from day)", "numeric(18,0)"},
      {"extract(second from ts)", "numeric(18,6)"},
      {"date_part('year', ts)", "double precision"},
      {"date_trunc('month', ts)", "timestamp without time zone"},
      {"abs(s)", "smallint"},
      {"abs(n)", "numeric(15,2)"},
      {"round(n)", "numeric(14,0)"},
      {"round(n, 1)", "numeric(15,1)"},
      {"round(i)", "double precision"},
      {"round(d)", "double precision"},
      {"ceil(n)", "numeric(14,0)"},
      {"floor(d)", "double precision"},
      {"sqrt(i)", "double precision"},
      {"sqrt(n)", "numeric(38,16)"},
      {"mod(s, s)", "smallint"},
      {"mod(i, 3)", "integer"},
      {"mod(l, i)", "bigint"},
      {"length(vc)", "integer"},
      {"upper(c)", "text"},
      {"substring(t from 2 for 3)", "text"},
      {"trim(both 'x' from t)", "text"},
      {"position('a' in t)", "integer"},
      {"starts_with(t, 'a')", "boolean"},
      {"t like 'a%'", "boolean"},
      {"i::numeric", "numeric(10,0)"},
      {"n::numeric", "numeric(15,2)"},
      {"d::numeric", "numeric(38,9)"},
      {"'1.25'::numeric", "numeric(3,2)"},
      {"i::varchar(3)", "character varying(3)"},
      {"t::char(4)", "character(4)"},
      {"b::int", "integer"},
      {"i::boolean", "boolean"},
      {"current_date", "date"},
      {"now()", "timestamp without time zone"},
      {"interval '90' day", "interval"},
  };
  for (const TypedExpression& row : table) {
    SCOPED_TRACE(row.sql);
    try {
      EXPECT_EQ(bind_query(std::string("select ") + row.sql + " from every")->columns[0].type.name(), row.type);
    } catch (const Error& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

TEST(BindExpression, AggregateTypes) {
  const std::vector<TypedExpression> table = {
      {"count(*)", "bigint"},
      {"count(t)", "bigint"},
      {"sum(s)", "bigint"},
      {"sum(i)", "bigint"},
      {"sum(l)", "numeric(38,0)"},
      {"sum(n)", "numeric(38,2)"},
      {"sum(r)", "real"},
      {"sum(d)", "double precision"},
      {"avg(i)", "numeric(38,16)"},
      {"avg(n)", "numeric(38,16)"},
      {"avg(r)", "double precision"},
      {"min(vc)", "text"},
      {"min(c)", "character(5)"},
      {"max(day)", "date"},
      {"min(v)", "interval"},
      {"stddev(i)", "numeric(38,16)"},
      {"variance(d)", "double precision"},
      {"bool_and(b)", "boolean"},
      {"every(b)", "boolean"},
  };
  for (const TypedExpression& row : table) {
    SCOPED_TRACE(row.sql);
    EXPECT_EQ(bind_query(std::string("select ") + row.sql + " from every")->columns[0].type.name(), row.type);
  }
}

struct WrittenOut {
  const char* sql;
  const char* bound;
};

TEST(BindExpression, CastsAreWrittenOut) {
  const std::vector<WrittenOut> table = {
      {"n < 24", "(n < 24.00)"},
      {"n < 24.555", "(n::numeric(16,3) < 24.555)"},
      {"24 >= n", "(24.00 >= n)"},
      {"s = 3", "(s = 3)"},
      {"s = 70000", "(s::integer = 70000)"},
      {"l = 3", "(l = 3)"},
      {"i = l", "(i::bigint = l)"},
      {"i > 2.0", "(i > 2)"},
      {"i > 2.5", "(i::numeric(11,1) > 2.5)"},
      {"r > 1.5", "(r::double precision > 1.5)"},
      {"r > '1.5'", "(r > 1.5)"},
      {"i = '7'", "(i = 7)"},
      {"n = '7.255'", "(n::numeric(16,3) = 7.255)"},
      {"day > '2024-01-01'", "(day > date '2024-01-01')"},
      {"day > timestamp '2024-01-01 12:00:00'", "(internal_comparable(day) > timestamp '2024-01-01 12:00:00')"},
      {"c = 'ab  '", "(c = 'ab')"},
      {"vc = t", "(vc = t)"},
      {"n * (1 - n)", "(n::numeric(19,2) * (1.00 - n)::numeric(19,2))"},
      {"i between 1 and 3", "((i >= 1) AND (i <= 3))"},
      {"i not between 1 and 3", "(NOT ((i >= 1) AND (i <= 3)))"},
      {"i in (1, 2)", "(i IN (1, 2))"},
      {"i in (1)", "(i = 1)"},
      {"i not in (1, null)", "(NOT (i IN (1, NULL)))"},
      {"i in (1, s)", "((i = s::integer) OR (i = 1))"},
      {"n in (1, 2.5)", "(n IN (1.00, 2.50))"},
      {"vc in ('a', 'b')", "(vc IN ('a', 'b'))"},
      {"t || 1 || vc", "(t || 1::text || vc)"},
      {"t not like 'a%'", "(NOT like(t, 'a%'))"},
      {"t like 'a' escape '!'", "like(t, 'a', '!')"},
      {"b is unknown", "(b IS NULL)"},
      {"i is distinct from null", "(i IS DISTINCT FROM NULL)"},
      {"case i when 1 then 'a' end", "CASE WHEN (i = 1) THEN 'a' ELSE NULL END"},
      {"case when b then i else 1.5 end", "CASE WHEN b THEN i::numeric(11,1) ELSE 1.5 END"},
      {"nullif(i, 0)", "nullif(i, 0)"},
      {"nullif(i, 1.5)", "CASE WHEN (i::numeric(11,1) = 1.5) THEN NULL ELSE i::numeric(10,0) END"},
      {"nullif(n, 1.555)", "CASE WHEN (n::numeric(16,3) = 1.555) THEN NULL ELSE n END"},
      {"extract(year from day)", "extract_year(day)::numeric(18,0)"},
      {"extract(year from ts) = 1994", "(extract_year(ts)::numeric(18,0) = 1994)"},
      {"date_trunc('month', day)", "date_trunc_month(day::timestamp without time zone)"},
      {"interval '90' day", "interval '90 days'"},
      {"date '1998-12-01'", "date '1998-12-01'"},
      {"'12'::int", "12"},
      {"'1.555'::numeric(3,2)", "1.56"},
      {"5::bigint", "5"},
      {"5::numeric(4,1)", "5.0"},
      {"round(n, 1)", "round(n, 1)"},
      {"sqrt(i)", "sqrt(i::double precision)"},
      {"concat(t, i)", "(coalesce(t, '') || coalesce(i::text, ''))"},
  };
  for (const WrittenOut& row : table) {
    SCOPED_TRACE(row.sql);
    try {
      const LogicalOperatorPtr query = bind_query(std::string("select ") + row.sql + " from every");
      EXPECT_EQ(query->expressions[0]->to_text(query->input().columns), row.bound);
    } catch (const Error& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

TEST(BindExpression, Parameters) {
  const BoundStatement bound = bind_text(
      "select $1 + 1, $2, n > $3, $4 || 'x', i = $5, day < $6, coalesce($7, 5), $8::date, $1, i in (1, $9) from every "
      "limit $10");
  const std::vector<std::string> wanted = {"integer", "text",    "numeric(38,9)", "text",    "integer",
                                           "date",    "integer", "date",          "integer", "bigint"};
  ASSERT_EQ(bound.parameters.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(bound.parameters[i].name(), wanted[i]) << "$" << i + 1;
}

TEST(BindExpression, CloneIsEqual) {
  const LogicalOperatorPtr query =
      bind_query("select case when i in (1, 2) then coalesce(n, 1.5) else round(n) end from every");
  const Expression& e = *query->expressions[0];
  EXPECT_TRUE(e.equals(*e.clone()));
  const LogicalOperatorPtr other =
      bind_query("select case when i in (1, 3) then coalesce(n, 1.5) else round(n) end from every");
  EXPECT_FALSE(e.equals(*other->expressions[0]));
}

}  // namespace
}  // namespace diptych
