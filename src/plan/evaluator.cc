#include "plan/evaluator.h"

#include <algorithm>

#include "base/error.h"

namespace diptych {

void Evaluator::rely_on(const Expression& expression, std::optional<Value> value) {
  const bool is_known = std::any_of(facts_.begin(), facts_.end(),
                                    [&](const PlanFact& fact) { return fact.expression->equals(expression); });
  if (!is_known) facts_.push_back({expression.clone(), std::move(value)});
}

std::optional<Value> try_evaluate(const Expression& expression, Evaluator& evaluator) {
  try {
    return evaluator.evaluate_constant(expression);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace diptych
