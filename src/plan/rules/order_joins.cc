#include <algorithm>
#include <bitset>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "plan/cardinality.h"
#include "plan/conditions.h"
#include "plan/rules/rules.h"

namespace diptych {

namespace {

// FROM has no more tables (sql/build_select.cc).
constexpr size_t most_leaves = 256;
using LeafSet = std::bitset<most_leaves>;

bool is_within(const LeafSet& part, const LeafSet& all) { return (part & ~all).none(); }

// The joins of one part of a plan, with the conditions on and above them: what they join, in the order in which the
// text has it, and conditions over all their columns.
class JoinedRows {
 public:
  explicit JoinedRows(LogicalOperatorPtr plan) : columns_(plan->columns) {
    take(std::move(plan));
    check_invariant(leaves_.size() <= most_leaves, "FROM has a number of tables that is known to be small");
    note_columns();
    for (Condition& condition : conditions_) find_leaves(condition);
    bound_alternatives();
    pass_bounds_on();
  }

  // settle(LogicalOperatorPtr&) does what is left to be done to each that is joined, before its rows are estimated.
  template <typename Settle>
  LogicalOperatorPtr in_order(const Settle& settle) {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      trees_.push_back(tree_of(i));
      settle(trees_.back().plan);
      estimate(*trees_.back().plan);
    }
    while (trees_.size() > 1) join_best();
    return in_columns_of_text(std::move(trees_.front()));
  }

 private:
  struct Condition {
    ExpressionPtr expression;  // null: it is part of a tree
    LeafSet leaves;
    // Of an equality, those of its two sides.
    LeafSet left, right;
  };
  struct Tree {
    LogicalOperatorPtr plan;
    LeafSet leaves;
  };

  void take(LogicalOperatorPtr plan) {
    if (!joins(*plan)) {
      leaves_.push_back(std::move(plan));
      return;
    }
    for (LogicalOperatorPtr& input : plan->inputs) take(std::move(input));
    if (plan->predicate) add_conditions(std::move(plan->predicate));
  }

  // To be found by their ids.
  void note_columns() {
    for (size_t leaf = 0; leaf < leaves_.size(); ++leaf)
      for (const BoundColumn& column : leaves_[leaf]->columns) leaf_by_column_.emplace_back(column.id, leaf);
    std::sort(leaf_by_column_.begin(), leaf_by_column_.end());
  }

 public:
  // Whether it is a join, or conditions on one.
  static bool joins(const LogicalOperator& op) {
    if (op.kind == OperatorKind::Filter) return joins(op.input());
    return op.kind == OperatorKind::Join;
  }

 private:
  void add_conditions(ExpressionPtr predicate) {
    std::vector<ExpressionPtr> parts;
    take_conditions(std::move(predicate), parts);
    for (ExpressionPtr& part : parts) conditions_.push_back({std::move(part), {}, {}, {}});
  }

  size_t leaf_of(ColumnId column) const {
    return std::lower_bound(leaf_by_column_.begin(), leaf_by_column_.end(), std::pair(column, size_t{0}))->second;
  }

  LeafSet leaves_in(Expression& e) const {
    LeafSet found;
    for_each_column(e, [&](const Expression& column) { found[leaf_of(column.column)] = true; });
    return found;
  }

  void find_leaves(Condition& condition) const {
    Expression& e = *condition.expression;
    condition.leaves = leaves_in(e);
    if (e.kind != ExpressionKind::Eq) return;
    condition.left = leaves_in(*e.args[0]);
    condition.right = leaves_in(*e.args[1]);
  }

  // Whether it is an equality of two columns of one type.
  static bool equates_columns(const Expression& e) {
    return e.kind == ExpressionKind::Eq && e.args[0]->kind == ExpressionKind::Column &&
           e.args[1]->kind == ExpressionKind::Column && e.args[0]->type == e.args[1]->type;
  }

