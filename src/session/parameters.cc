#include "session/parameters.h"

#include "base/error.h"
#include "base/stack.h"
#include "sql/scanner.h"

namespace diptych {

namespace {

Value cast_value(const Value& value, const Type& type, Evaluator& evaluator) {
  if (value.is_null()) return Value::null(type);
  if (value.type() == type) return value;
  auto constant = std::make_unique<Expression>();
  constant->type = value.type();
  constant->value = value;
  Expression cast;
  cast.kind = ExpressionKind::Cast;
  cast.type = type;
  cast.args.push_back(std::move(constant));
  return evaluator.evaluate_constant(cast);
}

void replace(ExpressionPtr& expression, const std::vector<Value>& values) {
  for (ExpressionPtr& argument : expression->args) replace(argument, values);
  if (expression->kind != ExpressionKind::Parameter) return;
  expression->kind = ExpressionKind::Constant;
  expression->value = values[static_cast<size_t>(expression->index)];
}

}  // namespace

void replace_parameters(LogicalOperatorPtr& query, const std::vector<Type>& types, const std::vector<Value>& values,
                        Evaluator& evaluator) {
  if (types.empty()) return;
  std::vector<Value> typed;
  for (size_t i = 0; i < types.size(); ++i) typed.push_back(cast_value(values[i], types[i], evaluator));
  const auto replace_in = [&](LogicalOperatorPtr& op) {
    for_each_expression(*op, [&](ExpressionPtr& expression) { replace(expression, typed); });
  };
  run_at_depth(query->depth, [&] { for_each_operator(query, replace_in); });
}

void check_text(std::string_view text) {
  try {
    check_utf8(text);
  } catch (const Error& error) {
    throw Error(error.state(), error.message());  // without its position, which is not in the statement
  }
}

}  // namespace diptych
