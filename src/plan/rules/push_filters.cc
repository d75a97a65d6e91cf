#include <algorithm>
#include <utility>

#include "plan/conditions.h"
#include "plan/rules/rules.h"

namespace diptych {

namespace {

// What a condition may grow to where expressions take the place of the columns that it names. More is left where it
// stands: a column that each of many queries inside each other doubles has as many copies as there are atoms.
constexpr size_t most_nodes = most_substituted_levels;

// Conditions move towards the tables, where they leave out rows before anything is made of these, skip tablets by their
// zone maps and meet codes instead of strings.
//
//   Filter x > 5 AND n > 1              Filter n > 1
//   └ Aggregate by [a + 1 AS x]: n  ->  └ Aggregate by [a + 1 AS x]: n
//     └ Project a                         └ Project a
//       └ Scan t                            └ Filter a + 1 > 5
//                                             └ Scan t
//
// Through projections, through groups where it names their keys alone, and through sorts; never through a limit.
class PushFilters : public Rule {
 public:
  const char* name() const override { return "push_filters"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    for_each_operator(plan, [](LogicalOperatorPtr& at) {
      while (at->kind == OperatorKind::Filter && push(at)) continue;
    });
  }

 private:
  // Moves the filter, or some of its conditions, below the operator that it stands on; false: it stays.
  static bool push(LogicalOperatorPtr& filter) {
    LogicalOperator& below = filter->input();
    switch (below.kind) {
      case OperatorKind::Filter: return merge(filter);
      case OperatorKind::Project: return push_through_expressions(filter);
      case OperatorKind::Aggregate: return push_keys(filter);
      case OperatorKind::Sort: return below.limit < 0 && (swap(filter), true);
      default: return false;
    }
  }

  // The condition below is asked first, as before.
  static bool merge(LogicalOperatorPtr& filter) {
    LogicalOperatorPtr below = std::move(filter->inputs.front());
    std::vector<ExpressionPtr> conditions;
    take_conditions(std::move(below->predicate), conditions);
    take_conditions(std::move(filter->predicate), conditions);
    below->predicate = all_of(std::move(conditions));
    filter = std::move(below);
    return true;
  }

  // Filter over op becomes op over Filter.
  static void swap(LogicalOperatorPtr& filter) {
    LogicalOperatorPtr op = std::move(filter->inputs.front());
    filter->inputs.front() = std::move(op->inputs.front());
    filter->columns = filter->input().columns;
    op->inputs.front() = std::move(filter);
    filter = std::move(op);
  }

  static bool push_through_expressions(LogicalOperatorPtr& filter) {
    const LogicalOperator& project = filter->input();
    if (!can_take(*filter->predicate, project)) return false;
    put_expressions(filter->predicate, project);
    swap(filter);
    return true;
  }

  static bool push_keys(LogicalOperatorPtr& filter) {
    LogicalOperator& groups = filter->input();
    std::vector<ExpressionPtr> conditions, of_keys, others;
    take_conditions(std::move(filter->predicate), conditions);
    for (ExpressionPtr& condition : conditions) {
      const bool moves =
          names_keys_only(*condition, groups) && !groups.expressions.empty() && can_take(*condition, groups);
      (moves ? of_keys : others).push_back(std::move(condition));
    }
    if (of_keys.empty()) {
      filter->predicate = all_of(std::move(others));
      return false;
    }
    auto below = std::make_unique<LogicalOperator>();
    below->kind = OperatorKind::Filter;
    below->predicate = all_of(std::move(of_keys));
    put_expressions(below->predicate, groups);
    below->columns = groups.input().columns;
    below->inputs.push_back(std::move(groups.inputs.front()));
    groups.inputs.front() = std::move(below);
    if (!others.empty()) {
      filter->predicate = all_of(std::move(others));
      return false;
    }
    LogicalOperatorPtr input = std::move(filter->inputs.front());
    filter = std::move(input);
    return true;
  }

  // Whether all columns in it are keys of the groups.
  static bool names_keys_only(const Expression& e, const LogicalOperator& groups) {
    if (e.kind == ExpressionKind::Column) return place_of(e.column, groups.columns) < groups.expressions.size();
    return std::all_of(e.args.begin(), e.args.end(),
                       [&](const ExpressionPtr& arg) { return names_keys_only(*arg, groups); });
  }

  // What the column is made of by a projection, or as a key of groups.
  static const Expression& expression_of(const Expression& column, const LogicalOperator& op) {
    return *op.expressions[place_of(column.column, op.columns)];
  }

  static size_t nodes(const Expression& e) {
    size_t count = 1;
    for (const ExpressionPtr& arg : e.args) count += nodes(*arg);
    return count;
  }

  // Whether it stays as it is, or becomes no larger than most_nodes, when the operator's expressions take the
  // place of its columns.
  static bool can_take(const Expression& e, const LogicalOperator& op) {
    const size_t added = added_nodes(e, op);
    return added == 0 || nodes(e) + added <= most_nodes;
  }

  static size_t added_nodes(const Expression& e, const LogicalOperator& op) {
    if (e.kind == ExpressionKind::Column) {
      const Expression& expression = expression_of(e, op);
      return expression.kind == ExpressionKind::Column ? 0 : nodes(expression);
    }
    size_t count = 0;
    for (const ExpressionPtr& arg : e.args) count += added_nodes(*arg, op);
    return count;
  }

  static void put_expressions(ExpressionPtr& root, const LogicalOperator& op) {
    if (root->kind == ExpressionKind::Column) {
      root = expression_of(*root, op).clone();
      return;
    }
    for (ExpressionPtr& arg : root->args) put_expressions(arg, op);
  }
};

}  // namespace

std::unique_ptr<Rule> make_push_filters() { return std::make_unique<PushFilters>(); }

}  // namespace diptych
