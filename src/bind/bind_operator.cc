#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "bind/expression_binder.h"
#include "bind/function_resolution.h"
#include "bind/literal.h"

namespace diptych {

namespace {

struct ComparisonKind {
  const char* symbol;
  ExpressionKind kind;
};

constexpr ComparisonKind comparisons[] = {
    {"=", ExpressionKind::Eq},  {"<>", ExpressionKind::Neq}, {"<", ExpressionKind::Lt},
    {"<=", ExpressionKind::Le}, {">", ExpressionKind::Gt},   {">=", ExpressionKind::Ge},
};

struct ArithmeticKind {
  const char* symbol;
  ExpressionKind kind;
  ArithmeticOperator op;
};

constexpr ArithmeticKind arithmetics[] = {
    {"+", ExpressionKind::Add, ArithmeticOperator::Add}, {"-", ExpressionKind::Sub, ArithmeticOperator::Sub},
    {"*", ExpressionKind::Mul, ArithmeticOperator::Mul}, {"/", ExpressionKind::Div, ArithmeticOperator::Div},
    {"%", ExpressionKind::Mod, ArithmeticOperator::Mod},
};

template <typename Table>
const auto* find_symbol(const Table& table, const std::string& symbol) {
  const auto found =
      std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.symbol == symbol; });
  return found == std::end(table) ? nullptr : &*found;
}

ArithmeticOperator arithmetic_of(ExpressionKind kind) {
  const auto found =
      std::find_if(std::begin(arithmetics), std::end(arithmetics), [&](const auto& row) { return row.kind == kind; });
  check_invariant(found != std::end(arithmetics), "the operation is arithmetic");
  return found->op;
}

ExpressionPtr make_binary(ExpressionKind kind, Type type, ExpressionPtr left, ExpressionPtr right, int position) {
  auto result = make_expression(kind, type, position);
  result->args.push_back(std::move(left));
  result->args.push_back(std::move(right));
  return result;
}

ExpressionPtr negated_if(bool negated, ExpressionPtr e) {
  if (!negated) return e;
  auto result = make_expression(ExpressionKind::Not, {TypeId::Boolean}, e->position);
  result->args.push_back(std::move(e));
  return result;
}

[[noreturn]] void no_operator(const std::string& symbol, const ExpressionPtr& left, const ExpressionPtr& right,
                              int position) {
  const std::string shown = left ? Type{left->type.id}.name() + " " + symbol + " " + Type{right->type.id}.name()
                                 : symbol + " " + Type{right->type.id}.name();
  throw Error(SqlState::undefined_function, "operator does not exist: " + shown, position,
              "No operator matches the given types. You might need to add explicit type casts.");
}

bool is_number_or_unknown(const Expression& e) { return e.type.is_number() || is_unknown(e); }

// A numeric of the same scale in a register of the same width; its precision does not matter then.
ExpressionPtr fit_numeric(ExpressionPtr e, const Type& to, ParameterTypes& parameters) {
  if (e->type.scale == to.scale && e->type.physical() == to.physical()) return e;
  return coerce(std::move(e), to, CastContext::Explicit, parameters);
}

// A product of more than 38 places after the point, rounded to 38.
ExpressionPtr rounded_product(ExpressionPtr left, ExpressionPtr right, int position, ParameterTypes& parameters) {
  auto result = make_expression(ExpressionKind::Call, Type::numeric(max_precision, max_precision), position);
  result->function = FunctionId::product_n128;
  for (ExpressionPtr* factor : {&left, &right}) {
    const Type wide = Type::numeric(max_precision, (*factor)->type.scale);
    result->args.push_back(fit_numeric(std::move(*factor), wide, parameters));
  }
  return result;
}

bool is_exact(const Type& type) { return type.is_number() && !type.is_float(); }

// No numeric has digits enough for the values of both.
bool exceeds_numeric(const Type& a, const Type& b) {
  if (!is_exact(a) || !is_exact(b) || (a.id != TypeId::Numeric && b.id != TypeId::Numeric)) return false;
  const Type x = numeric_form(a), y = numeric_form(b);
  return std::max(x.precision - x.scale, y.precision - y.scale) + std::max(x.scale, y.scale) > max_precision;
}

// The literal as a constant of the other side's type, when it loses nothing: the column then needs no cast.
bool convert_literal(ExpressionPtr& literal, const Type& type) {
  if (!is_constant(*literal) || is_long_number(*literal) || literal->value.is_null() || !literal->type.is_number() ||
      literal->type.is_float() || !type.is_number() || type.is_float())
    return false;
  std::optional<Value> value = convert_number(literal->value, type);
  if (value) literal = make_constant(std::move(*value), literal->position);
  return value.has_value();
}

