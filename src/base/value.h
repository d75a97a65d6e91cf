// One SQL value with its type: literals, parameters, defaults, cells of a result. For single values; columns never use
// it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/type.h"

namespace diptych {

class Value {
 public:
  Value() = default;  // NULL of type Null
  static Value null(Type type);
  static Value boolean(bool value);
  static Value integer(int32_t value);
  static Value bigint(int64_t value);
  // An integer payload of any integral type: smallint, integer, bigint, date, timestamp, numeric (unscaled).
  static Value integral(Type type, int128_t value);
  static Value float64(double value);
  static Value floating(Type type, double value);
  static Value interval(Interval value);
  static Value text(std::string value);
  static Value string(Type type, std::string value);

  const Type& type() const { return type_; }
  bool is_null() const { return std::holds_alternative<std::monostate>(payload_); }
  // Payload access; check_invariant fails when the value is NULL or of another kind.
  bool as_boolean() const;
  int128_t as_integral() const;
  double as_double() const;
  const Interval& as_interval() const;
  const std::string& as_string() const;

  // The text form PostgreSQL prints: t/f, 1.50, 2024-02-29, infinity. NULL gives "".
  std::string to_text() const;
  // The same type and the same payload, bit for bit: NaN equals itself, -0.0 and 0.0 differ. Whether SQL calls them
  // equal is another question.
  bool operator==(const Value& other) const;

 private:
  Type type_;
  std::variant<std::monostate, bool, int128_t, double, Interval, std::string> payload_;
};

}  // namespace diptych
