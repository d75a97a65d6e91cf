// The logical plan: a tree of operators, each making rows from the rows of its inputs. The binder makes it, the rules
// of the optimiser change it, the compiler makes a program of it.
//
//   Limit 10
//   └ Sort o_total DESC
//     └ Project o_key, o_total
//       └ Filter o_total > 100
//         └ Scan orders [o_key, o_total]
//
// One node type for all operators, like Expression: rules switch over `kind`. Expressions of an operator name the
// columns of its inputs by their ids, which are different ones: rules may move operators without touching them. A
// projection that gives a column as it is may keep its id.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bind/expression.h"
#include "tablet/tablet_source.h"

namespace diptych {

enum class OperatorKind : uint8_t { Scan, Filter, Project, Aggregate, Sort, Limit, Join };

// Whose rows a scan gives: those of a table of the catalog or of a file, whose source the binder finds; or those that
// the statement itself says, of which opening the plan makes a source (plan/open_plan.h). Values without columns are
// the one row of a query without FROM.
enum class ScanOf : uint8_t { Table, File, Values, Series };

struct SortKey {
  ColumnId column = no_column;  // of the input
  bool descending = false;
  bool nulls_first = false;
};

// Instead of a column of a table: how many rows of it are before this one, bigint.
inline constexpr size_t row_position = SIZE_MAX;

struct LogicalOperator {
  OperatorKind kind = OperatorKind::Scan;
  std::vector<BoundColumn> columns;  // what it puts out; no id twice
  std::vector<std::unique_ptr<LogicalOperator>> inputs;

  // Scan: columns[i] is column source_columns[i] of the source. Until the plan is opened, Values and Series have
  // expressions over no input instead: the cells of VALUES row by row, each of its column's type; start, stop and
  // perhaps step of generate_series, bigint.
  ScanOf scan_of = ScanOf::Values;
  std::shared_ptr<const TabletSource> source;
  std::string source_name;             // of the table or file, and for EXPLAIN
  bool is_temporary = false;           // the table
  std::vector<size_t> source_columns;  // or row_position
  bool is_joined = false;              // Scan: the order of joins goes by how many of its rows are expected

  ExpressionPtr predicate;                 // Filter; Join: of pairs, besides the keys; null: none
  std::vector<ExpressionPtr> expressions;  // Project: one per output column; Aggregate: the group keys; Scan: as above
  std::vector<BoundAggregate> aggregates;  // Aggregate: output columns after the keys. DISTINCT: keys alone
  std::vector<SortKey> keys;               // Sort: columns = the input's
  // Join: the pairs of rows whose keys are equal, each over the columns of its own side; none: all pairs. The rows of
  // the second input are put into an index, which those of the first one look up.
  std::vector<ExpressionPtr> probe_keys, build_keys;
  bool is_semi = false;    // Join: a row of the first input is put out as often as it likes, if it meets one at all
  bool meets_one = false;  // Join: a row of the first input is proven to meet one of the second at most
  ExpressionPtr limit_rows, offset_rows;  // Limit, until the plan is opened: bigint over no input; null: none
  int64_t limit = -1;                     // Limit, and Sort when only the first rows matter; -1: all
  int64_t offset = 0;                     // Limit
  int depth = 0;                          // of the root: no expression below has more levels of syntax (base/stack.h)
  double estimated_rows = 0;              // at least 1; 0: not estimated (plan/cardinality.h)

  LogicalOperator& input() { return *inputs.front(); }
  const LogicalOperator& input() const { return *inputs.front(); }
  // Of the output columns.
  std::vector<std::string> names() const;
};

// How many levels an expression may gain when a rule of the optimiser moves it from one query into another.
inline constexpr int most_substituted_levels = 100;

using LogicalOperatorPtr = std::unique_ptr<LogicalOperator>;

// An operator over the input, with its columns.
LogicalOperatorPtr make_operator(OperatorKind kind, LogicalOperatorPtr input);
// A scan of all columns, without a source.
LogicalOperatorPtr make_scan(ScanOf of, std::string name, std::vector<BoundColumn> columns);

// What the operator puts out, as a source's columns.
std::vector<ColumnDefinition> output_columns(const LogicalOperator& op);

// Calls visit(LogicalOperatorPtr&) on every operator of the plan, those above before their inputs, as visit leaves
// them.
template <typename Visit>
void for_each_operator(LogicalOperatorPtr& plan, Visit&& visit) {
  visit(plan);
  for (LogicalOperatorPtr& input : plan->inputs) for_each_operator(input, visit);
}

// Calls visit on every expression of this operator alone (its inputs' not).
template <typename Visit>
void for_each_expression(LogicalOperator& op, Visit&& visit) {
  for (ExpressionPtr* one : {&op.predicate, &op.limit_rows, &op.offset_rows})
    if (*one) visit(*one);
  for (ExpressionPtr& expression : op.expressions) visit(expression);
  for (ExpressionPtr& key : op.probe_keys) visit(key);
  for (ExpressionPtr& key : op.build_keys) visit(key);
  for (BoundAggregate& aggregate : op.aggregates) {
    if (aggregate.argument) visit(aggregate.argument);
    if (aggregate.filter) visit(aggregate.filter);
  }
}

}  // namespace diptych
