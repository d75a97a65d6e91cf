// The optimiser: rules, each in a file of its own under plan/rules/, applied in a fixed order. Every rule keeps the
// plan's meaning.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bind/logical_operator.h"
#include "plan/evaluator.h"

namespace diptych {

class Rule {
 public:
  virtual ~Rule() = default;
  virtual const char* name() const = 0;
  virtual void apply(LogicalOperatorPtr& plan, Evaluator& evaluator) const = 0;
};

// All rules in the order they are applied.
const std::vector<std::unique_ptr<Rule>>& optimizer_rules();

LogicalOperatorPtr optimize(LogicalOperatorPtr plan, Evaluator& evaluator);

// Calls visit(ExpressionPtr&) on every node of the expression but parameters, arguments before what uses them.
template <typename Visit>
void rewrite_bottom_up(ExpressionPtr& expression, Visit&& visit) {
  if (expression->kind == ExpressionKind::Parameter) return;
  for (ExpressionPtr& argument : expression->args) rewrite_bottom_up(argument, visit);
  visit(expression);
}

// Calls visit(ExpressionPtr&) on the root of every expression in the plan.
template <typename Visit>
void for_each_expression_in_plan(LogicalOperator& plan, Visit&& visit) {
  for_each_expression(plan, visit);
  for (LogicalOperatorPtr& input : plan.inputs) for_each_expression_in_plan(*input, visit);
}

}  // namespace diptych
