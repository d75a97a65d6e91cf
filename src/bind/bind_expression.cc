#include <algorithm>
#include <utility>

#include "base/error.h"
#include "bind/expression_binder.h"
#include "bind/literal.h"
#include "kernel/kernel.h"

namespace diptych {

namespace {

constexpr int64_t microseconds_per_day = 86'400'000'000;
constexpr int max_parameters = 65535;  // PostgreSQL's limit
// Half a gigabyte of expressions. Copies of copies double with every level: 40 levels would take any memory.
constexpr size_t most_copied_nodes = 2'000'000;

size_t node_count(const Expression& e) {
  size_t count = 1;
  for (const ExpressionPtr& arg : e.args) count += node_count(*arg);
  return count;
}

// What interval second(2) and the like say in the modifiers of the type: the fields, a bit each, and the digits of
// seconds.
struct IntervalForm {
  int32_t fields = DK_FIELD_ALL;
  int32_t digits = 6;
};

IntervalForm interval_form(const syntax::TypeName& type) {
  IntervalForm form;
  if (!type.modifiers.empty()) form.fields = type.modifiers[0];
  if (type.modifiers.size() > 1) form.digits = type.modifiers[1];
  if (form.digits < 0) {
    throw Error(SqlState::invalid_parameter_value,
                "INTERVAL(" + std::to_string(form.digits) + ") precision must not be negative", type.position);
  }
  return form;
}

// The interval cut to the fields and rounded to the digits.
ExpressionPtr fit_interval(ExpressionPtr e, const IntervalForm& form) {
  auto call = make_expression(ExpressionKind::Call, {TypeId::Interval}, e->position);
  const int position = e->position;
  call->function = FunctionId::fit_interval;
  call->args.push_back(std::move(e));
  call->args.push_back(make_constant(Value::integer(form.fields), position));
  call->args.push_back(make_constant(Value::integer(form.digits), position));
  return call;
}

size_t characters_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Whether what has no type yet is of the length of the others' type, too, and so need not take it away.
bool all_of_length(const std::vector<ExpressionPtr*>& list, const Type& type) {
  return std::all_of(list.begin(), list.end(), [&](const ExpressionPtr* e) {
    if (!is_unknown(**e) || is_null_constant(**e)) return true;
    return type.id == TypeId::Char && is_constant(**e) && characters_of((*e)->value.as_string()) == type.length;
  });
}

// The type of NULLIF: that of its left side as the operator = takes it.
Type nullif_type(const Type& left, const Type& right) {
  if (left.is_string() && right.is_string()) {
    if (left.id == TypeId::Char) return right.id == TypeId::Text ? Type{TypeId::Text} : left;
    return Type{left.id == TypeId::Varchar && right.id == TypeId::Char ? TypeId::Char : TypeId::Text};
  }
  if (left.is_integer() && right.id == TypeId::Numeric) return numeric_form(left);
  const bool exact = left.is_integer() || left.id == TypeId::Numeric;
  return exact && right.is_float() ? Type{TypeId::Double} : left;
}

}  // namespace

Type unify_types(std::vector<ExpressionPtr*>& list, const char* what, ParameterTypes& parameters) {
  Type common;
  for (ExpressionPtr* e : list) {
    Type type = (*e)->type;
    if (is_constant(**e) && type.is_integer() && common.id == TypeId::Numeric && !(*e)->value.is_null())
      type = least_numeric((*e)->value);
    const std::optional<Type> both = common_type(common, type);
    if (!both) {
      throw Error(SqlState::datatype_mismatch,
                  std::string(what) + " types " + common.name() + " and " + (*e)->type.name() + " cannot be matched",
                  (*e)->position);
    }
    common = *both;
  }
  if (common.id == TypeId::Null) common = {TypeId::Text};
  if (common.length != 0 && !all_of_length(list, common)) common.length = 0;
  for (ExpressionPtr* e : list) {
    const bool is_literal = is_unknown(**e) && is_constant(**e) && !is_null_constant(**e);
    // A literal among numerics keeps its own digits.
    if (common.id == TypeId::Numeric && is_literal) {
      *e = coerce(std::move(*e), unconstrained_numeric, CastContext::Implicit, parameters);
      common = union_numeric(common, (*e)->type);
    }
  }
  for (ExpressionPtr* e : list) *e = coerce(std::move(*e), common, CastContext::Implicit, parameters);
  return common;
}

Type ExpressionBinder::unify(std::vector<ExpressionPtr>& list, const char* what) {
  std::vector<ExpressionPtr*> pointers;
  for (ExpressionPtr& e : list) pointers.push_back(&e);
  return unify_types(pointers, what, state_.parameters);
}

void ExpressionBinder::note_copy(const Expression& e) {
  state_.copied_nodes += node_count(e);
  if (state_.copied_nodes > most_copied_nodes) {
    throw Error(SqlState::statement_too_complex, "the statement evaluates too much of itself several times", e.position,
                "BETWEEN, NULLIF and CASE with a value evaluate an operand several times, so nested ones multiply.");
  }
}

ExpressionPtr ExpressionBinder::copy_of(const Expression& e) {
  note_copy(e);
  return e.clone();
}

ExpressionPtr ExpressionBinder::bind(const syntax::Expression& e) {
  return std::visit([&](const auto& node) { return bind_node(node, e.position); }, e.node);
}

std::vector<ExpressionPtr> ExpressionBinder::bind_all(const syntax::Expressions& list) {
  std::vector<ExpressionPtr> result;
  result.reserve(list.size());
  for (const syntax::ExpressionPtr& e : list) result.push_back(bind(*e));
  return result;
}

ExpressionPtr ExpressionBinder::bind_condition(const syntax::Expression& e) { return condition(bind(e), clause_); }

ExpressionPtr ExpressionBinder::condition(ExpressionPtr e, const char* where) {
  if (e->type.id == TypeId::Boolean) return e;
  if (!is_unknown(*e)) {
    throw Error(SqlState::datatype_mismatch,
                "argument of " + std::string(where) + " must be type boolean, not type " + e->type.name(), e->position);
  }
  return coerced(std::move(e), {TypeId::Boolean});
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::NullLiteral&, int position) {
  return make_constant(Value(), position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::BooleanLiteral& node, int position) {
  return make_constant(Value::boolean(node.value), position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::IntegerLiteral& node, int position) {
  return make_constant(Value::integer(node.value), position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::NumberLiteral& node, int position) {
  try {
    if (std::optional<Value> value = read_number(node.digits)) return make_constant(std::move(*value), position);
    return make_long_number(node.digits, position);
  } catch (const Error& error) {
    throw error.at(position);
  }
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::StringLiteral& node, int position) {
  return make_unknown(node.text, position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::ColumnName& node, int position) {
  return scope_.resolve(node, position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Star& node, int position) {
  if (!node.qualifier.empty())
    throw Error(SqlState::feature_not_supported, "a row as a value is not supported yet", position);
  throw Error(SqlState::syntax_error, "* is only allowed as an item of SELECT and in count(*)", position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Parameter& node, int position) {
  if (node.number < 1 || node.number > max_parameters) {
    throw Error(SqlState::undefined_parameter, "there is no parameter $" + std::to_string(node.number), position);
  }
  const auto index = static_cast<size_t>(node.number - 1);
  if (state_.parameters.size() <= index) state_.parameters.resize(index + 1);
  auto result = make_expression(ExpressionKind::Parameter, state_.parameters[index], position);
  result->index = static_cast<int32_t>(index);
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Logical& node, int position) {
  using Kind = syntax::Logical::Kind;
  const char* name = node.kind == Kind::And ? "AND" : node.kind == Kind::Or ? "OR" : "NOT";
  const ExpressionKind kind = node.kind == Kind::And  ? ExpressionKind::And
                              : node.kind == Kind::Or ? ExpressionKind::Or
                                                      : ExpressionKind::Not;
  auto result = make_expression(kind, {TypeId::Boolean}, position);
  for (const syntax::ExpressionPtr& arg : node.args) result->args.push_back(condition(bind(*arg), name));
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::IsTest& node, int position) {
  using Kind = syntax::IsTest::Kind;
  ExpressionKind kind = node.negated ? ExpressionKind::IsNotNull : ExpressionKind::IsNull;
  if (node.kind == Kind::True) kind = node.negated ? ExpressionKind::IsNotTrue : ExpressionKind::IsTrue;
  if (node.kind == Kind::False) kind = node.negated ? ExpressionKind::IsNotFalse : ExpressionKind::IsFalse;
  ExpressionPtr arg = bind(*node.arg);
  const char* name = node.kind == Kind::True ? "IS TRUE" : node.kind == Kind::False ? "IS FALSE" : "IS UNKNOWN";
  arg = node.kind == Kind::Null ? settled(std::move(arg)) : condition(std::move(arg), name);
  auto result = make_expression(kind, {TypeId::Boolean}, position);
  result->args.push_back(std::move(arg));
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Case& node, int position) {
  ExpressionPtr subject = node.subject ? settled(bind(*node.subject)) : nullptr;
  std::vector<ExpressionPtr> conditions, values;
  for (const syntax::Case::Branch& branch : node.branches) {
    ExpressionPtr when = bind(*branch.when);
    const int place = when->position;
    if (subject && !conditions.empty()) note_copy(*subject);
    conditions.push_back(subject ? compare(ExpressionKind::Eq, "=", subject->clone(), std::move(when), place)
                                 : condition(std::move(when), "CASE/WHEN"));
    values.push_back(bind(*branch.then));
  }
  // The type of ELSE counts first.
  values.insert(values.begin(), node.otherwise ? bind(*node.otherwise) : make_constant(Value(), position));
  auto result = make_expression(ExpressionKind::Case, unify(values, "CASE"), position);
  for (size_t i = 0; i < conditions.size(); ++i) {
    result->args.push_back(std::move(conditions[i]));
    result->args.push_back(std::move(values[i + 1]));
  }
  result->args.push_back(std::move(values.front()));
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Coalesce& node, int position) {
  auto result = make_expression(ExpressionKind::Coalesce, {}, position);
  result->args = bind_all(node.args);
  result->type = unify(result->args, "COALESCE");
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::NullIf& node, int position) {
  ExpressionPtr left = bind(*node.left);
  ExpressionPtr right = bind(*node.right);
  // A literal takes the other side's type before it is compared and given back.
  settle_operands(left, right);
  const Type right_type = right->type;
  ExpressionPtr equal = compare(ExpressionKind::Eq, "=", left->clone(), std::move(right), position);
  const Type type = nullif_type(left->type, right_type);
  left = coerced(std::move(left), type);
  if (equal->kind == ExpressionKind::Eq && left->equals(*equal->args[0])) {
    equal->kind = ExpressionKind::NullIf;
    equal->type = type;
    return equal;
  }
  note_copy(*left);
  auto result = make_expression(ExpressionKind::Case, type, position);
  result->args.push_back(std::move(equal));
  result->args.push_back(make_constant(Value::null(type), position));
  result->args.push_back(std::move(left));
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::MinMax& node, int position) {
  auto result = make_expression(node.greatest ? ExpressionKind::Greatest : ExpressionKind::Least, {}, position);
  result->args = bind_all(node.args);
  result->type = unify(result->args, node.greatest ? "GREATEST" : "LEAST");
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Cast& node, int position) {
  const Type to = type_of(node.type);
  ExpressionPtr arg = bind(*node.arg);
  const bool is_literal = is_unknown(*arg) && is_constant(*arg) && !is_null_constant(*arg);
  const bool has_form = to.id == TypeId::Interval && !node.type.modifiers.empty();
  try {
    // Only in a literal do the fields say what a number without a unit is.
    if (has_form && is_literal) {
      const IntervalForm form = interval_form(node.type);
      return make_constant(read_interval(arg->value.as_string(), form.fields, form.digits), arg->position);
    }
    ExpressionPtr result = coerce(std::move(arg), to, CastContext::Explicit, state_.parameters);
    return has_form ? fit_interval(std::move(result), interval_form(node.type)) : std::move(result);
  } catch (const Error& error) {
    if (error.position() < 0) throw error.at(position);
    if (error.state() != SqlState::cannot_coerce) throw;
    throw Error(error.state(), error.message(), position >= 0 ? position : error.position(), error.hint());
  }
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Collate& node, int position) {
  ExpressionPtr arg = bind(*node.arg);
  if (is_unknown(*arg) || arg->type.is_string()) return arg;
  throw Error(SqlState::datatype_mismatch, "collations are not supported by type " + arg->type.name(), position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::CurrentTime& node, int position) {
  state_.reads_clock = true;
  const int64_t now = state_.context.now;
  if (node.kind == syntax::CurrentTime::Kind::Timestamp)
    return make_constant(Value::integral({TypeId::Timestamp}, now), position);
  const int64_t days = now / microseconds_per_day - (now % microseconds_per_day < 0 ? 1 : 0);
  return make_constant(Value::integral({TypeId::Date}, days), position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Default&, int position) {
  throw Error(SqlState::syntax_error, "DEFAULT is not allowed in this context", position);
}

}  // namespace diptych