// A string as it is compared with another: char without its trailing blanks, varchar without them beside char.
ExpressionPtr comparable_string(ExpressionPtr e, TypeId other) {
  const bool ignores_blanks = e->type.id == TypeId::Char || (e->type.id == TypeId::Varchar && other == TypeId::Char);
  return ignores_blanks ? without_blanks(std::move(e)) : std::move(e);
}

bool reads_column(const Expression& e) {
  return e.kind == ExpressionKind::Column ||
         std::any_of(e.args.begin(), e.args.end(), [](const ExpressionPtr& arg) { return reads_column(*arg); });
}

// A date as the timestamp it is compared as; anything else as it is.
ExpressionPtr comparable_date(ExpressionPtr e) {
  if (e->type.id != TypeId::Date) return e;
  auto result = make_expression(ExpressionKind::Call, {TypeId::Timestamp}, e->position);
  result->function = FunctionId::comparable_date;
  result->args.push_back(std::move(e));
  return result;
}

// Literals in quotes among exact numbers of which one is a numeric become numerics of their own digits.
void settle_numerics(const ExpressionPtr& value, std::vector<ExpressionPtr>& items, ParameterTypes& parameters) {
  bool any_numeric = value->type.id == TypeId::Numeric;
  if (!is_exact(value->type)) return;
  for (const ExpressionPtr& item : items) {
    if (!is_unknown(*item) && !is_exact(item->type)) return;
    any_numeric = any_numeric || item->type.id == TypeId::Numeric;
  }
  for (ExpressionPtr& item : items) {
    const bool is_literal = is_unknown(*item) && is_constant(*item) && !is_null_constant(*item);
    if (any_numeric && is_literal)
      item = coerce(std::move(item), unconstrained_numeric, CastContext::Implicit, parameters);
  }
}

// Exact numbers have none where a numeric would need more than 38 digits; a double among them is one for all.
bool have_common_type(const ExpressionPtr& value, const std::vector<ExpressionPtr>& items) {
  std::optional<Type> common = value->type;
  bool exceeds = false;
  for (const ExpressionPtr& item : items) {
    exceeds |= exceeds_numeric(*common, item->type);
    common = common_type(*common, item->type);
    if (!common) return false;
  }
  return !exceeds || !is_exact(*common);
}

// One of items[0..], each compared with the value: constants and parameters by one In, the others one by one.
ExpressionPtr one_of(ExpressionPtr value, std::vector<ExpressionPtr> items, int position) {
  auto in = make_expression(ExpressionKind::In, {TypeId::Boolean}, position);
  auto result = make_expression(ExpressionKind::Or, {TypeId::Boolean}, position);
  for (ExpressionPtr& item : items) {
    if (is_constant(*item) || item->kind == ExpressionKind::Parameter)
      in->args.push_back(std::move(item));
    else
      result->args.push_back(
          make_binary(ExpressionKind::Eq, {TypeId::Boolean}, value->clone(), std::move(item), position));
  }
  if (!in->args.empty()) {
    in->args.insert(in->args.begin(), std::move(value));
    result->args.push_back(std::move(in));
  }
  if (result->args.size() > 1) return result;
  ExpressionPtr only = std::move(result->args.front());
  return only;
}

constexpr const char* regular_expression_symbols[] = {"~", "~*", "!~", "!~*"};

// LIKE and its kin as operators, which is how PostgreSQL's grammar sees them.
struct LikeSymbol {
  const char* symbol;
  bool negated, ignore_case;
};

constexpr LikeSymbol like_symbols[] = {
    {"~~", false, false}, {"!~~", true, false}, {"~~*", false, true}, {"!~~*", true, true}};

}  // namespace

ExpressionPtr ExpressionBinder::bind_node(const syntax::Operator& node, int position) {
  if (node.args.size() == 1) return unary(node.symbol, bind(*node.args[0]), position);
  ExpressionPtr left = bind(*node.args[0]);
  ExpressionPtr right = bind(*node.args[1]);
  return binary(node.symbol, std::move(left), std::move(right), position);
}

