#include "plan/rules/rules.h"

namespace diptych {

namespace {

// NOT moves towards the leaves, where it becomes the opposite comparison, so that conditions become single jumps.
//
//   NOT (a < b OR c IS NULL)   ->   a >= b AND c IS NOT NULL
//
// Holds in three-valued logic: the opposite of an unknown comparison is unknown.
class PushNotDown : public Rule {
 public:
  const char* name() const override { return "push_not_down"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    for_each_expression_in_plan(*plan, [](ExpressionPtr& root) {
      rewrite_bottom_up(root, [](ExpressionPtr& expression) {
        if (expression->kind == ExpressionKind::Not && negate(*expression->args.front())) {
          ExpressionPtr negated = std::move(expression->args.front());
          expression = std::move(negated);
        }
      });
    });
  }

 private:
  // Turns the expression into its negation in place; false when that takes a NOT around it.
  static bool negate(Expression& expression) {
    const ExpressionKind opposite = opposite_of(expression.kind);
    if (opposite != ExpressionKind::Constant) {
      expression.kind = opposite;
      return true;
    }
    if (expression.kind != ExpressionKind::And && expression.kind != ExpressionKind::Or) return false;
    expression.kind = expression.kind == ExpressionKind::And ? ExpressionKind::Or : ExpressionKind::And;
    for (ExpressionPtr& argument : expression.args) {
      if (argument->kind == ExpressionKind::Not) {
        ExpressionPtr inner = std::move(argument->args.front());
        argument = std::move(inner);
      } else if (!negate(*argument)) {
        auto wrapped = std::make_unique<Expression>();
        wrapped->kind = ExpressionKind::Not;
        wrapped->type = argument->type;
        wrapped->position = argument->position;
        wrapped->args.push_back(std::move(argument));
        argument = std::move(wrapped);
      }
    }
    return true;
  }

  // The kind that is true where `kind` is false and unknown where it is unknown; Constant when there is none.
  static ExpressionKind opposite_of(ExpressionKind kind) {
    switch (kind) {
      case ExpressionKind::Eq: return ExpressionKind::Neq;
      case ExpressionKind::Neq: return ExpressionKind::Eq;
      case ExpressionKind::Lt: return ExpressionKind::Ge;
      case ExpressionKind::Le: return ExpressionKind::Gt;
      case ExpressionKind::Gt: return ExpressionKind::Le;
      case ExpressionKind::Ge: return ExpressionKind::Lt;
      case ExpressionKind::IsDistinct: return ExpressionKind::IsNotDistinct;
      case ExpressionKind::IsNotDistinct: return ExpressionKind::IsDistinct;
      case ExpressionKind::IsNull: return ExpressionKind::IsNotNull;
      case ExpressionKind::IsNotNull: return ExpressionKind::IsNull;
      case ExpressionKind::IsTrue: return ExpressionKind::IsNotTrue;
      case ExpressionKind::IsNotTrue: return ExpressionKind::IsTrue;
      case ExpressionKind::IsFalse: return ExpressionKind::IsNotFalse;
      case ExpressionKind::IsNotFalse: return ExpressionKind::IsFalse;
      default: return ExpressionKind::Constant;
    }
  }
};

}  // namespace

std::unique_ptr<Rule> make_push_not_down() { return std::make_unique<PushNotDown>(); }

}  // namespace diptych
