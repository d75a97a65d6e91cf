#include "bind/type_rules.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/suggestion.h"

namespace diptych {

namespace {

struct TypeSpelling {
  std::string_view name;
  TypeId id;
};

constexpr TypeSpelling type_spellings[] = {
    {"bool", TypeId::Boolean},      {"boolean", TypeId::Boolean}, {"int2", TypeId::SmallInt},
    {"smallint", TypeId::SmallInt}, {"int4", TypeId::Integer},    {"int", TypeId::Integer},
    {"integer", TypeId::Integer},   {"int8", TypeId::BigInt},     {"bigint", TypeId::BigInt},
    {"float4", TypeId::Real},       {"real", TypeId::Real},       {"float8", TypeId::Double},
    {"float", TypeId::Double},      {"double", TypeId::Double},   {"numeric", TypeId::Numeric},
    {"decimal", TypeId::Numeric},   {"date", TypeId::Date},       {"timestamp", TypeId::Timestamp},
    {"interval", TypeId::Interval}, {"text", TypeId::Text},       {"varchar", TypeId::Varchar},
    {"bpchar", TypeId::Char},
};

constexpr std::string_view types_not_there[] = {
    "time",     "timetz",      "timestamptz", "bytea",    "uuid",      "json",    "jsonb",     "xml",
    "bit",      "varbit",      "money",       "inet",     "cidr",      "oid",     "name",      "point",
    "tsvector", "int4range",   "regclass",    "char",     "macaddr",   "serial",  "serial2",   "serial4",
    "serial8",  "smallserial", "bigserial",   "box",      "circle",    "line",    "lseg",      "path",
    "polygon",  "tsquery",     "int8range",   "numrange", "daterange", "tsrange", "tstzrange", "regtype",
    "regproc",  "jsonpath",    "macaddr8",    "pg_lsn",   "xid",       "cid",     "tid",       "refcursor",
};

constexpr int32_t max_string_length = 10'485'760;  // PostgreSQL's limit

bool is_number(TypeId id) { return Type{id}.is_number(); }
bool is_string(TypeId id) { return Type{id}.is_string(); }

// Numbers in the order of the implicit casts.
int number_rank(TypeId id) {
  switch (id) {
    case TypeId::SmallInt: return 0;
    case TypeId::Integer: return 1;
    case TypeId::BigInt: return 2;
    case TypeId::Numeric: return 3;
    case TypeId::Real: return 4;
    default: return 5;
  }
}

[[noreturn]] void unknown_type(const syntax::TypeName& name) {
  if (std::find(std::begin(types_not_there), std::end(types_not_there), name.name) != std::end(types_not_there)) {
    throw Error(SqlState::feature_not_supported, "type " + name.name + " is not supported yet", name.position);
  }
  std::vector<std::string> names;
  for (const TypeSpelling& spelling : type_spellings) names.emplace_back(spelling.name);
  names.emplace_back("char");
  throw Error(SqlState::undefined_object, "type \"" + name.name + "\" does not exist", name.position,
              suggest(name.name, names));
}

Type numeric_with(const syntax::TypeName& name) {
  if (name.modifiers.empty()) return unconstrained_numeric;
  const int precision = name.modifiers[0];
  const int scale = name.modifiers.size() > 1 ? name.modifiers[1] : 0;
  if (name.modifiers.size() > 2)
    throw Error(SqlState::invalid_parameter_value, "invalid NUMERIC type modifier", name.position);
  if (precision < 1 || precision > max_precision) {
    throw Error(
        SqlState::invalid_parameter_value,
        "NUMERIC precision " + std::to_string(precision) + " must be between 1 and " + std::to_string(max_precision),
        name.position);
  }
  if (scale < 0 || scale > precision) {
    throw Error(
        SqlState::invalid_parameter_value,
        "NUMERIC scale " + std::to_string(scale) + " must be between 0 and precision " + std::to_string(precision),
        name.position);
  }
  return Type::numeric(precision, scale);
}

Type string_with(TypeId id, const syntax::TypeName& name) {
  if (name.modifiers.empty()) return {id};
  if (name.modifiers.size() > 1) throw Error(SqlState::invalid_parameter_value, "invalid type modifier", name.position);
  const int32_t length = name.modifiers[0];
  if (length < 1 || length > max_string_length) {
    throw Error(SqlState::invalid_parameter_value,
                "the length of a string type must be between 1 and " + std::to_string(max_string_length),
                name.position);
  }
  return {id, 0, 0, static_cast<uint32_t>(length)};
}

}  // namespace

Type type_of(const syntax::TypeName& name) {
  const auto found = std::find_if(std::begin(type_spellings), std::end(type_spellings),
                                  [&](const TypeSpelling& spelling) { return spelling.name == name.name; });
  if (found == std::end(type_spellings)) unknown_type(name);
  switch (found->id) {
    case TypeId::Numeric: return numeric_with(name);
    case TypeId::Varchar:
    case TypeId::Char: return string_with(found->id, name);
    case TypeId::Timestamp:
      if (!name.modifiers.empty()) {
        throw Error(SqlState::feature_not_supported, "a precision of timestamp is not supported yet", name.position);
      }
      return {found->id};
    case TypeId::Interval: return {found->id};
    default:
      if (!name.modifiers.empty()) {
        throw Error(SqlState::syntax_error, "type modifier is not allowed for type \"" + name.name + "\"",
                    name.position);
      }
      return {found->id};
  }
}

bool is_castable(TypeId from, TypeId to, CastContext context) {
  if (from == to || from == TypeId::Null) return true;
  if (is_number(from) && is_number(to)) return context != CastContext::Implicit || number_rank(from) < number_rank(to);
  if (is_string(from) && is_string(to)) return true;
  if (from == TypeId::Date && to == TypeId::Timestamp) return true;
  if (from == TypeId::Timestamp && to == TypeId::Date) return context != CastContext::Implicit;
  if (is_string(to)) return context != CastContext::Implicit;
  if (context != CastContext::Explicit) return false;
  if (is_string(from)) return true;
  return (from == TypeId::Boolean && to == TypeId::Integer) || (from == TypeId::Integer && to == TypeId::Boolean);
}

std::optional<Type> common_type(const Type& a, const Type& b) {
  if (a.id == TypeId::Null) return b;
  if (b.id == TypeId::Null || a == b) return a;
  if (a.is_number() && b.is_number()) {
    if (a.id == TypeId::Numeric || b.id == TypeId::Numeric) {
      if (!a.is_float() && !b.is_float()) return union_numeric(numeric_form(a), numeric_form(b));
    }
    return number_rank(a.id) >= number_rank(b.id) ? a : b;
  }
  if (a.is_string() && b.is_string()) return Type{a.id};
  if (a.is_temporal() && b.is_temporal()) return Type{TypeId::Timestamp};
  return std::nullopt;
}

Type type_beside(const Type& other) {
  if (other.id == TypeId::Numeric) return unconstrained_numeric;
  if (other.id == TypeId::Char) return {TypeId::Char};
  return other.is_string() ? Type{TypeId::Text} : other;
}

Type numeric_form(const Type& type) {
  switch (type.id) {
    case TypeId::SmallInt: return Type::numeric(5, 0);
    case TypeId::Integer: return Type::numeric(10, 0);
    case TypeId::BigInt: return Type::numeric(19, 0);
    default: return type.precision == 0 ? column_numeric : type;
  }
}

Type numeric_of_digits(int integer_digits, int scale) {
  scale = std::clamp(scale, 0, max_precision);
  return Type::numeric(std::clamp(integer_digits + scale, 1, max_precision), scale);
}

Type union_numeric(const Type& a, const Type& b) {
  return numeric_of_digits(std::max(a.precision - a.scale, b.precision - b.scale), std::max(a.scale, b.scale));
}

Type arithmetic_numeric(ArithmeticOperator op, const Type& a, const Type& b) {
  const int a_integer = a.precision - a.scale;
  const int b_integer = b.precision - b.scale;
  const int scale = std::max(a.scale, b.scale);
  switch (op) {
    case ArithmeticOperator::Add:
    case ArithmeticOperator::Sub: return numeric_of_digits(std::max(a_integer, b_integer) + 1, scale);
    case ArithmeticOperator::Mul: return numeric_of_digits(a_integer + b_integer, a.scale + b.scale);
    case ArithmeticOperator::Div: return numeric_of_digits(a_integer + b.scale, std::max(scale, division_scale));
    case ArithmeticOperator::Mod: return numeric_of_digits(std::max(a_integer, b_integer), scale);
  }
  throw Error(SqlState::internal_error, "invariant broken: an arithmetic operator is a known one");
}

}  // namespace diptych