  // The only column of a condition that compares it with constants alone, which raises no error; no_column: it is
  // another one.
  static ColumnId bounded_column(const Expression& e) {
    if (e.kind == ExpressionKind::And || e.kind == ExpressionKind::Or) {
      const ColumnId column = bounded_column(*e.args[0]);
      const auto is_of_it = [column](const ExpressionPtr& arg) { return bounded_column(*arg) == column; };
      return std::all_of(e.args.begin(), e.args.end(), is_of_it) ? column : no_column;
    }
    const bool compares = is_comparison(e.kind) || e.kind == ExpressionKind::In;
    if (!compares || e.args[0]->kind != ExpressionKind::Column) return no_column;
    const auto is_constant = [](const ExpressionPtr& arg) { return has_value(*arg); };
    return std::all_of(e.args.begin() + 1, e.args.end(), is_constant) ? e.args[0]->column : no_column;
  }

  // Where each alternative of an OR over several tables bounds the columns of one of them, one of these bounds holds:
  // (a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4) leaves the rows of a where a.x = 1 OR a.x = 3.
  void bound_alternatives() {
    const size_t given = conditions_.size();
    for (size_t i = 0; i < given; ++i) {
      if (conditions_[i].expression->kind != ExpressionKind::Or || conditions_[i].leaves.count() < 2) continue;
      for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
        if (!conditions_[i].leaves[leaf]) continue;
        if (ExpressionPtr bounds = bounds_of_leaf(*conditions_[i].expression, leaf)) add_condition(std::move(bounds));
      }
    }
  }

  // null: an alternative has none.
  ExpressionPtr bounds_of_leaf(const Expression& alternatives, size_t leaf) const {
    ExpressionPtr any = std::make_unique<Expression>();
    any->kind = ExpressionKind::Or;
    any->type = {TypeId::Boolean};
    any->position = alternatives.position;
    for (const ExpressionPtr& alternative : alternatives.args) {
      std::vector<ExpressionPtr> parts;
      take_conditions(alternative->clone(), parts);
      std::erase_if(parts, [&](const ExpressionPtr& part) {
        const ColumnId column = bounded_column(*part);
        return column == no_column || leaf_of(column) != leaf;
      });
      if (parts.empty()) return nullptr;
      any->args.push_back(all_of(std::move(parts)));
    }
    return any;
  }

  void add_condition(ExpressionPtr added) {
    const auto is_same = [&](const Condition& other) { return other.expression->equals(*added); };
    if (std::any_of(conditions_.begin(), conditions_.end(), is_same)) return;
    conditions_.push_back({std::move(added), {}, {}, {}});
    find_leaves(conditions_.back());
  }

  // Bounds of a column are those of all columns that it has to be equal to.
  void pass_bounds_on() {
    std::map<ColumnId, std::vector<ColumnId>> equal;  // by column, directly
    for (const Condition& condition : conditions_) {
      const Expression& e = *condition.expression;
      if (!equates_columns(e)) continue;
      equal[e.args[0]->column].push_back(e.args[1]->column);
      equal[e.args[1]->column].push_back(e.args[0]->column);
    }
    const size_t given = conditions_.size();
    for (size_t i = 0; i < given; ++i) {
      const ColumnId column = bounded_column(*conditions_[i].expression);
      std::vector<ColumnId> known{column};
      for (size_t k = 0; column != no_column && k < known.size(); ++k)
        for (const ColumnId other : equal[known[k]])
          if (std::find(known.begin(), known.end(), other) == known.end()) known.push_back(other);
      for (size_t k = 1; k < known.size(); ++k) add_bound(*conditions_[i].expression, known[k]);
    }
  }

  void add_bound(const Expression& bound, ColumnId column) {
    ExpressionPtr copy = bound.clone();
    for_each_column(*copy, [column](Expression& e) { e.column = column; });
    add_condition(std::move(copy));
  }

