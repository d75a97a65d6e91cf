// The syntax tree: what the text says, before anybody knows what its names mean.
//
//   SELECT a + 1 AS b FROM t      Select ── outputs: [ {Operator "+" [ColumnName a] [IntegerLiteral 1]} AS b ]
//                                        └─ from:    [ TableName t ]
//
// Plain values, made by parse() and read by the binder. Every node has the byte offset of the token it is known by in
// the text that was parsed. No tree is deeper than max_expression_depth, so recursive walks need no guard of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace diptych::syntax {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
using Expressions = std::vector<ExpressionPtr>;
struct Select;

// numeric(10,2): name "numeric", modifiers 10, 2. Names are PostgreSQL's internal ones where it has them: int4, float8,
// bpchar.
struct TypeName {
  std::string name;
  std::vector<int32_t> modifiers;
  int position = -1;
};

struct NullLiteral {};
struct BooleanLiteral {
  bool value = false;
};
struct IntegerLiteral {
  int32_t value = 0;
};
struct NumberLiteral {
  std::string digits;
};  // with a point or an exponent, or beyond 32 bits
struct StringLiteral {
  std::string text;
};
struct ColumnName {
  std::vector<std::string> parts;
};  // t.a: "t", "a"
struct Star {
  std::vector<std::string> qualifier;
};  // *, t.*
struct Parameter {
  int number = 0;
};  // $1 is 1
// Arithmetic, comparison and other symbols: two args, or one for a prefix operator.
struct Operator {
  std::string symbol;
  Expressions args;
};
struct Logical {
  enum class Kind : uint8_t { And, Or, Not } kind;
  Expressions args;  // two or more; one for Not
};
struct IsTest {
  enum class Kind : uint8_t { Null, True, False, Unknown } kind;
  bool negated = false;
  ExpressionPtr arg;
};
struct DistinctTest {
  bool negated = false;
  ExpressionPtr left, right;
};  // negated: IS NOT DISTINCT FROM
struct Between {
  bool negated = false, symmetric = false;
  ExpressionPtr value, low, high;
};
struct InList {
  bool negated = false;
  ExpressionPtr value;
  Expressions items;
};
struct Like {
  bool negated = false, ignore_case = false;
  ExpressionPtr value, pattern, escape;  // escape: null when not given
};
struct Case {
  struct Branch {
    ExpressionPtr when, then;
  };
  ExpressionPtr subject;  // CASE subject WHEN value ...; null for CASE WHEN condition ...
  std::vector<Branch> branches;
  ExpressionPtr otherwise;  // null: NULL
};
struct Coalesce {
  Expressions args;
};
struct NullIf {
  ExpressionPtr left, right;
};
struct MinMax {
  bool greatest = false;
  Expressions args;
};
struct Cast {
  ExpressionPtr arg;
  TypeName type;
};
struct Call {
  std::string name;
  Expressions args;
  std::vector<std::string> argument_names;  // of each argument; empty text: by position
  bool star = false, distinct = false;      // count(*), count(DISTINCT x)
  ExpressionPtr filter;                     // FILTER (WHERE ...)
};
struct CurrentTime {
  enum class Kind : uint8_t { Date, Timestamp } kind;
  std::string name;
};
struct Default {};  // DEFAULT in VALUES of an INSERT

struct Expression {
  std::variant<NullLiteral, BooleanLiteral, IntegerLiteral, NumberLiteral, StringLiteral, ColumnName, Star, Parameter,
               Operator, Logical, IsTest, DistinctTest, Between, InList, Like, Case, Coalesce, NullIf, MinMax, Cast,
               Call, CurrentTime, Default>
      node;
  int position = -1;
};

struct TableName {
  std::string name;
  int position = -1;
};
struct TableFile {
  std::string path;
};  // FROM 'x.parquet'
struct TableFunction {
  ExpressionPtr call;
};  // generate_series(...), read_csv(...): a Call
struct TableValues {
  std::unique_ptr<Select> values;
};  // (VALUES ...): a Select with rows

struct TableReference {
  std::variant<TableName, TableFile, TableFunction, TableValues> source;
  std::string alias;  // empty: none
  std::vector<std::string> column_aliases;
  int position = -1;
};

struct SelectItem {
  ExpressionPtr expression;
  std::string alias;  // empty: none
  int position = -1;
};

struct OrderItem {
  ExpressionPtr expression;
  bool descending = false;
  std::optional<bool> nulls_first;  // nothing: NULL counts as the greatest value
};

struct Select {
  bool distinct = false;
  std::vector<SelectItem> items;
  std::optional<TableReference> from;
  ExpressionPtr where;
  Expressions groups;
  ExpressionPtr having;
  std::vector<OrderItem> order;
  ExpressionPtr limit, offset;
  std::vector<Expressions> rows;  // VALUES (...), (...): then there are no items
  int position = -1;
};
using SelectPtr = std::unique_ptr<Select>;

struct ColumnDefinition {
  std::string name;
  TypeName type;
  bool not_null = false;
  bool primary_key = false;
  std::string default_sql;  // empty: none
  int default_position = -1;
  int position = -1;
};

struct CreateTable {
  TableName table;
  bool if_not_exists = false;
  std::vector<ColumnDefinition> columns;
  std::vector<std::string> primary_key;  // PRIMARY KEY (a, b) as a constraint of the table
  int primary_key_position = -1;
  std::vector<std::string> column_names;  // CREATE TABLE t (a, b) AS
  SelectPtr query;                        // CREATE TABLE AS
};

struct DropTable {
  std::vector<TableName> tables;
  bool if_exists = false;
};

struct NamedColumn {
  std::string name;
  int position = -1;
};

struct Insert {
  TableName table;
  std::vector<NamedColumn> columns;  // empty: all
  SelectPtr query;                   // null: DEFAULT VALUES
};

struct Option {
  std::string name;
  std::string value;  // empty: named only
  bool has_value = false;
  int position = -1;
};

struct Copy {
  bool is_from = false;
  TableName table;                   // empty name: query
  std::vector<NamedColumn> columns;  // empty: all
  SelectPtr query;
  std::string path;
  std::vector<Option> options;
};

struct Statement;
struct Explain {
  bool analyze = false;
  std::unique_ptr<Statement> statement;
};

struct Set {
  std::string name;
  std::optional<std::string> value;  // nothing: DEFAULT
};
struct Show {
  std::string name;
};
struct Describe {
  SelectPtr query;
};  // SELECT * FROM t for DESCRIBE t

struct Statement {
  std::variant<Select, CreateTable, DropTable, Insert, Copy, Explain, Set, Show, Describe> node;
  int position = 0;
};

}  // namespace diptych::syntax
