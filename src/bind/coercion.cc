#include "bind/coercion.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "bind/literal.h"

namespace diptych {

namespace {

// What a cast to numeric without precision gives: the scale stays; what has none gets that of a column.
Type constrained(const Type& from, const Type& to) {
  if (to.id != TypeId::Numeric || to.precision != 0) return to;
  if (from.is_integer() || (from.id == TypeId::Numeric && from.precision != 0)) return numeric_form(from);
  return column_numeric;
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

ExpressionPtr make_cast(ExpressionPtr e, Type to) {
  auto cast = make_expression(ExpressionKind::Cast, to, e->position);
  cast->args.push_back(std::move(e));
  return cast;
}

ExpressionPtr make_call(FunctionId function, ExpressionPtr arg, Type type) {
  auto call = make_expression(ExpressionKind::Call, type, arg->position);
  call->function = function;
  call->args.push_back(std::move(arg));
  return call;
}

// Storing into varchar(n) or char(n) raises where a cast cuts.
ExpressionPtr cast_string(ExpressionPtr e, Type to, CastContext context) {
  const bool always_fits =
      to.length == 0 || (e->type.id == to.id && e->type.length != 0 && e->type.length <= to.length);
  if (context != CastContext::Assignment || always_fits) return make_cast(std::move(e), to);
  return make_call(to.id == TypeId::Char ? FunctionId::assign_text_char : FunctionId::assign_text_varchar, std::move(e),
                   to);
}

ExpressionPtr cast_typed(ExpressionPtr e, Type to, CastContext context) {
  if (to.is_string()) {
    if (!e->type.is_string()) e = make_cast(std::move(e), {TypeId::Text});
    if (e->type.id == TypeId::Char && to.id != TypeId::Char) e = without_blanks(std::move(e));
    if (e->type.id == TypeId::Char && to.id == TypeId::Char && to.length == 0) e = with_blanks(std::move(e));
    return e->type == to ? std::move(e) : cast_string(std::move(e), to, context);
  }
  if (is_constant(*e) && e->type.is_number() && to.is_number()) {
    if (std::optional<Value> value = convert_number(e->value, to)) return make_constant(std::move(*value), e->position);
  }
  // integer to numeric(10,0) to numeric(11,1) is one cast when neither can fail.
  const bool is_widened_integer = e->kind == ExpressionKind::Cast && e->type.id == TypeId::Numeric &&
                                  e->args[0]->type.is_integer() && e->type == numeric_form(e->args[0]->type);
  if (is_widened_integer && to.id == TypeId::Numeric && to.precision - to.scale >= e->type.precision)
    e = std::move(e->args[0]);
  return make_cast(std::move(e), to);
}

ExpressionPtr literal_as(ExpressionPtr e, Type to, CastContext context) {
  std::string text = e->value.as_string();
  if (to.id == TypeId::Varchar || to.id == TypeId::Char) {
    if (to.length == 0) return make_constant(Value::string(to, std::move(text)), e->position);
    return cast_typed(make_constant(Value::text(std::move(text)), e->position), to, context);
  }
  try {
    return make_constant(read_literal(text, to), e->position);
  } catch (const Error& error) {
    throw error.at(e->position);
  }
}

// A literal of more than 38 digits is a floating-point number where one is asked for. A cast may round its places off.
ExpressionPtr long_number_as(const ExpressionPtr& e, Type to, CastContext context) {
  const std::string& text = e->value.as_string();
  try {
    if (to.is_float()) return make_constant(read_literal(text, to), e->position);
    const bool rounds = to.is_integer() || (to.id == TypeId::Numeric && to.precision != 0);
    if (context == CastContext::Implicit || !rounds) refuse_long_number(text);
    const Type whole = Type::numeric(max_precision, 0);
    if (to.id == TypeId::Numeric) return make_constant(read_literal(text, to), e->position);
    return cast_typed(make_constant(read_literal(text, whole), e->position), to, context);
  } catch (const Error& error) {
    throw error.at(e->position);
  }
}

ExpressionPtr parameter_as(ExpressionPtr e, Type to, CastContext context, ParameterTypes& parameters) {
  Type& known = parameters[static_cast<size_t>(e->index)];
  if (known.id == TypeId::Null) {
    known = to.id == TypeId::Numeric && to.precision == 0 ? column_numeric : to;
    known.length = 0;  // a value that is too long is seen where it is stored
  }
  e->type = known;
  return coerce(std::move(e), to, context, parameters);
}

}  // namespace

ExpressionPtr make_expression(ExpressionKind kind, Type type, int position) {
  auto result = std::make_unique<Expression>();
  result->kind = kind;
  result->type = type;
  result->position = position;
  return result;
}

ExpressionPtr make_constant(Value value, int position) {
  auto result = make_expression(ExpressionKind::Constant, value.type(), position);
  result->value = std::move(value);
  return result;
}

ExpressionPtr make_unknown(std::string text, int position) {
  auto result = make_constant(Value::text(std::move(text)), position);
  result->type = {TypeId::Null};
  return result;
}

ExpressionPtr make_long_number(std::string digits, int position) {
  auto result = make_constant(Value::text(std::move(digits)), position);
  result->type = unconstrained_numeric;
  return result;
}

bool is_long_number(const Expression& e) {
  return is_constant(e) && e.type == unconstrained_numeric && !e.value.is_null();
}

ExpressionPtr coerce(ExpressionPtr e, Type to, CastContext context, ParameterTypes& parameters) {
  if (is_long_number(*e)) return long_number_as(e, to, context);
  if (e->type == to) return e;
  if (is_unknown(*e) && e->kind == ExpressionKind::Parameter)
    return parameter_as(std::move(e), to, context, parameters);
  if (is_null_constant(*e)) return make_constant(Value::null(constrained(e->type, to)), e->position);
  if (is_unknown(*e)) {
    check_invariant(is_constant(*e), "only literals and parameters have no type");
    return literal_as(std::move(e), to, context);
  }
  if (!is_castable(e->type.id, to.id, context)) {
    throw Error(SqlState::cannot_coerce, "cannot cast type " + e->type.name() + " to " + to.name(), e->position);
  }
  to = constrained(e->type, to);
  return e->type == to ? std::move(e) : cast_typed(std::move(e), to, context);
}

ExpressionPtr with_blanks(ExpressionPtr e) {
  if (e->type.id != TypeId::Char) return e;
  if (e->type.length == 0) return make_cast(std::move(e), {TypeId::Text});
  ExpressionPtr length = make_constant(Value::integer(static_cast<int32_t>(e->type.length)), e->position);
  ExpressionPtr result = make_call(FunctionId::rpad_text, std::move(e), {TypeId::Text});
  result->args.push_back(std::move(length));
  return result;
}

ExpressionPtr without_blanks(ExpressionPtr e) {
  const bool may_have_blanks = e->type.id == TypeId::Varchar || (e->type.id == TypeId::Char && e->type.length == 0);
  if (!may_have_blanks || is_null_constant(*e)) return e;
  if (!is_constant(*e)) return make_call(FunctionId::rtrim_text, std::move(e), {TypeId::Text});
  return make_constant(Value::text(without_trailing_blanks(e->value.as_string())), e->position);
}

ExpressionPtr settle(ExpressionPtr e, ParameterTypes& parameters) {
  if (is_long_number(*e)) return long_number_as(e, unconstrained_numeric, CastContext::Implicit);
  return is_unknown(*e) ? coerce(std::move(e), {TypeId::Text}, CastContext::Implicit, parameters) : std::move(e);
}

ExpressionPtr as_numeric(ExpressionPtr e, ParameterTypes& parameters) {
  if (e->type.id == TypeId::Numeric) return settle(std::move(e), parameters);
  const bool is_integer_constant = is_constant(*e) && e->type.is_integer() && !e->value.is_null();
  const Type to = is_integer_constant ? least_numeric(e->value) : unconstrained_numeric;
  return coerce(std::move(e), to, CastContext::Implicit, parameters);
}

}  // namespace diptych