ExpressionPtr ExpressionBinder::unary(const std::string& symbol, ExpressionPtr arg, int position) {
  if (symbol == "-" && is_unknown(*arg)) {
    // An interval could be meant as well as a number.
    throw Error(SqlState::ambiguous_function, "operator is not unique: - unknown", position,
                "Could not choose a best candidate operator. You might need to add explicit type casts.");
  }
  if (symbol == "-" || symbol == "+") {
    if (is_unknown(*arg)) arg = coerced(std::move(arg), {TypeId::Double});
    arg = settled(std::move(arg));
    if (arg->type.is_number() && symbol == "+") return arg;
    if (arg->type.is_number()) {
      auto result = make_expression(ExpressionKind::Negate, arg->type, position);
      result->args.push_back(std::move(arg));
      return result;
    }
  }
  std::vector<ExpressionPtr> args;
  args.push_back(std::move(arg));
  if (ExpressionPtr call = resolve_call(symbol, args, position, state_.parameters)) return call;
  no_operator(symbol, nullptr, args[0], position);
}

ExpressionPtr ExpressionBinder::binary(const std::string& symbol, ExpressionPtr left, ExpressionPtr right,
                                       int position) {
  if (const auto* comparison = find_symbol(comparisons, symbol)) {
    return compare(comparison->kind, symbol, std::move(left), std::move(right), position);
  }
  if (symbol == "||") return concatenate(std::move(left), std::move(right), position);
  if (const auto* like_symbol = find_symbol(like_symbols, symbol)) {
    std::vector<ExpressionPtr> args;
    args.push_back(std::move(left));
    args.push_back(std::move(right));
    return negated_if(like_symbol->negated, like(std::move(args), like_symbol->ignore_case, position));
  }
  const bool any_number = left->type.is_number() || right->type.is_number();
  if (find_symbol(arithmetics, symbol) && any_number && is_number_or_unknown(*left) && is_number_or_unknown(*right)) {
    return arithmetic(symbol, std::move(left), std::move(right), position);
  }
  if (std::find(std::begin(regular_expression_symbols), std::end(regular_expression_symbols), symbol) !=
      std::end(regular_expression_symbols)) {
    if (left->type.is_string() || is_unknown(*left))
      throw Error(SqlState::feature_not_supported, "regular expressions (" + symbol + ") are not supported yet",
                  position);
  }
  // A literal beside something typed is of its type, if there is such an operator.
  if (is_unknown(*left) != is_unknown(*right)) {
    ExpressionPtr& unknown = is_unknown(*left) ? left : right;
    const Type other = is_unknown(*left) ? right->type : left->type;
    if (has_overload(symbol, {other.id, other.id})) unknown = coerced(std::move(unknown), other);
  }
  std::vector<ExpressionPtr> args;
  args.push_back(std::move(left));
  args.push_back(std::move(right));
  const bool both_unknown = is_unknown(*args[0]) && is_unknown(*args[1]);
  if (both_unknown && !has_overload(symbol, {TypeId::Text, TypeId::Text})) {
    throw Error(SqlState::ambiguous_function, "operator is not unique: unknown " + symbol + " unknown", position,
                "Could not choose a best candidate operator. You might need to add explicit type casts.");
  }
  if (ExpressionPtr call = resolve_call(symbol, args, position, state_.parameters)) return call;
  no_operator(symbol, args[0], args[1], position);
}

ExpressionPtr ExpressionBinder::arithmetic(const std::string& symbol, ExpressionPtr left, ExpressionPtr right,
                                           int position) {
  const ExpressionKind kind = find_symbol(arithmetics, symbol)->kind;
  if (is_unknown(*left)) left = coerced(std::move(left), type_beside(right->type));
  if (is_unknown(*right)) right = coerced(std::move(right), type_beside(left->type));
  const Type l = left->type, r = right->type;
  if (l.is_float() || r.is_float()) {
    const Type type = l.id == TypeId::Real && r.id == TypeId::Real ? l : Type{TypeId::Double};
    if (kind == ExpressionKind::Mod) no_operator(symbol, left, right, position);
    return make_binary(kind, type, coerced(std::move(left), type), coerced(std::move(right), type), position);
  }
  if (l.id == TypeId::Numeric || r.id == TypeId::Numeric)
    return numeric_arithmetic(kind, std::move(left), std::move(right), position);
  const Type type{std::max(l.id, r.id)};
  return make_binary(kind, type, coerced(std::move(left), type), coerced(std::move(right), type), position);
}

