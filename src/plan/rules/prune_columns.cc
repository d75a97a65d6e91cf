#include <numeric>

#include "plan/rules/rules.h"

namespace diptych {

namespace {

using ColumnSet = std::vector<bool>;

// Columns that nothing above reads are not computed, and not read from the tablets.
//
//   Project a, b+c          Project a, b+c
//   └ Scan [a, b, c, d]  -> └ Scan [a, b, c]
//
// Works from the root down: `needed` says which output columns of an operator somebody reads.
class PruneColumns : public Rule {
 public:
  const char* name() const override { return "prune_columns"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    prune(*plan, ColumnSet(plan->columns.size(), true));
  }

 private:
  // Removes the columns of `op` that are not needed and returns the new position of each kept one (-1: gone).
  static std::vector<int32_t> prune(LogicalOperator& op, const ColumnSet& needed) {
    switch (op.kind) {
      case OperatorKind::Scan: return prune_scan(op, needed);
      case OperatorKind::Project: return prune_project(op, needed);
      case OperatorKind::Aggregate: return prune_aggregate(op, needed);
      default: return prune_pass_through(op, needed);
    }
  }

  template <typename T>
  static void keep(std::vector<T>& list, const ColumnSet& needed) {
    size_t kept = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      if (!needed[i]) continue;
      if (kept != i) list[kept] = std::move(list[i]);
      ++kept;
    }
    list.resize(kept);
  }

  static std::vector<int32_t> positions(const ColumnSet& needed) {
    std::vector<int32_t> result(needed.size(), -1);
    int32_t next = 0;
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) result[i] = next++;
    return result;
  }

  static std::vector<int32_t> prune_scan(LogicalOperator& op, const ColumnSet& needed) {
    keep(op.columns, needed);
    keep(op.source_columns, needed);
    return positions(needed);
  }

  static std::vector<int32_t> prune_project(LogicalOperator& op, const ColumnSet& needed) {
    keep(op.columns, needed);
    keep(op.expressions, needed);
    prune_input(op, ColumnSet(op.input().columns.size(), false));
    return positions(needed);
  }

  // Keys stay: they decide what the groups are. Aggregates nobody reads go.
  static std::vector<int32_t> prune_aggregate(LogicalOperator& op, ColumnSet needed) {
    const size_t keys = op.expressions.size();
    std::fill(needed.begin(), needed.begin() + static_cast<std::ptrdiff_t>(keys), true);
    keep(op.aggregates, ColumnSet(needed.begin() + static_cast<std::ptrdiff_t>(keys), needed.end()));
    keep(op.columns, needed);
    prune_input(op, ColumnSet(op.input().columns.size(), false));
    return positions(needed);
  }

  // Filter, Sort, Limit: what is needed above and what the operator itself reads.
  static std::vector<int32_t> prune_pass_through(LogicalOperator& op, ColumnSet needed) {
    for (const SortKey& key : op.keys) needed[key.column] = true;
    const std::vector<int32_t> moved = prune_input(op, needed);
    op.columns = op.input().columns;
    for (SortKey& key : op.keys) key.column = static_cast<size_t>(moved[key.column]);
    return moved;
  }

  // Prunes the input down to `needed` and what the operator's expressions read, and renumbers those.
  static std::vector<int32_t> prune_input(LogicalOperator& op, ColumnSet needed) {
    const auto each_column = [&](auto&& visit) {
      for_each_expression(op, [&](ExpressionPtr& root) {
        rewrite_bottom_up(root, [&](ExpressionPtr& expression) {
          if (expression->kind == ExpressionKind::Column) visit(*expression);
        });
      });
    };
    each_column([&](Expression& column) { needed[static_cast<size_t>(column.index)] = true; });
    const std::vector<int32_t> moved = prune(op.input(), needed);
    each_column([&](Expression& column) { column.index = moved[static_cast<size_t>(column.index)]; });
    return moved;
  }
};

}  // namespace

std::unique_ptr<Rule> make_prune_columns() { return std::make_unique<PruneColumns>(); }

}  // namespace diptych
