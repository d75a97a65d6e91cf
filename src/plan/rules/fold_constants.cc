#include <algorithm>

#include "base/error.h"
#include "plan/rules/rules.h"

namespace diptych {

namespace {

bool is_constant(const Expression& expression) { return expression.kind == ExpressionKind::Constant; }
bool is_null(const ExpressionPtr& expression) { return is_constant(*expression) && expression->value.is_null(); }

// What reads no column is computed once, here; TRUE and FALSE disappear from AND and OR, and what a NULL is computed
// with where that makes it NULL.
//
//   a > 60 - 20 AND true   ->   a > 40
//   a > NULL + b           ->   NULL
//
// An expression whose value is an error stays: it is raised when a row gets there, and only then.
class FoldConstants : public Rule {
 public:
  const char* name() const override { return "fold_constants"; }

  void apply(LogicalOperatorPtr& plan, Evaluator& evaluator) const override {
    for_each_expression_in_plan(*plan, [&](ExpressionPtr& root) { fold(root, evaluator); });
    drop_true_filters(plan);
  }

 private:
  static void fold(ExpressionPtr& expression, Evaluator& evaluator) {
    // Parts that a CASE or COALESCE guards are tried, too: one whose value is an error stays as it is.
    for (ExpressionPtr& argument : expression->args) fold(argument, evaluator);
    if (expression->kind == ExpressionKind::And || expression->kind == ExpressionKind::Or) simplify_logic(expression);
    if (is_constant(*expression) || expression->args.empty()) return;
    if (is_null_whatever(*expression)) return replace(expression, Value::null(expression->type));
    if (expression->kind == ExpressionKind::NullIf &&
        std::any_of(expression->args.begin(), expression->args.end(), is_null)) {
      ExpressionPtr first = std::move(expression->args.front());
      expression = std::move(first);
      return;
    }
    if (!std::all_of(expression->args.begin(), expression->args.end(), [](auto& arg) { return is_constant(*arg); }))
      return;
    replace_by_value(expression, evaluator);
  }

  // Whether a NULL among its arguments decides: then the others are not even computed, so that NULL = a / 0 is NULL.
  static bool is_null_whatever(const Expression& expression) {
    switch (expression.kind) {
      case ExpressionKind::Add:
      case ExpressionKind::Sub:
      case ExpressionKind::Mul:
      case ExpressionKind::Div:
      case ExpressionKind::Mod:
      case ExpressionKind::Eq:
      case ExpressionKind::Neq:
      case ExpressionKind::Lt:
      case ExpressionKind::Le:
      case ExpressionKind::Gt:
      case ExpressionKind::Ge:
      case ExpressionKind::Call:
      case ExpressionKind::Concat: return std::any_of(expression.args.begin(), expression.args.end(), is_null);
      case ExpressionKind::In: return is_null(expression.args.front());
      default: return false;
    }
  }

  static void replace_by_value(ExpressionPtr& expression, Evaluator& evaluator) {
    Value value;
    try {
      value = evaluator.evaluate_constant(*expression);
    } catch (const Error&) {
      return;  // the error belongs to the rows that reach it
    }
    replace(expression, std::move(value));
  }

  static void replace(ExpressionPtr& expression, Value value) {
    auto constant = std::make_unique<Expression>();
    constant->type = expression->type;
    constant->position = expression->position;
    constant->value = std::move(value);
    expression = std::move(constant);
  }

  static void simplify_logic(ExpressionPtr& expression) {
    const bool neutral = expression->kind == ExpressionKind::And;  // TRUE does nothing in AND, FALSE in OR
    auto& args = expression->args;
    const auto is_value = [](const ExpressionPtr& arg, bool value) {
      return is_constant(*arg) && !arg->value.is_null() && arg->value.as_boolean() == value;
    };
    const auto deciding = std::find_if(args.begin(), args.end(), [&](auto& arg) { return is_value(arg, !neutral); });
    if (deciding != args.end()) {
      ExpressionPtr decided = std::move(*deciding);
      expression = std::move(decided);
      return;
    }
    while (args.size() > 1) {
      const auto idle = std::find_if(args.begin(), args.end(), [&](auto& arg) { return is_value(arg, neutral); });
      if (idle == args.end()) break;
      args.erase(idle);
    }
    if (args.size() > 1) return;
    ExpressionPtr only = std::move(args.front());
    expression = std::move(only);
  }

  static void drop_true_filters(LogicalOperatorPtr& plan) {
    for (LogicalOperatorPtr& input : plan->inputs) drop_true_filters(input);
    if (plan->kind != OperatorKind::Filter || !is_constant(*plan->predicate)) return;
    if (plan->predicate->value.is_null() || !plan->predicate->value.as_boolean()) return;
    LogicalOperatorPtr input = std::move(plan->inputs.front());
    plan = std::move(input);
  }
};

}  // namespace

std::unique_ptr<Rule> make_fold_constants() { return std::make_unique<FoldConstants>(); }

}  // namespace diptych
