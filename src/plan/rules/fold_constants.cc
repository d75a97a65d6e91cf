#include <algorithm>

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
//
// What reads parameters and no column becomes a parameter that is computed once a run; where its value decides what the
// plan is (a truth value, NULL), it becomes a constant, and the plan relies on it.
//
//   a > $1 + 5 AND $2 > 3   ->   a > ($1 + 5)     relies on ($2 > 3) being true
class FoldConstants : public Rule {
 public:
  const char* name() const override { return "fold_constants"; }

  void apply(LogicalOperatorPtr& plan, Evaluator& evaluator) const override {
    for_each_expression_in_plan(*plan, [&](ExpressionPtr& root) {
      if (fold(root, evaluator)) compute_in_run(root, evaluator);
    });
    drop_true_filters(plan);
  }

 private:
  // Whether the expression is over parameters alone, and is to be computed in a run: with what is around it, if that
  // reads no column either.
  static bool fold(ExpressionPtr& expression, Evaluator& evaluator) {
    if (expression->kind == ExpressionKind::Parameter) return true;
    // Parts that a CASE or COALESCE guards are tried, too: one whose value is an error stays as it is.
    std::vector<ExpressionPtr*> over_parameters;
    for (ExpressionPtr& argument : expression->args)
      if (fold(argument, evaluator)) over_parameters.push_back(&argument);
    if (!over_parameters.empty()) {
      const auto constants = std::count_if(expression->args.begin(), expression->args.end(),
                                           [](const ExpressionPtr& argument) { return is_constant(*argument); });
      if (over_parameters.size() + static_cast<size_t>(constants) == expression->args.size()) return true;
      for (ExpressionPtr* argument : over_parameters) compute_in_run(*argument, evaluator);
    }
    fold_with_arguments(expression, evaluator);
    return false;
  }

  // The arguments are what they come to.
  static void fold_with_arguments(ExpressionPtr& expression, Evaluator& evaluator) {
    if (expression->kind == ExpressionKind::And || expression->kind == ExpressionKind::Or) simplify_logic(expression);
    if (is_constant(*expression) || expression->args.empty() || expression->kind == ExpressionKind::Parameter) return;
    if (is_null_whatever(*expression)) return replace(expression, Value::null(expression->type));
    if (expression->kind == ExpressionKind::NullIf &&
        std::any_of(expression->args.begin(), expression->args.end(), is_null)) {
      ExpressionPtr first = std::move(expression->args.front());
      expression = std::move(first);
      return;
    }
    if (!std::all_of(expression->args.begin(), expression->args.end(), [](auto& arg) { return is_constant(*arg); }))
      return;
    if (auto value = try_evaluate(*expression, evaluator)) replace(expression, std::move(*value));
  }

  // A parameter of the statement stays as it is: the key of a plan says whether it is NULL, and truth values are no
  // parameters of a plan.
  static void compute_in_run(ExpressionPtr& expression, Evaluator& evaluator) {
    if (expression->kind == ExpressionKind::Parameter) return;
    put_computed(expression);
    std::optional<Value> value = try_evaluate(*expression, evaluator);
    if (!value) return compute_parts(expression, evaluator);
    if (value->is_null() || expression->type.id == TypeId::Boolean) {
      evaluator.rely_on(*expression, value);
      return replace(expression, std::move(*value));
    }
    auto parameter = std::make_unique<Expression>();
    parameter->kind = ExpressionKind::Parameter;
    parameter->type = expression->type;
    parameter->position = expression->position;
    parameter->value = std::move(*value);
    parameter->args.push_back(std::move(expression));
    expression = std::move(parameter);
  }

  // Of one whose value is an error, which other parts of it may make needless.
  static void compute_parts(ExpressionPtr& expression, Evaluator& evaluator) {
    evaluator.rely_on(*expression, std::nullopt);
    for (ExpressionPtr& argument : expression->args)
      if (!is_constant(*argument)) compute_in_run(argument, evaluator);
    fold_with_arguments(expression, evaluator);
  }

  // In place of parameters that were made of a part before, what they are computed from.
  static void put_computed(ExpressionPtr& expression) {
    if (expression->kind == ExpressionKind::Parameter && !expression->args.empty()) {
      ExpressionPtr computed = std::move(expression->args.front());
      expression = std::move(computed);
      return;
    }
    for (ExpressionPtr& argument : expression->args) put_computed(argument);
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
