// The rules of PostgreSQL's type system that binding needs: which type a name means, which casts there are and when
// they happen by themselves, what two types have in common, what type arithmetic gives.
//
//   smallint -> integer -> bigint -> numeric -> real -> double precision      implicit in this direction, on assignment
//   back date -> timestamp                                                         the same text, varchar, char
//   implicit among each other anything -> text on assignment; text -> anything only when written out
//
// char without a length is PostgreSQL's bpchar: it keeps its trailing blanks, and comparisons ignore them.
#pragma once

#include <optional>

#include "base/type.h"
#include "sql/syntax_tree.h"

namespace diptych {

enum class CastContext : uint8_t { Implicit, Assignment, Explicit };

// numeric without precision. In an expression a cast to it keeps the scale its argument has; as a column it is stored
// with column_numeric.
inline constexpr Type unconstrained_numeric{TypeId::Numeric, 0, 0, 0};
inline constexpr Type column_numeric{TypeId::Numeric, max_precision, 9, 0};

// The type that a name in the text means. Errors: 42704 with a hint, 0A000 for PostgreSQL's types that aren't there,
// 22023 modifiers out of range.
Type type_of(const syntax::TypeName& name);

bool is_castable(TypeId from, TypeId to, CastContext context);

// The one type for the results of CASE, the rows of VALUES and the like; nothing when there is none. TypeId::Null gives
// way. Of two kinds of string the first is taken, with its length if both have the same one.
std::optional<Type> common_type(const Type& a, const Type& b);

// The type that a literal or parameter takes next to something of this type.
Type type_beside(const Type& other);

// An exact number as numeric: integer is numeric(10,0).
Type numeric_form(const Type& type);
// The numeric type that holds all values of both.
Type union_numeric(const Type& a, const Type& b);
// Digits before the point and after it, cut to 38 in all: digits after the point are kept.
Type numeric_of_digits(int integer_digits, int scale);

enum class ArithmeticOperator : uint8_t { Add, Sub, Mul, Div, Mod };
// Type of an operation on numerics: addition max(scale), multiplication s1 + s2, division max(s1, s2, 16).
Type arithmetic_numeric(ArithmeticOperator op, const Type& a, const Type& b);

}  // namespace diptych
