// Casting bound expressions, and what becomes of literals that have no type of their own yet.
//
// A string literal, NULL and a parameter start with TypeId::Null: they take the type that their surroundings ask for
// (coerce), or text when nothing asks (settle).
#pragma once

#include <string>
#include <vector>

#include "bind/expression.h"
#include "bind/type_rules.h"

namespace diptych {

// Types of $1, $2, ... as far as they are known; TypeId::Null: not yet.
using ParameterTypes = std::vector<Type>;

ExpressionPtr make_expression(ExpressionKind kind, Type type, int position);
ExpressionPtr make_constant(Value value, int position);
// A string literal that has no type yet.
ExpressionPtr make_unknown(std::string text, int position);

// A number literal of more digits than a numeric has: an unconstrained_numeric whose value is its text. It can only
// become a floating-point number, or be rounded by a cast; else coerce, settle and as_numeric raise 22003.
ExpressionPtr make_long_number(std::string digits, int position);
bool is_long_number(const Expression& e);

inline bool is_unknown(const Expression& e) { return e.type.id == TypeId::Null; }
inline bool is_constant(const Expression& e) { return e.kind == ExpressionKind::Constant; }
inline bool is_null_constant(const Expression& e) { return is_constant(e) && e.value.is_null(); }

// The expression as a value of type `to`: itself, a constant, or a Cast. A numeric `to` may be unconstrained_numeric.
// Errors: 42846 when there is no such cast in this context, 22P02 and the like when a literal can't be read as `to`.
ExpressionPtr coerce(ExpressionPtr e, Type to, CastContext context, ParameterTypes& parameters);

// Strings of type char: as text with its blanks, which char(n) is kept without; without its trailing ones, as it is
// compared and cast to other strings. Any other string stays as it is, but for varchar in the second.
ExpressionPtr with_blanks(ExpressionPtr e);
ExpressionPtr without_blanks(ExpressionPtr e);

// What is still unknown becomes text.
ExpressionPtr settle(ExpressionPtr e, ParameterTypes& parameters);

// An exact number as a numeric: a constant with just its own digits.
ExpressionPtr as_numeric(ExpressionPtr e, ParameterTypes& parameters);

}  // namespace diptych