ExpressionPtr ExpressionBinder::numeric_arithmetic(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right,
                                                   int position) {
  ParameterTypes& parameters = state_.parameters;
  left = as_numeric(std::move(left), parameters);
  right = as_numeric(std::move(right), parameters);
  if (kind == ExpressionKind::Mul && left->type.scale + right->type.scale > max_precision)
    return rounded_product(std::move(left), std::move(right), position, parameters);
  Type type = arithmetic_numeric(arithmetic_of(kind), left->type, right->type);
  const int widest = std::max({type.precision, left->type.precision, right->type.precision});
  if (widest > max_int64_precision && type.precision <= max_int64_precision) type.precision = max_int64_precision + 1;
  const bool common_scale = kind != ExpressionKind::Mul && kind != ExpressionKind::Div;
  for (ExpressionPtr* arg : {&left, &right}) {
    const int scale = common_scale ? type.scale : (*arg)->type.scale;
    const int digits = (*arg)->type.precision - (*arg)->type.scale + scale;
    const int width = type.precision > max_int64_precision ? std::max(digits, max_int64_precision + 1) : digits;
    *arg = fit_numeric(std::move(*arg), Type::numeric(std::min(width, max_precision), scale), parameters);
  }
  return make_binary(kind, type, std::move(left), std::move(right), position);
}

void ExpressionBinder::settle_operands(ExpressionPtr& left, ExpressionPtr& right) {
  if (is_unknown(*left) && is_unknown(*right)) left = settled(std::move(left));
  if (is_unknown(*left)) left = coerced(std::move(left), type_beside(right->type));
  if (is_unknown(*right)) right = coerced(std::move(right), type_beside(left->type));
}

bool ExpressionBinder::unify_for_comparison(ExpressionPtr& left, ExpressionPtr& right) {
  ParameterTypes& parameters = state_.parameters;
  settle_operands(left, right);
  const Type l = left->type, r = right->type;
  if (l.id == r.id && l.id != TypeId::Numeric && l.id != TypeId::Char) return true;
  if (l.is_string() && r.is_string()) {
    left = comparable_string(std::move(left), r.id);
    right = comparable_string(std::move(right), l.id);
    return true;
  }
  if (l.is_temporal() && r.is_temporal()) {
    left = comparable_date(std::move(left));
    right = comparable_date(std::move(right));
    return true;
  }
  if (!l.is_number() || !r.is_number()) return false;
  if (convert_literal(right, l) || convert_literal(left, r)) return true;
  if (l.is_float() || r.is_float() || (l.is_integer() && r.is_integer())) {
    const Type type = l.is_float() || r.is_float() ? Type{TypeId::Double} : Type{std::max(l.id, r.id)};
    left = coerced(std::move(left), type);
    right = coerced(std::move(right), type);
    return true;
  }
  left = as_numeric(std::move(left), parameters);
  right = as_numeric(std::move(right), parameters);
  const Type type = union_numeric(left->type, right->type);
  left = fit_numeric(std::move(left), type, parameters);
  right = fit_numeric(std::move(right), type, parameters);
  return true;
}

ExpressionPtr ExpressionBinder::compare(ExpressionKind kind, const std::string& symbol, ExpressionPtr left,
                                        ExpressionPtr right, int position) {
  settle_operands(left, right);
  if (exceeds_numeric(left->type, right->type) && !convert_literal(right, left->type) &&
      !convert_literal(left, right->type))
    return compare_wide(kind, std::move(left), std::move(right), position);
  if (!unify_for_comparison(left, right)) no_operator(symbol, left, right, position);
  return make_binary(kind, {TypeId::Boolean}, std::move(left), std::move(right), position);
}

