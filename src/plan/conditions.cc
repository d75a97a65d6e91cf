#include "plan/conditions.h"

#include <utility>

namespace diptych {

void take_conditions(ExpressionPtr condition, std::vector<ExpressionPtr>& conditions) {
  if (condition->kind != ExpressionKind::And) return conditions.push_back(std::move(condition));
  for (ExpressionPtr& part : condition->args) take_conditions(std::move(part), conditions);
}

ExpressionPtr all_of(std::vector<ExpressionPtr> conditions) {
  if (conditions.size() == 1) return std::move(conditions.front());
  auto all = std::make_unique<Expression>();
  all->kind = ExpressionKind::And;
  all->type = {TypeId::Boolean};
  all->position = conditions.front()->position;
  all->args = std::move(conditions);
  return all;
}

}  // namespace diptych
