#include <numeric>
#include <utility>

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
      case OperatorKind::Join: return prune_join(op, needed);
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

  // Each side keeps what is needed above, what the condition reads and its own keys.
  static std::vector<int32_t> prune_join(LogicalOperator& op, ColumnSet needed) {
    const size_t first = op.inputs[0]->columns.size();
    note_columns(op.predicate, needed, 0);
    for (ExpressionPtr& key : op.probe_keys) note_columns(key, needed, 0);
    for (ExpressionPtr& key : op.build_keys) note_columns(key, needed, first);
    const auto middle = needed.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<int32_t> moved = prune(*op.inputs[0], ColumnSet(needed.begin(), middle));
    const ColumnSet needed_build(middle, needed.end());
    std::vector<int32_t> moved_build = prune(*op.inputs[1], needed_build);
    keep_alone(op.inputs[1], needed_build, moved_build);
    for (ExpressionPtr& key : op.probe_keys) renumber(key, moved);
    for (ExpressionPtr& key : op.build_keys) renumber(key, moved_build);
    const auto kept = static_cast<int32_t>(op.inputs[0]->columns.size());
    for (const int32_t column : moved_build) moved.push_back(column < 0 ? -1 : kept + column);
    renumber(op.predicate, moved);
    op.columns = op.inputs[0]->columns;
    op.columns.insert(op.columns.end(), op.inputs[1]->columns.begin(), op.inputs[1]->columns.end());
    return moved;
  }

  // An operator that has columns for itself is left with those that are needed, so that no others are stored.
  static void keep_alone(LogicalOperatorPtr& op, const ColumnSet& needed, std::vector<int32_t>& moved) {
    auto project = std::make_unique<LogicalOperator>();
    project->kind = OperatorKind::Project;
    for (size_t i = 0; i < needed.size(); ++i) {
      const int32_t from = std::exchange(moved[i], -1);
      if (!needed[i]) continue;
      moved[i] = static_cast<int32_t>(project->columns.size());
      project->columns.push_back(op->columns[static_cast<size_t>(from)]);
      auto column = std::make_unique<Expression>();
      column->kind = ExpressionKind::Column;
      column->type = project->columns.back().type;
      column->index = from;
      project->expressions.push_back(std::move(column));
    }
    if (project->columns.size() == op->columns.size()) return;
    project->inputs.push_back(std::move(op));
    op = std::move(project);
  }

  static void note_columns(ExpressionPtr& root, ColumnSet& needed, size_t first) {
    if (root)
      for_each_column(*root,
                      [&](const Expression& column) { needed[first + static_cast<size_t>(column.index)] = true; });
  }
  static void renumber(ExpressionPtr& root, const std::vector<int32_t>& moved) {
    if (root)
      for_each_column(*root, [&](Expression& column) { column.index = moved[static_cast<size_t>(column.index)]; });
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
    for_each_expression(op, [&](ExpressionPtr& root) { note_columns(root, needed, 0); });
    const std::vector<int32_t> moved = prune(op.input(), needed);
    for_each_expression(op, [&](ExpressionPtr& root) { renumber(root, moved); });
    return moved;
  }
};

}  // namespace

std::unique_ptr<Rule> make_prune_columns() { return std::make_unique<PruneColumns>(); }

}  // namespace diptych
