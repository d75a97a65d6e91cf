#include <algorithm>
#include <span>
#include <vector>

#include "plan/rules/rules.h"

namespace diptych {

namespace {

using ColumnIds = std::vector<ColumnId>;

bool has(const ColumnIds& ids, ColumnId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

// Those of the expressions that are columns as they are.
ColumnIds columns_among(const std::vector<ExpressionPtr>& expressions) {
  ColumnIds ids;
  for (const ExpressionPtr& expression : expressions)
    if (expression->kind == ExpressionKind::Column) ids.push_back(expression->column);
  return ids;
}

// Whether it is proven that no two rows of the operator have the same values, without NULLs, in these columns.
bool are_unique(const LogicalOperator& op, const ColumnIds& columns) {
  switch (op.kind) {
    case OperatorKind::Scan: {
      const std::span<const size_t> key = op.source->key_columns();
      return !key.empty() && std::all_of(key.begin(), key.end(), [&](size_t column) {
        const auto at = std::find(op.source_columns.begin(), op.source_columns.end(), column);
        return at != op.source_columns.end() &&
               has(columns, op.columns[static_cast<size_t>(at - op.source_columns.begin())].id);
      });
    }
    case OperatorKind::Filter:
    case OperatorKind::Sort:
    case OperatorKind::Limit: return are_unique(op.input(), columns);
    case OperatorKind::Project: {
      ColumnIds below;
      for (size_t i = 0; i < op.columns.size(); ++i)
        if (has(columns, op.columns[i].id) && op.expressions[i]->kind == ExpressionKind::Column)
          below.push_back(op.expressions[i]->column);
      return are_unique(op.input(), below);
    }
    case OperatorKind::Aggregate:
      return std::all_of(op.columns.begin(), op.columns.begin() + static_cast<ptrdiff_t>(op.expressions.size()),
                         [&](const BoundColumn& key) { return has(columns, key.id); });
    // A row of the first input meets one of the second at most.
    case OperatorKind::Join:
      return are_unique(*op.inputs[0], columns) && are_unique(*op.inputs[1], columns_among(op.build_keys));
  }
  return false;
}

// Whether the aggregates' values are the same however often a row is repeated.
bool ignores_repeats(const LogicalOperator& aggregate) {
  return std::all_of(aggregate.aggregates.begin(), aggregate.aggregates.end(), [](const BoundAggregate& call) {
    switch (call.function) {
      case AggregateFunction::Min:
      case AggregateFunction::Max:
      case AggregateFunction::BoolAnd:
      case AggregateFunction::BoolOr: return true;
      default: return call.distinct;
    }
  });
}

// A join that is only asked whether a row meets another one finds one and no more: where nothing above reads a column
// of the side that is put into an index, and its keys are proven to be unique or repeated rows change nothing.
//
//   Aggregate by [a]                       Aggregate by [a]
//   └ Join (k = k)                     ->  └ Semi-join (k = k)
//     └ Scan s [a, k]                        └ Scan s [a, k]
//     └ Scan t [k] (10 rows a key)           └ Scan t [k]
//
// Behind prune_columns, which leaves a join with the columns that are read above it.
class SemiJoins : public Rule {
 public:
  const char* name() const override { return "semi_joins"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override { mark(*plan, false); }

 private:
  // may_repeat: rows of the operator may come more often, once at least, and nothing above tells the difference.
  static void mark(LogicalOperator& op, bool may_repeat) {
    if (op.kind == OperatorKind::Join) return mark_join(op, may_repeat);
    for (const LogicalOperatorPtr& input : op.inputs) mark(*input, may_repeat_below(op, may_repeat));
  }

  static bool may_repeat_below(const LogicalOperator& op, bool may_repeat) {
    switch (op.kind) {
      case OperatorKind::Aggregate: return ignores_repeats(op);
      case OperatorKind::Sort: return may_repeat && op.limit < 0;
      case OperatorKind::Limit: return false;
      default: return may_repeat;
    }
  }

  static void mark_join(LogicalOperator& op, bool may_repeat) {
    const LogicalOperator& build = *op.inputs[1];
    const auto is_given = [&](const BoundColumn& column) {
      return place_of(column.id, op.columns) < op.columns.size();
    };
    const bool is_read = std::any_of(build.columns.begin(), build.columns.end(), is_given);
    op.meets_one = are_unique(build, columns_among(op.build_keys));
    op.is_semi = !is_read && (may_repeat || op.meets_one);
    mark(*op.inputs[0], may_repeat);
    mark(*op.inputs[1], may_repeat || op.is_semi);
  }
};

}  // namespace

std::unique_ptr<Rule> make_semi_joins() { return std::make_unique<SemiJoins>(); }

}  // namespace diptych
