#include <cmath>
#include <limits>
#include <optional>

#include "bind/type_rules.h"
#include "plan/conditions.h"
#include "plan/rules/rules.h"

namespace diptych {

namespace {

using Kind = ExpressionKind;

// The comparison with its sides exchanged.
Kind mirrored(Kind kind) {
  switch (kind) {
    case Kind::Lt: return Kind::Gt;
    case Kind::Le: return Kind::Ge;
    case Kind::Gt: return Kind::Lt;
    case Kind::Ge: return Kind::Le;
    default: return kind;
  }
}

bool is_exact(const Type& type) { return type.is_integer() || type.id == TypeId::Numeric; }

// Whether a cast changes no value and never raises an error.
bool is_widening(const Type& from, const Type& to) {
  if (from.id == TypeId::Real) return to.id == TypeId::Double;
  if (!is_exact(from) || !is_exact(to)) return false;
  if (to.is_integer()) return from.is_integer() && from.id <= to.id;
  const Type digits = numeric_form(from);
  return to.scale >= digits.scale && to.precision - to.scale >= digits.precision - digits.scale;
}

// A bound in the narrow type that means the same: value, and the comparison to make with it.
struct NarrowBound {
  Kind comparison;
  Value value;
};

// A column that was widened only to meet a constant is compared in its own type, on its encoded form.
//
//   real_column::double precision > 60.0     ->  real_column > 60::real
//   integer_column::numeric < 10.5           ->  integer_column <= 10
//   date_column >= timestamp '2024-01-01'    ->  date_column >= '2024-01-01'
//
// A parameter whose value the narrow type has is cast to that type, once a run, and the plan relies on the type having
// it. A constant between two narrow values becomes the neighbour on the right side; Eq and Neq with such a constant
// stay. A cast that the statement asks for stays, too, when it can change a value or fail: bigint_column::integer > 1.
class NarrowComparisons : public Rule {
 public:
  const char* name() const override { return "narrow_comparisons"; }

  void apply(LogicalOperatorPtr& plan, Evaluator& evaluator) const override {
    for_each_expression_in_plan(*plan, [&](ExpressionPtr& root) {
      rewrite_bottom_up(root, [&](ExpressionPtr& expression) {
        if (is_comparison(expression->kind)) narrow(*expression, evaluator);
      });
    });
  }

 private:
  static void narrow(Expression& comparison, Evaluator& evaluator) {
    if (has_value(*comparison.args[0])) {
      std::swap(comparison.args[0], comparison.args[1]);
      comparison.kind = mirrored(comparison.kind);
    }
    Expression& cast = *comparison.args[0];
    Expression& constant = *comparison.args[1];
    if (!has_value(constant) || constant.value.is_null()) return;
    const bool is_date = cast.kind == Kind::Call && cast.function == FunctionId::comparable_date;
    const bool is_wider = cast.kind == Kind::Cast && is_widening(cast.args.front()->type, cast.type);
    if (!is_wider && !is_date) return;
    const auto bound = is_date ? date_bound(comparison.kind, constant.value.as_integral())
                               : narrow_bound(comparison.kind, constant.value, cast.args.front()->type);
    if (constant.kind == Kind::Parameter && narrow_parameter(comparison, bound.has_value(), evaluator)) return;
    if (!bound) return;
    comparison.kind = bound->comparison;
    constant.type = cast.args.front()->type;
    constant.value = bound->value;
    take_cast_off(comparison);
  }

  static void take_cast_off(Expression& comparison) {
    ExpressionPtr column = std::move(comparison.args[0]->args.front());
    comparison.args[0] = std::move(column);
  }

  // True: the parameter is cast to the narrow type. False: its value has no equal there; where it has another bound, it
  // becomes a constant, and the plan serves this value alone.
  static bool narrow_parameter(Expression& comparison, bool has_bound, Evaluator& evaluator) {
    const Expression& cast = *comparison.args[0];
    Expression& parameter = *comparison.args[1];
    const Expression& given = parameter.args.empty() ? parameter : *parameter.args.front();
    ExpressionPtr narrow = make_expression(Kind::Cast, cast.args.front()->type, parameter.position);
    narrow->args.push_back(given.clone());
    const ExpressionPtr is_equal = equals_when_widened(*narrow, cast, given);
    const std::optional<Value> equal = try_evaluate(*is_equal, evaluator);
    if (equal && !equal->is_null() && equal->as_boolean()) {
      evaluator.rely_on(*is_equal, equal);
      ExpressionPtr computed = make_expression(Kind::Parameter, narrow->type, parameter.position);
      computed->value = evaluator.evaluate_constant(*narrow);
      computed->args.push_back(std::move(narrow));
      comparison.args[1] = std::move(computed);
      take_cast_off(comparison);
      return true;
    }
    if (!has_bound) {
      evaluator.rely_on(*is_equal, equal);
      return false;
    }
    evaluator.rely_on(given, parameter.value);
    parameter.kind = Kind::Constant;
    parameter.index = 0;
    parameter.args.clear();
    return false;
  }

