// The syntax tree: what the text says, before anybody knows what its names mean.
//
//   SELECT a + 1 AS b FROM t      Select ── outputs: [ {Operator "+" [ColumnName a] [IntegerLiteral 1]} AS b ]
//                                        └─ from:    [ TableName t ]
//
// Plain values, made by parse() and read by the binder. Every node has the byte offset of the token it is known by in
// the text that was parsed. Trees may be deep: who walks one by recursion sees to its stack first
// (base/stack.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/syntax_expression.h"

namespace diptych::syntax {

struct Select;

// Of tables: public and main are one, pg_temp is the other; None: whichever has a table of the name, the
// temporary ones before the others.
enum class Schema : uint8_t { None, Permanent, Temporary };

struct TableName {
  std::string name;
  int position = -1;
  Schema schema = Schema::None;
  bool is_of_catalog = false;  // it names no query of a WITH clause
};
struct TableFile {
  std::string path;
};  // FROM 'x.parquet'
struct TableFunction {
  ExpressionPtr call;
};  // generate_series(...), read_csv(...): a Call
struct TableQuery {
  std::unique_ptr<Select> query;
};  // (SELECT ...), (VALUES ...)

struct NamedColumn {
  std::string name;
  int position = -1;
};

// left JOIN right. Without a condition and columns that merge: all pairs.
struct TableReference;
struct TableJoin {
  std::unique_ptr<TableReference> left, right;
  ExpressionPtr condition;                  // ON; null: none
  std::vector<NamedColumn> merged_columns;  // USING
  int natural_position = -1;                // NATURAL: columns of the same name merge; -1: no
};

struct TableReference {
  std::variant<TableName, TableFile, TableFunction, TableQuery, TableJoin> source;
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

// WITH name (columns) AS (query), ...
struct CommonTable {
  std::string name;
  std::vector<std::string> column_aliases;
  std::unique_ptr<Select> query;
  int position = -1;
};

struct Select {
  std::vector<CommonTable> with;
  bool distinct = false;
  std::vector<SelectItem> items;
  std::vector<TableReference> from;
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
  std::optional<bool> not_null;   // nothing: neither NULL nor NOT NULL was said
  int primary_key_position = -1;  // of PRIMARY KEY; -1: it is none
  std::string default_sql;        // empty: none
  int default_position = -1;
  int collation_position = -1;  // of COLLATE "C"; -1: none given
  int position = -1;
};

struct CreateTable {
  TableName table;
  bool if_not_exists = false;
  bool replace = false;  // OR REPLACE
  std::vector<ColumnDefinition> columns;
  std::vector<std::string> primary_key;   // PRIMARY KEY (a, b) as a constraint of the table
  int primary_key_position = -1;          // that, or a column's
  std::vector<std::string> column_names;  // CREATE TABLE t (a, b) AS
  SelectPtr query;                        // CREATE TABLE AS
};

struct CreateView {
  TableName view;
  bool replace = false;
  std::vector<std::string> column_names;
  SelectPtr query;
  std::string sql;  // the query's text
};

struct DropTable {
  bool drops_views = false;  // instead of tables
  std::vector<TableName> tables;
  bool if_exists = false;
};

struct Insert {
  TableName table;
  std::vector<NamedColumn> columns;  // empty: all
  SelectPtr query;                   // null: DEFAULT VALUES
  SelectPtr returning;               // its items, of the table; null: none
};

// DELETE and UPDATE: of the rows of a query over the table, which comes first in FROM, and others that UPDATE ... FROM
// and DELETE ... USING name; and TRUNCATE, without a query.
struct Change {
  TableName table;
  SelectPtr query;                             // its items are the new values of
  std::vector<NamedColumn> columns, defaults;  // ... and columns that get their defaults
  size_t returned = 0;                         // so many items, the last ones, are those of RETURNING
  bool is_update = false;
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
  bool kernel = false;
  bool json = false;  // the form of what is told; else text
  std::unique_ptr<Statement> statement;
};

struct Set {
  std::string name;
  std::optional<std::string> value;  // nothing: DEFAULT
};
struct Show {
  std::string name;
};
// BEGIN, COMMIT, ROLLBACK, SET TRANSACTION, SAVEPOINT, RELEASE, ROLLBACK TO.
struct Transaction {
  enum class What : uint8_t { Begin, Commit, Rollback, Set, Savepoint, Release, RollbackTo };
  What what = What::Begin;
  std::string savepoint;
  std::optional<bool> repeatable_read, read_only;  // nothing: not said
};
struct Checkpoint {};
struct Describe {
  SelectPtr query;
};  // SELECT * FROM t for DESCRIBE t

struct Statement {
  std::variant<Select, CreateTable, CreateView, DropTable, Insert, Change, Copy, Explain, Set, Show, Describe,
               Transaction, Checkpoint>
      node;
  int position = 0;
  int depth = 0;  // no tree in it has more levels
};

}  // namespace diptych::syntax
