#include "session/parameters.h"

#include "base/error.h"
#include "base/stack.h"
#include "bind/literal.h"
#include "sql/scanner.h"

namespace diptych {

namespace {

Value cast_value(const Value& value, const Type& type, Evaluator& evaluator) {
  if (value.is_null()) return Value::null(type);
  if (value.type() == type) return value;
  // As the cast would, without a program.
  if (value.type().is_number() && type.is_number())
    if (auto converted = convert_number(value, type)) return std::move(*converted);
  if (value.type().is_string() && (type.is_number() || type.is_temporal()))
    return read_literal(value.as_string(), type);
  auto constant = std::make_unique<Expression>();
  constant->type = value.type();
  constant->value = value;
  Expression cast;
  cast.kind = ExpressionKind::Cast;
  cast.type = type;
  cast.args.push_back(std::move(constant));
  return evaluator.evaluate_constant(cast);
}

template <typename Visit>
void for_each_parameter_in_query(LogicalOperatorPtr& query, Visit&& visit) {
  const auto visit_in = [&](LogicalOperatorPtr& op) {
    for_each_expression(*op, [&](ExpressionPtr& expression) {
      for_each_parameter(*expression, [&](Expression& parameter) { visit(*op, expression, parameter); });
    });
  };
  run_at_depth(query->depth, [&] { for_each_operator(query, visit_in); });
}

}  // namespace

std::vector<Value> typed_values(const std::vector<Type>& types, const std::vector<Value>& values,
                                Evaluator& evaluator) {
  std::vector<Value> typed;
  for (size_t i = 0; i < types.size(); ++i) typed.push_back(cast_value(values[i], types[i], evaluator));
  return typed;
}

std::vector<bool> parameters_of_plan(LogicalOperatorPtr& query, const std::vector<Type>& types) {
  std::vector<bool> of_plan;
  for (const Type& type : types) of_plan.push_back(type.id == TypeId::Boolean);
  if (types.empty()) return of_plan;
  for_each_parameter_in_query(
      query, [&](const LogicalOperator& op, const ExpressionPtr& expression, const Expression& parameter) {
        if (op.kind == OperatorKind::Scan || &expression == &op.limit_rows || &expression == &op.offset_rows)
          of_plan[static_cast<size_t>(parameter.index)] = true;
      });
  return of_plan;
}

void put_values(LogicalOperatorPtr& query, const std::vector<Value>& values, const std::vector<bool>& of_plan) {
  if (values.empty()) return;
  for_each_parameter_in_query(query, [&](const LogicalOperator&, const ExpressionPtr&, Expression& parameter) {
    const auto number = static_cast<size_t>(parameter.index);
    parameter.value = values[number];
    if (!of_plan[number] && !values[number].is_null()) return;
    parameter.kind = ExpressionKind::Constant;
    parameter.index = 0;
  });
}

void replace_parameters(LogicalOperatorPtr& query, const std::vector<Value>& values) {
  put_values(query, values, std::vector<bool>(values.size(), true));
}

void check_text(std::string_view text) {
  try {
    check_utf8(text);
  } catch (const Error& error) {
    throw Error(error.state(), error.message());  // without its position, which is not in the statement
  }
}

}  // namespace diptych
