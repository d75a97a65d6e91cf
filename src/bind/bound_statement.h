// What a statement means, with names and types settled. A query is the tree of its operators.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "bind/logical_operator.h"
#include "io/file_format.h"
#include "sql/syntax_tree.h"
#include "storage/catalog.h"

namespace diptych {

struct BoundCreateTable {
  TableDefinition definition;
  bool if_not_exists = false;
  bool exists = false;       // IF NOT EXISTS and it does
  bool replaces = false;     // OR REPLACE and there is one
  LogicalOperatorPtr query;  // CREATE TABLE AS; null otherwise
};

struct BoundCreateView {
  ViewDefinition definition;
  bool replace = false;
};

struct BoundDropTable {
  bool drops_views = false;           // instead of tables
  std::vector<TableAddress> dropped;  // those that exist
};

// INSERT: the query's outputs are the table's columns in order, defaults filled in, cast to the column types; then what
// RETURNING asks for.
struct BoundInsert {
  TableAddress table;
  LogicalOperatorPtr query;
  std::optional<size_t> returned;  // the first output of RETURNING; nothing: there is none
};

// DELETE, UPDATE, TRUNCATE. The query's rows are the positions of rows in the table and, of an UPDATE, the columns that
// they are to have, of the columns' types; then what RETURNING asks for. Of rows with the same position one is meant,
// no matter which. No query: all rows go.
struct BoundChange {
  TableAddress table;
  LogicalOperatorPtr query;
  bool is_update = false;
  std::vector<bool> unchanged;     // of an UPDATE, by column of the table: the rows keep their values
  std::optional<size_t> returned;  // as above
};

struct BoundCopyFrom {
  TableAddress table;
  std::string path;
  FileOptions options;  // io/file_format.h
  std::vector<size_t>
      columns;  // columns[i] = the table column that field i of the file fills; the others get their defaults
  std::vector<Value> defaults;  // for each table column
};

struct BoundCopyTo {
  LogicalOperatorPtr query;
  std::string path;
  FileOptions options;
};

struct BoundStatement;
struct BoundExplain {
  enum class What : uint8_t { Plan, Analyze, Kernel };
  What what = What::Plan;
  bool json = false;
  std::unique_ptr<BoundStatement> statement;
};

struct BoundSet {
  std::string name;
  std::optional<std::string> value;  // nothing: the default
};

struct BoundShow {
  std::string name;  // a setting; "all" for all of them; "tables", "devices", "fallbacks" for what these are
};

struct BoundDescribe {
  TableDefinition definition;
};

using BoundTransaction = syntax::Transaction;
using BoundCheckpoint = syntax::Checkpoint;

struct BoundStatement {
  std::variant<LogicalOperatorPtr, BoundCreateTable, BoundCreateView, BoundDropTable, BoundInsert, BoundChange,
               BoundCopyFrom, BoundCopyTo, BoundExplain, BoundSet, BoundShow, BoundDescribe, BoundTransaction,
               BoundCheckpoint>
      statement;
  std::vector<Type> parameters;  // types of $1, $2, ...
  bool reads_clock = false;      // now() and its kin stand in it as constants
};

// The query of the statement, or inside of it; nullptr: it has none.
LogicalOperatorPtr* query_of(BoundStatement& statement);

// A bound statement may wait for its run without the rows of its tables: release_tables() gives up the snapshots, and
// take_tables() puts in those of a catalog in which the tables have the same definitions.
void release_tables(BoundStatement& statement);
void take_tables(BoundStatement& statement, const CatalogSnapshot& catalog);

}  // namespace diptych
