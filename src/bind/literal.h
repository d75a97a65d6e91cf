// Constants from the text of literals, and constants as values of other types. Where SQL has a cast from text, the
// cast's own function reads the literal, so that both mean the same value.
#pragma once

#include <optional>
#include <string_view>

#include "base/value.h"

namespace diptych {

// A number as the grammar passes it: 2147483648, -1.50, 1e10. As PostgreSQL types it: integer, bigint or numeric with
// just the digits it needs. Nothing: a numeric of more than 38 digits. Errors: 22003 for an exponent beyond all limits.
std::optional<Value> read_number(std::string_view text);

// Throws 22003: a numeric of more than 38 digits.
[[noreturn]] void refuse_long_number(std::string_view text);

// The text as a value of the type; a numeric of precision 0 takes the digits it needs. Strings are taken as they are.
// Errors: 22P02, 22003, 0A000, 22007, 22008, 22015.
Value read_literal(std::string_view text, const Type& type);

// The text as a value of the type interval [fields] (digits), both as fit_interval() of the kernel takes them. Errors:
// 22007, 22008, 22015.
Value read_interval(std::string_view text, int32_t fields, int32_t digits);

// The value as one of another type, when that is a number's change of form that needs no function: integers and
// numerics among each other without a loss, and to floats. Nothing: leave it to a Cast.
std::optional<Value> convert_number(const Value& value, const Type& to);

// Digits that the value needs: numeric(3,0) for 123.
Type least_numeric(const Value& integral);

}  // namespace diptych
