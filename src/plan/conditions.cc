#include "plan/conditions.h"

#include <algorithm>
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

bool cannot_fail(const Expression& condition) {
  const auto all_cannot = [&] {
    return std::all_of(condition.args.begin(), condition.args.end(), [](auto& arg) { return cannot_fail(*arg); });
  };
  if (is_comparison(condition.kind)) return all_cannot();
  switch (condition.kind) {
    case ExpressionKind::Constant:
    case ExpressionKind::Parameter:
    case ExpressionKind::Column: return true;
    case ExpressionKind::IsDistinct:
    case ExpressionKind::IsNotDistinct:
    case ExpressionKind::And:
    case ExpressionKind::Or:
    case ExpressionKind::Not:
    case ExpressionKind::IsNull:
    case ExpressionKind::IsNotNull:
    case ExpressionKind::In: return all_cannot();
    default: return false;
  }
}

}  // namespace diptych