// Numerics of which one has more digits after the point, and the other more before it, than fit into one type. With t,
// the finer one cut to the scale of the other, a < b is a < t or (a = t and t < b), and so on for the other operators.
ExpressionPtr ExpressionBinder::compare_wide(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right,
                                             int position) {
  ParameterTypes& parameters = state_.parameters;
  left = as_numeric(std::move(left), parameters);
  right = as_numeric(std::move(right), parameters);
  const bool left_is_finer = left->type.scale > right->type.scale;
  const Expression& finer = left_is_finer ? *left : *right;
  std::vector<ExpressionPtr> args;
  args.push_back(copy_of(finer));
  args.push_back(make_constant(Value::integer(std::min(left->type.scale, right->type.scale)), position));
  const ExpressionPtr cut = resolve_call("trunc", args, position, parameters);
  const auto at_coarse_scale = [&](ExpressionKind how) {
    return left_is_finer ? compare(how, "", copy_of(*cut), copy_of(*right), position)
                         : compare(how, "", copy_of(*left), copy_of(*cut), position);
  };
  const auto at_fine_scale = [&](ExpressionKind how) {
    ExpressionPtr whole = coerce(copy_of(*cut), finer.type, CastContext::Explicit, parameters);
    return left_is_finer ? compare(how, "", copy_of(*left), std::move(whole), position)
                         : compare(how, "", std::move(whole), copy_of(*right), position);
  };
  const auto joined = [&](ExpressionKind how, ExpressionPtr a, ExpressionPtr b) {
    return make_binary(how, {TypeId::Boolean}, std::move(a), std::move(b), position);
  };
  const auto chosen = [&](ExpressionKind same) {
    auto result = make_expression(ExpressionKind::Case, {TypeId::Boolean}, position);
    result->args.push_back(at_coarse_scale(same));
    result->args.push_back(at_fine_scale(kind));
    result->args.push_back(at_coarse_scale(kind));
    return result;
  };
  switch (kind) {
    // NULL, not what the fine scale says, when the other side is NULL. Both sides are computed even where the fine
    // scale alone decides, since their errors count.
    case ExpressionKind::Eq:
    case ExpressionKind::Neq: return chosen(ExpressionKind::Eq);
    case ExpressionKind::IsNotDistinct:
    case ExpressionKind::IsDistinct: return chosen(ExpressionKind::IsNotDistinct);
    default: break;
  }
  const bool is_less = kind == ExpressionKind::Lt || kind == ExpressionKind::Le;
  return joined(ExpressionKind::Or, at_coarse_scale(is_less ? ExpressionKind::Lt : ExpressionKind::Gt),
                joined(ExpressionKind::And, at_coarse_scale(ExpressionKind::Eq), at_fine_scale(kind)));
}

// At least one side is a string; anything else becomes text. Chains become one node.
ExpressionPtr ExpressionBinder::concatenate(ExpressionPtr left, ExpressionPtr right, int position) {
  const bool any_string =
      left->type.is_string() || right->type.is_string() || (is_unknown(*left) && is_unknown(*right));
  const bool literal_beside_other = is_unknown(*left) != is_unknown(*right);
  if (!any_string && !literal_beside_other) no_operator("||", left, right, position);
  auto result = make_expression(ExpressionKind::Concat, {TypeId::Text}, position);
  for (ExpressionPtr* side : {&left, &right}) {
    ExpressionPtr& e = *side;
    if (e->kind == ExpressionKind::Concat) {
      std::move(e->args.begin(), e->args.end(), std::back_inserter(result->args));
    } else {
      if (e->type.id == TypeId::Char) e = without_blanks(std::move(e));
      const bool is_string = e->type.is_string();
      result->args.push_back(
          is_string ? std::move(e) : coerce(std::move(e), {TypeId::Text}, CastContext::Assignment, state_.parameters));
    }
  }
  return result;
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::DistinctTest& node, int position) {
  ExpressionPtr left = bind(*node.left);
  ExpressionPtr right = bind(*node.right);
  const ExpressionKind kind = node.negated ? ExpressionKind::IsNotDistinct : ExpressionKind::IsDistinct;
  return compare(kind, "=", std::move(left), std::move(right), position);
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Between& node, int position) {
  const ExpressionPtr value = bind(*node.value);
  const ExpressionPtr low = bind(*node.low);
  const ExpressionPtr high = bind(*node.high);
  const auto within = [&](const ExpressionPtr& from, const ExpressionPtr& to) {
    return make_binary(ExpressionKind::And, {TypeId::Boolean},
                       compare(ExpressionKind::Ge, ">=", value->clone(), from->clone(), position),
                       compare(ExpressionKind::Le, "<=", value->clone(), to->clone(), position), position);
  };
  note_copy(*value);
  if (node.symmetric)
    for (const ExpressionPtr* operand : {&value, &value, &low, &high}) note_copy(**operand);
  ExpressionPtr result = within(low, high);
  if (node.symmetric)
    result = make_binary(ExpressionKind::Or, {TypeId::Boolean}, std::move(result), within(high, low), position);
  return negated_if(node.negated, std::move(result));
}

// Each item is compared by itself, which names the operator that does not exist: for items without a common type.
ExpressionPtr ExpressionBinder::any_equal(const ExpressionPtr& value, std::vector<ExpressionPtr>& items, int position) {
  auto result = make_expression(ExpressionKind::Or, {TypeId::Boolean}, position);
  for (ExpressionPtr& item : items)
    result->args.push_back(compare(ExpressionKind::Eq, "=", copy_of(*value), std::move(item), position));
  return result;
}

