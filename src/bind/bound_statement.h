// The bound tree: what a statement means, with names and types settled. The planner turns a BoundSelect into logical
// operators.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "bind/logical_operator.h"
#include "io/file_format.h"
#include "storage/catalog.h"

namespace diptych {

struct BoundSelect;

// Where FROM takes its rows from.
struct BoundSource {
  enum class Kind : uint8_t { OneRow, Tablets, Values, Series, Query, Join };
  Kind kind = Kind::OneRow;  // OneRow: no FROM; one row without columns
  std::string name;          // table or file name, for EXPLAIN
  std::vector<BoundColumn> columns;
  std::shared_ptr<const TabletSource> tablets;  // Tablets: a table's snapshot or an opened file
  bool is_table = false;                        // Tablets: of the catalog's table `name`
  std::vector<std::vector<ExpressionPtr>>
      values;  // Values: rows of cells, each already cast to its column's type, over no input
  ExpressionPtr series_start, series_stop, series_step;  // Series: generate_series over bigint, over no input
  std::unique_ptr<BoundSelect> query;                    // Query: its visible outputs are the columns
  std::vector<BoundSource> inputs;  // Join: the two sides; `columns` are all of the left one, then all of the right one
  ExpressionPtr condition;          // Join: over `columns`; null: all pairs

  BoundSource();
  BoundSource(BoundSource&&) noexcept;
  BoundSource& operator=(BoundSource&&) noexcept;
  ~BoundSource();
};

struct BoundOutput {
  std::string name;
  ExpressionPtr expression;
  ColumnId id = no_column;  // of its value
};

struct BoundGroup {
  ExpressionPtr expression;
  ColumnId id = no_column;  // of its value in the groups' rows
};

struct BoundOrderKey {
  size_t output = 0;  // position in BoundSelect::outputs
  bool descending = false;
  bool nulls_first = false;
};

// SELECT. When `grouped`, having and outputs see the groups and aggregates; else the source's columns. where, groups,
// aggregate arguments and filters always see the source's columns.
struct BoundSelect {
  BoundSource source;
  ExpressionPtr where;  // null: all rows
  bool grouped = false;
  std::vector<BoundGroup> groups;
  std::vector<BoundAggregate> aggregates;
  ExpressionPtr having;
  std::vector<BoundOutput> outputs;  // the visible ones first, then those only ORDER BY needs
  size_t visible_outputs = 0;
  bool distinct = false;  // then there are no hidden outputs
  std::vector<BoundOrderKey> order;
  ExpressionPtr limit, offset;  // bigint over no input; null: none
  int depth = 0;                // no expression has more levels of syntax (base/stack.h)
};

// Calls visit(BoundSource&) on the query's source, the sides of joins, and the sources of queries inside it.
template <typename Visit>
void for_each_source(BoundSelect& query, Visit&& visit) {
  std::vector<BoundSource*> sources{&query.source};
  while (!sources.empty()) {
    BoundSource& source = *sources.back();
    sources.pop_back();
    visit(source);
    for (BoundSource& input : source.inputs) sources.push_back(&input);
    if (source.query) sources.push_back(&source.query->source);
  }
}

// Calls visit(ExpressionPtr&) on every expression of the query, but for those of its sources; none is null.
template <typename Visit>
void for_each_own_expression(BoundSelect& query, Visit&& visit) {
  const auto visit_one = [&](ExpressionPtr& expression) {
    if (expression) visit(expression);
  };
  for (ExpressionPtr* one : {&query.where, &query.having, &query.limit, &query.offset}) visit_one(*one);
  for (BoundGroup& group : query.groups) visit_one(group.expression);
  for (BoundOutput& output : query.outputs) visit_one(output.expression);
  for (BoundAggregate& aggregate : query.aggregates) {
    visit_one(aggregate.argument);
    visit_one(aggregate.filter);
  }
}

// Calls visit(ExpressionPtr&) on every expression of the query and of those inside it; none is null.
template <typename Visit>
void for_each_expression(BoundSelect& query, Visit&& visit) {
  for_each_own_expression(query, visit);
  for_each_source(query, [&](BoundSource& source) {
    for (std::vector<ExpressionPtr>& row : source.values)
      for (ExpressionPtr& cell : row)
        if (cell) visit(cell);
    for (ExpressionPtr* one : {&source.series_start, &source.series_stop, &source.series_step, &source.condition})
      if (*one) visit(*one);
    if (source.query) for_each_own_expression(*source.query, visit);
  });
}

struct BoundCreateTable {
  TableDefinition definition;
  bool if_not_exists = false;
  bool exists = false;                 // IF NOT EXISTS and it does
  std::unique_ptr<BoundSelect> query;  // CREATE TABLE AS; null otherwise
};

struct BoundCreateView {
  ViewDefinition definition;
  bool replace = false;
};

struct BoundDropTable {
  bool drops_views = false;        // instead of tables
  std::vector<std::string> names;  // those that exist
};

// INSERT: the query's outputs are exactly the table's columns in order, defaults filled in, cast to the column types.
struct BoundInsert {
  std::string table;
  std::unique_ptr<BoundSelect> query;
};

struct BoundCopyFrom {
  std::string table;
  std::string path;
  FileOptions options;  // io/file_format.h
  std::vector<size_t>
      columns;  // columns[i] = the table column that field i of the file fills; the others get their defaults
  std::vector<Value> defaults;  // for each table column
};

struct BoundCopyTo {
  std::unique_ptr<BoundSelect> query;
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

struct BoundStatement {
  std::variant<BoundSelect, BoundCreateTable, BoundCreateView, BoundDropTable, BoundInsert, BoundCopyFrom, BoundCopyTo,
               BoundExplain, BoundSet, BoundShow, BoundDescribe>
      statement;
  std::vector<Type> parameters;  // types of $1, $2, ...
  bool reads_clock = false;      // now() and its kin stand in it as constants
};

// The columns that the query gives.
std::vector<ColumnDefinition> output_columns(const BoundSelect& query);

// The query of the statement, or inside of it; nullptr: it has none.
BoundSelect* query_of(BoundStatement& statement);

// A bound statement may wait for its run without the rows of its tables: release_tables() gives up the snapshots, and
// take_tables() puts in those of a catalog in which the tables have the same definitions.
void release_tables(BoundStatement& statement);
void take_tables(BoundStatement& statement, const CatalogSnapshot& catalog);

}  // namespace diptych