  // A leaf with the conditions that it alone decides.
  Tree tree_of(size_t number) {
    Tree tree{std::move(leaves_[number]), {}};
    tree.leaves[number] = true;
    std::vector<ExpressionPtr> own;
    for (Condition& condition : conditions_)
      if (condition.expression && condition.leaves.any() && condition.leaves == tree.leaves)
        own.push_back(std::move(condition.expression));
    if (!own.empty()) tree.plan = filter(std::move(tree.plan), all_of(std::move(own)));
    return tree;
  }

  static LogicalOperatorPtr filter(LogicalOperatorPtr input, ExpressionPtr predicate) {
    auto op = std::make_unique<LogicalOperator>();
    op->kind = OperatorKind::Filter;
    op->columns = input->columns;
    op->predicate = std::move(predicate);
    op->inputs.push_back(std::move(input));
    return op;
  }

  // Whether an equality gives the two trees a key: one side of it is of each.
  static bool is_key(const Condition& condition, const Tree& a, const Tree& b) {
    if (!condition.expression || condition.left.none() || condition.right.none()) return false;
    return (is_within(condition.left, a.leaves) && is_within(condition.right, b.leaves)) ||
           (is_within(condition.left, b.leaves) && is_within(condition.right, a.leaves));
  }

  // The tree that has all of these; none: the number of trees.
  size_t tree_with(const LeafSet& leaves) const {
    const auto has_all = [&](const Tree& tree) { return leaves.any() && is_within(leaves, tree.leaves); };
    return static_cast<size_t>(std::find_if(trees_.begin(), trees_.end(), has_all) - trees_.begin());
  }

  using Pair = std::pair<size_t, size_t>;

  // Of the pairs of trees that have a key, the rows of their join.
  std::map<Pair, double> estimated_joins() const {
    using Keys = std::vector<const Expression*>;
    std::map<Pair, std::pair<Keys, Keys>> keys;
    for (const Condition& condition : conditions_) {
      if (!condition.expression) continue;
      const size_t left = tree_with(condition.left), right = tree_with(condition.right);
      if (left == right || left == trees_.size() || right == trees_.size()) continue;
      const std::vector<ExpressionPtr>& sides = condition.expression->args;
      auto& [first, second] = keys[std::minmax(left, right)];
      first.push_back(sides[left < right ? 0 : 1].get());
      second.push_back(sides[left < right ? 1 : 0].get());
    }
    std::map<Pair, double> joins;
    for (auto& [pair, sides] : keys)
      joins[pair] = pairs_of({*trees_[pair.first].plan, std::move(sides.first)},
                             {*trees_[pair.second].plan, std::move(sides.second)});
    return joins;
  }

