#include <utility>

#include "plan/rules/rules.h"

namespace diptych {

namespace {

// Columns that nothing above reads are not computed, and not read from the tablets.
//
//   Project a, b+c          Project a, b+c
//   └ Scan [a, b, c, d]  -> └ Scan [a, b, c]
//
// Works from the root down: an operator keeps those of its columns that somebody above has been seen to read.
class PruneColumns : public Rule {
 public:
  const char* name() const override { return "prune_columns"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override { Pruning().run(*plan); }

 private:
  class Pruning {
   public:
    void run(LogicalOperator& plan) {
      for (const BoundColumn& column : plan.columns) need(column.id);
      prune(plan);
    }

   private:
    void need(ColumnId column) {
      const auto number = static_cast<size_t>(column);
      if (number >= needed_.size()) needed_.resize(number + 1);
      needed_[number] = true;
    }
    bool is_needed(const BoundColumn& column) const {
      const auto number = static_cast<size_t>(column.id);
      return number < needed_.size() && needed_[number];
    }

    void need_what_it_reads(LogicalOperator& op) {
      for_each_expression(op, [&](ExpressionPtr& root) {
        for_each_column(*root, [&](const Expression& column) { need(column.column); });
      });
      for (const SortKey& key : op.keys) need(key.column);
    }

    void prune(LogicalOperator& op) {
      switch (op.kind) {
        case OperatorKind::Scan: return keep(op, op.source_columns, 0);
        case OperatorKind::Project: keep(op, op.expressions, 0); break;
        // Keys stay: they decide what the groups are. Aggregates nobody reads go.
        case OperatorKind::Aggregate: keep(op, op.aggregates, op.expressions.size()); break;
        case OperatorKind::Join: return prune_join(op);
        default: break;
      }
      need_what_it_reads(op);
      prune(op.input());
      if (op.kind != OperatorKind::Project && op.kind != OperatorKind::Aggregate) op.columns = op.input().columns;
    }

    // Of the operator's columns from `first` on, which `made` makes.
    template <typename T>
    void keep(LogicalOperator& op, std::vector<T>& made, size_t first) const {
      size_t kept = 0;
      for (size_t i = 0; i < made.size(); ++i) {
        if (!is_needed(op.columns[first + i])) continue;
        if (kept != i) {
          made[kept] = std::move(made[i]);
          op.columns[first + kept] = std::move(op.columns[first + i]);
        }
        ++kept;
      }
      made.resize(kept);
      op.columns.resize(first + kept);
    }

    // Each side keeps what is needed above, what the condition reads and its own keys. The join gives of the second
    // one's keys only those that are needed above, or read by the condition.
    void prune_join(LogicalOperator& op) {
      if (op.predicate) for_each_column(*op.predicate, [&](const Expression& column) { need(column.column); });
      const std::vector<BoundColumn> given = needed_of(*op.inputs[1]);
      need_what_it_reads(op);
      std::vector<BoundColumn> of_build = needed_of(*op.inputs[1]);
      for (LogicalOperatorPtr& input : op.inputs) prune(*input);
      keep_alone(op.inputs[1], std::move(of_build));
      op.columns = op.inputs[0]->columns;
      op.columns.insert(op.columns.end(), given.begin(), given.end());
    }

    std::vector<BoundColumn> needed_of(const LogicalOperator& op) const {
      std::vector<BoundColumn> needed;
      for (const BoundColumn& column : op.columns)
        if (is_needed(column)) needed.push_back(column);
      return needed;
    }

    // An operator that has columns for itself is left with these, so that no others are stored.
    static void keep_alone(LogicalOperatorPtr& op, std::vector<BoundColumn> columns) {
      if (columns.size() == op->columns.size()) return;
      auto project = std::make_unique<LogicalOperator>();
      project->kind = OperatorKind::Project;
      for (const BoundColumn& column : columns)
        project->expressions.push_back(column_expression(column.id, column.type));
      project->columns = std::move(columns);
      project->inputs.push_back(std::move(op));
      op = std::move(project);
    }

    std::vector<bool> needed_;  // by id; operators beside each other have different columns
  };
};

}  // namespace

std::unique_ptr<Rule> make_prune_columns() { return std::make_unique<PruneColumns>(); }

}  // namespace diptych
