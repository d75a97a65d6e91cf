#include "bind/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"

namespace diptych {

namespace {

// A number in decimal: sign, digits without a point, and how many of them come after it.
struct Decimal {
  bool negative = false;
  std::string digits;  // no leading zeros
  int scale = 0;       // below 0: zeros to append
};

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// [+-] digits [. digits] [e [+-] digits]; nothing when the text is anything else.
std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal result;
  size_t at = 0;
  bool any_digit = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) result.negative = text[at++] == '-';
  const auto take_digits = [&](bool fraction) {
    for (; at < text.size() && is_digit(text[at]); ++at) {
      any_digit = true;
      if (text[at] != '0' || !result.digits.empty()) result.digits.push_back(text[at]);
      if (fraction) ++result.scale;
    }
  };
  take_digits(false);
  if (at < text.size() && text[at] == '.') {
    ++at;
    take_digits(true);
  }
  if (!any_digit) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    if (++at < text.size() && text[at] == '+') ++at;
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), exponent);
    constexpr int largest_exponent = 100000;
    if (error != std::errc() || std::abs(exponent) > largest_exponent) return std::nullopt;
    at = static_cast<size_t>(end - text.data());
    result.scale -= exponent;
  }
  if (at != text.size()) return std::nullopt;
  if (result.scale < 0 && !result.digits.empty() && result.digits.size() - static_cast<size_t>(result.scale) <= max_precision) {
    result.digits.append(static_cast<size_t>(-result.scale), '0');
    result.scale = 0;
  }
  if (result.digits.empty()) result.scale = std::max(result.scale, 0);
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

[[noreturn]] void invalid_text(std::string_view text, const Type& type) {
  throw Error(SqlState::invalid_text_representation,
              "invalid input syntax for type " + Type{type.id}.name() + ": \"" + std::string(text) + "\"");
}

[[noreturn]] void out_of_range(std::string_view text, const Type& type) {
  throw Error(SqlState::numeric_value_out_of_range, "value \"" + std::string(text) + "\" is out of range for type " + type.name());
}

bool fits(int128_t value, TypeId id) {
  switch (id) {
    case TypeId::SmallInt: return value >= std::numeric_limits<int16_t>::min() && value <= std::numeric_limits<int16_t>::max();
    case TypeId::Integer: return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
    default: return value >= std::numeric_limits<int64_t>::min() && value <= std::numeric_limits<int64_t>::max();
  }
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return (x | 32) == (y | 32); });
}

Value read_integer(std::string_view text, const Type& type) {
  const std::string_view body = trimmed(text);
  const bool only_digits = !body.empty() && std::all_of(body.begin() + 1, body.end(), is_digit);
  const std::optional<Decimal> decimal = only_digits ? read_decimal(body) : std::nullopt;
  if (!decimal || decimal->scale != 0) invalid_text(text, type);
  if (decimal->digits.size() > max_precision) out_of_range(text, type);
  const int128_t value = integer_of(*decimal);
  if (!fits(value, type.id)) out_of_range(text, type);
  return Value::integral(type, value);
}

// float and double both, so that a real literal is rounded once.
template <typename Float>
Value read_float(std::string_view text, const Type& type) {
  std::string_view body = trimmed(text);
  if (body.size() > 1 && body.front() == '+' && body[1] != '-' && body[1] != '+') body.remove_prefix(1);
  Float value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (body.empty() || error == std::errc::invalid_argument || end != body.data() + body.size()) invalid_text(text, type);
  if (error == std::errc::result_out_of_range) out_of_range(text, type);
  return Value::floating(type, static_cast<double>(value));
}

// Rounded half away from zero to the type's scale.
Value read_numeric(std::string_view text, Type type) {
  std::optional<Decimal> decimal = read_decimal(trimmed(text));
  if (!decimal) invalid_text(text, type);
  if (type.precision == 0) {
    const int digits = static_cast<int>(decimal->digits.size());
    if (decimal->scale < 0 || std::max(digits, decimal->scale) > max_precision) out_of_range(text, Type::numeric(max_precision, 0));
    type = Type::numeric(std::max({1, digits, decimal->scale}), decimal->scale);
  }
  const int drop = decimal->scale - type.scale;
  bool round_up = false;
  if (drop > 0) {
    const size_t keep = decimal->digits.size() > static_cast<size_t>(drop) ? decimal->digits.size() - static_cast<size_t>(drop) : 0;
    round_up = decimal->digits.size() >= static_cast<size_t>(drop) && decimal->digits[keep] >= '5';
    decimal->digits.resize(keep);
  } else {
    decimal->digits.append(decimal->digits.empty() ? 0 : static_cast<size_t>(-drop), '0');
  }
  if (decimal->digits.size() > type.precision) out_of_range(text, type);
  const int128_t value = integer_of(*decimal) + (round_up ? (decimal->negative ? -1 : 1) : 0);
  const int128_t limit = power_of_ten(type.precision);
  if (value >= limit || value <= -limit) out_of_range(text, type);
  return Value::integral(type, value);
}

// true, false, yes, no, on, off, 1, 0, or the start of one that no other has.
Value read_boolean(std::string_view text) {
  const std::string_view body = trimmed(text);
  const auto starts = [&](std::string_view word, size_t least) {
    return body.size() >= least && body.size() <= word.size() && equals_ignoring_case(body, word.substr(0, body.size()));
  };
  if (starts("true", 1) || starts("yes", 1) || starts("on", 2) || body == "1") return Value::boolean(true);
  if (starts("false", 1) || starts("no", 1) || starts("off", 2) || body == "0") return Value::boolean(false);
  invalid_text(text, {TypeId::Boolean});
}

}  // namespace

Value read_number(std::string_view text) {
  const std::optional<Decimal> decimal = read_decimal(text);
  if (!decimal) invalid_text(text, {TypeId::Numeric});
  const bool has_point = text.find_first_of(".eE") != text.npos;
  const int digits = static_cast<int>(decimal->digits.size());
  if (decimal->scale < 0 || std::max(digits, decimal->scale) > max_precision) return read_float<double>(text, {TypeId::Double});
  const int128_t value = integer_of(*decimal);
  if (!has_point && fits(value, TypeId::Integer)) return Value::integer(static_cast<int32_t>(value));
  if (!has_point && fits(value, TypeId::BigInt)) return Value::bigint(static_cast<int64_t>(value));
  return Value::integral(Type::numeric(std::max({1, digits, decimal->scale}), decimal->scale), value);
}

std::optional<Value> read_literal(std::string_view text, const Type& type) {
  switch (type.id) {
    case TypeId::Boolean: return read_boolean(text);
    case TypeId::SmallInt:
    case TypeId::Integer:
    case TypeId::BigInt: return read_integer(text, type);
    case TypeId::Real: return read_float<float>(text, type);
    case TypeId::Double: return read_float<double>(text, type);
    case TypeId::Numeric: return read_numeric(text, type);
    case TypeId::Text: return Value::text(std::string(text));
    default: return std::nullopt;
  }
}

std::optional<Value> convert_number(const Value& value, const Type& to) {
  if (value.is_null()) return Value::null(to);
  const Type& from = value.type();
  if (from.is_float()) return to.id == TypeId::Double ? std::optional(Value::floating(to, value.as_double())) : std::nullopt;
  const int128_t integral = value.as_integral();
  if (to.is_float()) return read_literal(value.to_text(), to);
  if (to.is_integer()) {
    if (from.scale != 0 || !fits(integral, to.id)) return std::nullopt;
    return Value::integral(to, integral);
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
