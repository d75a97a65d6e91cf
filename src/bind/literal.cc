#include "bind/literal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "kernel/kernel.h"

namespace diptych {

namespace {

// A number in decimal: sign, digits without a point, and how many of them come after it.
struct Decimal {
  bool negative = false;
  std::string digits;  // no leading zeros
  int64_t scale = 0;   // below 0: zeros to append

  bool fits() const { return scale >= 0 && scale <= max_precision && digits.size() <= max_precision; }
  Type type() const {
    const int count = static_cast<int>(digits.size());
    return Type::numeric(std::max({1, count, static_cast<int>(scale)}), static_cast<int>(scale));
  }
};

// The digits that a text has, by the grammar of the cast from text; nothing when it is no decimal number. Errors: 22003
// for an exponent beyond all limits.
std::optional<Decimal> read_decimal(std::string_view text) {
  const dk_text number = dk_strip(dk_text_of(text));
  const dk_decimal_text parts = dk_scan_decimal(number);
  if (!parts.valid) return std::nullopt;
  if (parts.overflow)
    throw Error(SqlState::numeric_value_out_of_range,
                "value \"" + std::string(text) + "\" is out of range for numeric");
  Decimal result;
  result.negative = parts.negative;
  result.scale = -parts.exponent;
  for (int32_t at = parts.from; at < parts.to; ++at) {
    const char c = number.data[at];
    if (c != '.' && (c != '0' || !result.digits.empty())) result.digits.push_back(c);
  }
  if (result.digits.empty()) result.scale = std::max<int64_t>(result.scale, 0);
  if (result.scale < 0 && static_cast<int64_t>(result.digits.size()) - result.scale <= max_precision) {
    result.digits.append(static_cast<size_t>(-result.scale), '0');
    result.scale = 0;
  }
  return result;
}

int128_t integer_of(const Decimal& decimal) {
  int128_t value = 0;
  for (const char c : decimal.digits) value = value * 10 + (c - '0');
  return decimal.negative ? -value : value;
}

int128_t power_of_ten(int exponent) {
  int128_t result = 1;
  for (int i = 0; i < exponent; ++i) result *= 10;
  return result;
}

// What a reader of kernel/functions.def stored as its error, as PostgreSQL words it.
[[noreturn]] void refuse(int32_t error, std::string_view text, const Type& type) {
  const std::string quoted = "\"" + std::string(text) + "\"";
  const std::string name = type.id == TypeId::Numeric ? type.name() : Type{type.id}.name();
  switch (error) {
    case DK_INVALID_TEXT:
      throw Error(SqlState::invalid_text_representation,
                  "invalid input syntax for type " + Type{type.id}.name() + ": " + quoted);
    case DK_NO_FIXED_POINT:
      throw Error(SqlState::feature_not_supported, "NaN and infinity are not supported for numeric: " + quoted);
    case DK_INVALID_DATETIME:
      throw Error(SqlState::invalid_datetime_format, "invalid input syntax for type " + name + ": " + quoted);
    case DK_DATETIME_OVERFLOW:
      throw Error(SqlState::datetime_field_overflow, "date/time field value out of range: " + quoted);
    case DK_INTERVAL_OVERFLOW:
      throw Error(SqlState::interval_field_overflow, "interval field value out of range: " + quoted);
    default: throw Error(SqlState::numeric_value_out_of_range, "value " + quoted + " is out of range for type " + name);
  }
}

bool fits(int128_t value, TypeId id) {
  switch (id) {
    case TypeId::SmallInt:
      return value >= std::numeric_limits<int16_t>::min() && value <= std::numeric_limits<int16_t>::max();
    case TypeId::Integer:
      return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
    default: return value >= std::numeric_limits<int64_t>::min() && value <= std::numeric_limits<int64_t>::max();
  }
}

// A numeric of just the digits that the text has.
Value read_own_digits(std::string_view text) {
  const std::optional<Decimal> decimal = read_decimal(text);
  if (!decimal) refuse(dk_no_decimal_error(dk_strip(dk_text_of(text))), text, {TypeId::Numeric});
  if (!decimal->fits()) refuse_long_number(text);
  return Value::integral(decimal->type(), integer_of(*decimal));
}

int128_t joined(dk_i128 value) { return (static_cast<int128_t>(value.hi) << 64) | static_cast<int128_t>(value.lo); }

// By the function of the cast from text.
Value read_by_cast(dk_text text, const Type& type, int32_t& error) {
  switch (type.id) {
    case TypeId::Boolean: return Value::boolean(dk_cast_text_bool(text, &error) != 0);
    case TypeId::SmallInt: return Value::integral(type, dk_cast_text_i16(text, &error));
    case TypeId::Integer: return Value::integral(type, dk_cast_text_i32(text, &error));
    case TypeId::BigInt: return Value::integral(type, dk_cast_text_i64(text, &error));
    case TypeId::Real: return Value::floating(type, dk_cast_text_f32(text, &error));
    case TypeId::Double: return Value::floating(type, dk_cast_text_f64(text, &error));
    case TypeId::Numeric:
      return Value::integral(type, joined(dk_cast_text_n128(text, type.precision, type.scale, &error)));
    case TypeId::Date: return Value::integral(type, dk_cast_text_date(text, &error));
    case TypeId::Timestamp: return Value::integral(type, dk_cast_text_timestamp(text, &error));
    case TypeId::Interval: {
      const dk_interval read = dk_cast_text_interval(text, &error);
      return Value::interval({read.months, read.days, read.microseconds});
    }
    default:
      throw Error(SqlState::internal_error, "invariant broken: a literal is read as a type that has a cast from text");
  }
}

}  // namespace

void refuse_long_number(std::string_view text) {
  throw Error(SqlState::numeric_value_out_of_range,
              "value \"" + std::string(text) + "\" has more digits than numeric, " + std::to_string(max_precision));
}

std::optional<Value> read_number(std::string_view text) {
  const std::optional<Decimal> decimal = read_decimal(text);
  if (!decimal) refuse(DK_INVALID_TEXT, text, {TypeId::Numeric});
  if (!decimal->fits()) return std::nullopt;
  const int128_t value = integer_of(*decimal);
  const bool has_point = text.find_first_of(".eE") != text.npos;
  if (!has_point && fits(value, TypeId::Integer)) return Value::integer(static_cast<int32_t>(value));
  if (!has_point && fits(value, TypeId::BigInt)) return Value::bigint(static_cast<int64_t>(value));
  return Value::integral(decimal->type(), value);
}

Value read_literal(std::string_view text, const Type& type) {
  if (type.is_string()) return Value::string(type, std::string(text));
  if (type.id == TypeId::Numeric && type.precision == 0) return read_own_digits(text);
  int32_t error = DK_OK;
  Value value = read_by_cast(dk_text_of(text), type, error);
  if (error != DK_OK) refuse(error, text, type);
  return value;
}

Value read_interval(std::string_view text, int32_t fields, int32_t digits) {
  int32_t error = DK_OK;
  const dk_interval read = dk_parse_interval({text.data(), static_cast<int32_t>(text.size())}, fields, &error);
  if (error != DK_OK) refuse(error, text, {TypeId::Interval});
  const dk_interval fitted = dk_fit_interval(read, fields, digits);
  return Value::interval({fitted.months, fitted.days, fitted.microseconds});
}

std::optional<Value> convert_number(const Value& value, const Type& to) {
  if (value.is_null()) return Value::null(to);
  const Type& from = value.type();
  if (from.is_float())
    return to.id == TypeId::Double ? std::optional(Value::floating(to, value.as_double())) : std::nullopt;
  const int128_t integral = value.as_integral();
  if (to.is_float()) return read_literal(value.to_text(), to);
  if (to.is_integer()) {
    const int128_t unit = power_of_ten(from.scale);
    if (integral % unit != 0 || !fits(integral / unit, to.id)) return std::nullopt;
    return Value::integral(to, integral / unit);
  }
  const int digits = least_numeric(value).precision - from.scale;
  if (to.scale < from.scale || digits > to.precision - to.scale) return std::nullopt;
  return Value::integral(to, integral * power_of_ten(to.scale - from.scale));
}

Type least_numeric(const Value& integral) {
  const int scale = integral.type().scale;
  int128_t rest = integral.as_integral();
  int digits = 0;
  for (; rest != 0; rest /= 10) ++digits;
  return Type::numeric(std::max({1, digits, scale}), scale);
}

}  // namespace diptych