  // The two smallest ones.
  Pair smallest() const {
    std::vector<size_t> order(trees_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::partial_sort(order.begin(), order.begin() + 2, order.end(), [&](size_t a, size_t b) {
      return trees_[a].plan->estimated_rows < trees_[b].plan->estimated_rows;
    });
    return std::minmax(order[0], order[1]);
  }

  // The two trees whose join has the fewest rows become one, in the place of the first; all pairs of two only where no
  // two have a key.
  void join_best() {
    const std::map<Pair, double> joins = estimated_joins();
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const Pair best = joins.empty() ? smallest() : std::min_element(joins.begin(), joins.end(), fewer)->first;
    trees_[best.first] = join(std::move(trees_[best.first]), std::move(trees_[best.second]));
    trees_.erase(trees_.begin() + static_cast<ptrdiff_t>(best.second));
  }

  // The smaller one is put into an index.
  Tree join(Tree probe, Tree build) {
    if (build.plan->estimated_rows > probe.plan->estimated_rows) std::swap(probe, build);
    auto op = std::make_unique<LogicalOperator>();
    op->kind = OperatorKind::Join;
    add_keys(*op, probe, build);
    Tree joined{nullptr, probe.leaves | build.leaves};
    op->columns = probe.plan->columns;
    op->columns.insert(op->columns.end(), build.plan->columns.begin(), build.plan->columns.end());
    op->inputs.push_back(std::move(probe.plan));
    op->inputs.push_back(std::move(build.plan));
    std::vector<ExpressionPtr> others;
    for (Condition& condition : conditions_)
      if (condition.expression && condition.leaves.any() && is_within(condition.leaves, joined.leaves))
        others.push_back(std::move(condition.expression));
    if (!others.empty()) op->predicate = all_of(std::move(others));
    estimate_from_inputs(*op);
    joined.plan = std::move(op);
    return joined;
  }

  void add_keys(LogicalOperator& op, const Tree& probe, const Tree& build) {
    for (Condition& condition : conditions_) {
      if (!is_key(condition, probe, build)) continue;
      std::vector<ExpressionPtr> sides = std::move(condition.expression->args);
      condition.expression.reset();
      if (!is_within(condition.left, probe.leaves)) std::swap(sides[0], sides[1]);
      op.probe_keys.push_back(std::move(sides[0]));
      op.build_keys.push_back(std::move(sides[1]));
    }
  }

  // With the conditions that no row decides on top.
  LogicalOperatorPtr in_columns_of_text(Tree tree) {
    std::vector<ExpressionPtr> left;
    for (Condition& condition : conditions_)
      if (condition.expression) left.push_back(std::move(condition.expression));
    LogicalOperatorPtr plan = std::move(tree.plan);
    if (!left.empty()) plan = filter(std::move(plan), all_of(std::move(left)));
    auto project = std::make_unique<LogicalOperator>();
    project->kind = OperatorKind::Project;
    project->columns = std::move(columns_);
    for (const BoundColumn& column : project->columns)
      project->expressions.push_back(column_expression(column.id, column.type));
    project->inputs.push_back(std::move(plan));
    return project;
  }

  std::vector<BoundColumn> columns_;
  std::vector<LogicalOperatorPtr> leaves_;
  std::vector<std::pair<ColumnId, size_t>> leaf_by_column_;  // by the first
  std::vector<Condition> conditions_;
  std::vector<Tree> trees_;
};

// Joins in the order of their sizes, whatever the text's: of all pairs of what is there, the two whose join is expected
// to have the fewest rows (greedy operator ordering: Fegaras, DEXA 1998), until all are one. Conditions of one table
// come to stand on it, and where they bound a key on the tables that have it, too; those of several on the first join
// that has their columns; equalities become keys, and the smaller side of a join is the one that is put into an index.
//
//   Filter a.k = b.k AND b.x > 5        Project a's columns, b's columns
//   └ Join all pairs                ->  └ Join (a.k = b.k)
//     └ Scan a                            └ Scan a
//     └ Scan b                            └ Filter b.x > 5
//                                           └ Scan b
class OrderJoins : public Rule {
 public:
  const char* name() const override { return "order_joins"; }

  void apply(LogicalOperatorPtr& plan, Evaluator& evaluator) const override { order(plan, evaluator); }

 private:
  // Conditions go on into the queries that are joined, whose own joins they may put into another order.
  void order(LogicalOperatorPtr& plan, Evaluator& evaluator) const {
    if (!JoinedRows::joins(*plan)) {
      for (LogicalOperatorPtr& input : plan->inputs) order(input, evaluator);
      return;
    }
    for_each_operator(plan, [](LogicalOperatorPtr& op) { op->is_joined = op->kind == OperatorKind::Scan; });
    JoinedRows rows(std::move(plan));
    plan = rows.in_order([&](LogicalOperatorPtr& leaf) {
      for (const auto& rule : of_conditions_) rule->apply(leaf, evaluator);
      order(leaf, evaluator);
    });
  }

  const std::vector<std::unique_ptr<Rule>> of_conditions_ = make_rules_of_conditions();
};

}  // namespace

std::unique_ptr<Rule> make_order_joins() { return std::make_unique<OrderJoins>(); }

}  // namespace diptych
