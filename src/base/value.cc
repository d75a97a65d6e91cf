#include "base/value.h"

#include <bit>
#include <cstdint>

#include "base/error.h"
#include "base/format.h"

namespace diptych {

namespace {

template <typename Payload, typename Variant>
const Payload& payload_of(const Variant& variant, const char* invariant) {
  const auto* payload = std::get_if<Payload>(&variant);
  check_invariant(payload != nullptr, invariant);
  return *payload;
}

void append_integral(std::string& out, const Type& type, int128_t value) {
  switch (type.id) {
    case TypeId::Numeric: append_numeric(out, value, type.scale); return;
    case TypeId::Date: append_date(out, static_cast<int32_t>(value)); return;
    case TypeId::Timestamp: append_timestamp(out, static_cast<int64_t>(value)); return;
    default: append_int128(out, value);
  }
}

}  // namespace

Value Value::null(Type type) {
  Value result;
  result.type_ = type;
  return result;
}

Value Value::boolean(bool value) {
  Value result = null({TypeId::Boolean});
  result.payload_ = value;
  return result;
}

Value Value::integer(int32_t value) { return integral({TypeId::Integer}, value); }

Value Value::bigint(int64_t value) { return integral({TypeId::BigInt}, value); }

Value Value::integral(Type type, int128_t value) {
  check_invariant(type.is_integer() || type.is_temporal() || type.id == TypeId::Numeric,
                  "an integral value has an integral type");
  Value result = null(type);
  result.payload_ = value;
  return result;
}

Value Value::float64(double value) { return floating({TypeId::Double}, value); }

Value Value::floating(Type type, double value) {
  check_invariant(type.is_float(), "a floating-point value has a floating-point type");
  Value result = null(type);
  result.payload_ = value;
  return result;
}

Value Value::interval(Interval value) {
  Value result = null({TypeId::Interval});
  result.payload_ = value;
  return result;
}

Value Value::text(std::string value) { return string({TypeId::Text}, std::move(value)); }

Value Value::string(Type type, std::string value) {
  check_invariant(type.is_string(), "a string value has a string type");
  Value result = null(type);
  result.payload_ = std::move(value);
  return result;
}

bool Value::as_boolean() const { return payload_of<bool>(payload_, "the value is a boolean"); }

int128_t Value::as_integral() const { return payload_of<int128_t>(payload_, "the value is integral"); }

double Value::as_double() const { return payload_of<double>(payload_, "the value is a floating-point number"); }

const Interval& Value::as_interval() const { return payload_of<Interval>(payload_, "the value is an interval"); }

const std::string& Value::as_string() const { return payload_of<std::string>(payload_, "the value is a string"); }

std::string Value::to_text() const {
  std::string out;
  if (const auto* boolean = std::get_if<bool>(&payload_)) {
    append_boolean(out, *boolean);
  } else if (const auto* integral = std::get_if<int128_t>(&payload_)) {
    append_integral(out, type_, *integral);
  } else if (const auto* number = std::get_if<double>(&payload_)) {
    if (type_.id == TypeId::Real) {
      append_float(out, static_cast<float>(*number));
    } else {
      append_double(out, *number);
    }
  } else if (const auto* interval = std::get_if<Interval>(&payload_)) {
    append_interval(out, *interval);
  } else if (const auto* string = std::get_if<std::string>(&payload_)) {
    append_padded(out, *string, type_.id == TypeId::Char ? type_.length : 0);
  }
  return out;
}

bool Value::operator==(const Value& other) const {
  if (type_ != other.type_) return false;
  const auto* number = std::get_if<double>(&payload_);
  const auto* other_number = std::get_if<double>(&other.payload_);
  if (number && other_number) return std::bit_cast<uint64_t>(*number) == std::bit_cast<uint64_t>(*other_number);
  return payload_ == other.payload_;
}

}  // namespace diptych