  // Whether what the narrow type has, widened as the column is, is what was given.
  static ExpressionPtr equals_when_widened(const Expression& narrow, const Expression& cast, const Expression& given) {
    ExpressionPtr widened = make_expression(cast.kind, cast.type, given.position);
    widened->function = cast.function;
    widened->args.push_back(narrow.clone());
    ExpressionPtr equal = make_expression(Kind::Eq, Type{TypeId::Boolean}, given.position);
    equal->args.push_back(std::move(widened));
    equal->args.push_back(given.clone());
    return equal;
  }

  static ExpressionPtr make_expression(Kind kind, const Type& type, int position) {
    auto made = std::make_unique<Expression>();
    made->kind = kind;
    made->type = type;
    made->position = position;
    return made;
  }

  static std::optional<NarrowBound> narrow_bound(Kind kind, const Value& value, const Type& type) {
    const TypeId from = value.type().id;
    if (type.id == TypeId::Real && from == TypeId::Double) return real_bound(kind, value.as_double());
    if (!is_exact(type) || !is_exact(value.type())) return std::nullopt;
    if (type.scale > value.type().scale) return std::nullopt;  // the cast took digits away
    int128_t unit = 1;
    for (int i = type.scale; i < value.type().scale; ++i) unit *= 10;
    return integral_bound(kind, value.as_integral(), unit, type);
  }

  // A date against a timestamp. One that was cast by hand stays, since days after the last timestamp are an error then.
  static std::optional<NarrowBound> date_bound(Kind kind, int128_t timestamp) {
    const Type date{TypeId::Date};
    if (timestamp == INT64_MAX) return NarrowBound{kind, Value::integral(date, INT32_MAX)};
    if (timestamp == INT64_MIN) return NarrowBound{kind, Value::integral(date, INT32_MIN)};
    return integral_bound(kind, timestamp, 86'400'000'000, date);
  }

  // The constant counts in 1/unit of the narrow type.
  static std::optional<NarrowBound> integral_bound(Kind kind, int128_t value, int128_t unit, const Type& type) {
    int128_t quotient = value / unit;
    const int128_t rest = value % unit;
    if (rest != 0) {
      const int128_t floor = rest < 0 ? quotient - 1 : quotient;
      if (kind == Kind::Lt || kind == Kind::Le)
        kind = Kind::Le, quotient = floor;
      else if (kind == Kind::Gt || kind == Kind::Ge)
        kind = Kind::Ge, quotient = floor + 1;
      else
        return std::nullopt;
    }
    if (!fits(quotient, type)) return std::nullopt;
    return NarrowBound{kind, Value::integral(type, quotient)};
  }

  static bool fits(int128_t value, const Type& type) {
    if (type.id == TypeId::SmallInt) return value >= INT16_MIN && value <= INT16_MAX;
    if (type.id == TypeId::Integer || type.id == TypeId::Date) return value >= INT32_MIN && value <= INT32_MAX;
    if (type.id == TypeId::BigInt) return value >= INT64_MIN && value <= INT64_MAX;
    int128_t end = 1;
    for (int i = 0; i < type.precision; ++i) end *= 10;
    return value < end && value > -end;
  }

  static std::optional<NarrowBound> real_bound(Kind kind, double value) {
    if (std::isnan(value) || std::abs(value) > std::numeric_limits<float>::max()) return std::nullopt;
    const auto nearest = static_cast<float>(value);
    const Type real{TypeId::Real};
    if (static_cast<double>(nearest) == value) return NarrowBound{kind, Value::floating(real, nearest)};
    const float infinity = std::numeric_limits<float>::infinity();
    const float below = nearest < value ? nearest : std::nextafter(nearest, -infinity);
    const float above = nearest > value ? nearest : std::nextafter(nearest, infinity);
    if (kind == Kind::Lt || kind == Kind::Le) return NarrowBound{Kind::Le, Value::floating(real, below)};
    if (kind == Kind::Gt || kind == Kind::Ge) return NarrowBound{Kind::Ge, Value::floating(real, above)};
    return std::nullopt;
  }
};

}  // namespace

std::unique_ptr<Rule> make_narrow_comparisons() { return std::make_unique<NarrowComparisons>(); }

}  // namespace diptych