// Strings compared with each other as one type.
ExpressionPtr ExpressionBinder::string_in(ExpressionPtr value, std::vector<ExpressionPtr> items, int position) {
  Type common = value->type;
  for (const ExpressionPtr& item : items) common = *common_type(common, item->type);
  common = common.id == TypeId::Null ? Type{TypeId::Text} : Type{common.id};
  if (is_unknown(*value)) value = coerced(std::move(value), common);
  const TypeId type = value->type.id;
  value = comparable_string(std::move(value), common.id);
  for (ExpressionPtr& item : items) item = comparable_string(coerced(std::move(item), common), type);
  return one_of(std::move(value), std::move(items), position);
}

// The value compared with items that take the common type of all of them and the value, if there is one.
ExpressionPtr ExpressionBinder::in_list(ExpressionPtr value, std::vector<ExpressionPtr> items, int position) {
  settle_numerics(value, items, state_.parameters);
  if (items.size() < 2 || !have_common_type(value, items)) return any_equal(value, items, position);
  const auto any_is = [&](auto&& property) {
    return property(value->type) ||
           std::any_of(items.begin(), items.end(), [&](const ExpressionPtr& item) { return property(item->type); });
  };
  if (any_is([](const Type& type) { return type.is_string(); }))
    return string_in(std::move(value), std::move(items), position);
  const bool is_real = any_is([](const Type& type) { return type.id == TypeId::Real; }) &&
                       !any_is([](const Type& type) { return type.id == TypeId::Double; });
  if (is_real && is_exact(value->type)) {
    // The items become reals, but an exact number is compared with a real as doubles are.
    const Type real{TypeId::Real}, wide{TypeId::Double};
    for (ExpressionPtr& item : items) item = coerced(coerced(std::move(item), real), wide);
    return one_of(coerced(std::move(value), wide), std::move(items), position);
  }
  if (any_is([](const Type& type) { return type.id == TypeId::Timestamp; })) value = comparable_date(std::move(value));
  std::vector<ExpressionPtr*> all{&value};
  const Type type = value->type;
  for (ExpressionPtr& item : items) {
    convert_literal(item, type);
    all.push_back(&item);
  }
  unify_types(all, "IN", state_.parameters);
  return one_of(std::move(value), std::move(items), position);
}

// Items that read a column are compared by themselves, as PostgreSQL does: they do not change the type of the others.
ExpressionPtr ExpressionBinder::bind_node(const syntax::InList& node, int position) {
  ExpressionPtr value = bind(*node.value);
  std::vector<ExpressionPtr> items = bind_all(node.items);
  if (items.size() == 1) {
    return negated_if(node.negated, compare(ExpressionKind::Eq, "=", std::move(value), std::move(items[0]), position));
  }
  const auto constants =
      std::stable_partition(items.begin(), items.end(), [](const ExpressionPtr& item) { return reads_column(*item); });
  std::vector<ExpressionPtr> list(std::make_move_iterator(constants), std::make_move_iterator(items.end()));
  items.erase(constants, items.end());
  if (items.empty()) return negated_if(node.negated, in_list(std::move(value), std::move(list), position));
  ExpressionPtr result = any_equal(value, items, position);
  if (list.size() == 1)
    result->args.push_back(compare(ExpressionKind::Eq, "=", std::move(value), std::move(list[0]), position));
  else if (!list.empty())
    result->args.push_back(in_list(std::move(value), std::move(list), position));
  return negated_if(node.negated, std::move(result));
}

ExpressionPtr ExpressionBinder::bind_node(const syntax::Like& node, int position) {
  std::vector<ExpressionPtr> args;
  args.push_back(bind(*node.value));
  args.push_back(bind(*node.pattern));
  if (node.escape) args.push_back(bind(*node.escape));
  return negated_if(node.negated, like(std::move(args), node.ignore_case, position));
}

// The value, the pattern, and the escape character if one is given.
ExpressionPtr ExpressionBinder::like(std::vector<ExpressionPtr> args, bool ignore_case, int position) {
  args[0] = with_blanks(std::move(args[0]));
  ExpressionPtr call = resolve_call(ignore_case ? "ilike" : "like", args, position, state_.parameters);
  if (!call) no_operator(ignore_case ? "~~*" : "~~", args[0], args[1], position);
  return call;
}

}  // namespace diptych
