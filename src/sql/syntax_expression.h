// The syntax tree's expressions; sql/syntax_tree.h has the statements and says what it all is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace diptych::syntax {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
using Expressions = std::vector<ExpressionPtr>;

// numeric(10,2): name "numeric", modifiers 10, 2. Names are PostgreSQL's internal ones where it has them: int4, float8,
// bpchar.
struct TypeName {
  std::string name;
  std::vector<int32_t> modifiers;
  int position = -1;
};

struct NullLiteral {};
struct BooleanLiteral {
  bool value = false;
};
struct IntegerLiteral {
  int32_t value = 0;
};
struct NumberLiteral {
  std::string digits;
};  // with a point or an exponent, or beyond 32 bits
struct StringLiteral {
  std::string text;
};
struct ColumnName {
  std::vector<std::string> parts;
};  // t.a: "t", "a"
struct Star {
  std::vector<std::string> qualifier;
};  // *, t.*
struct Parameter {
  int number = 0;
};  // $1 is 1
// Arithmetic, comparison and other symbols: two args, or one for a prefix operator.
struct Operator {
  std::string symbol;
  Expressions args;
};
struct Logical {
  enum class Kind : uint8_t { And, Or, Not } kind;
  Expressions args;  // two or more; one for Not
};
struct IsTest {
  enum class Kind : uint8_t { Null, True, False, Unknown } kind;
  bool negated = false;
  ExpressionPtr arg;
};
struct DistinctTest {
  bool negated = false;
  ExpressionPtr left, right;
};  // negated: IS NOT DISTINCT FROM
struct Between {
  bool negated = false, symmetric = false;
  ExpressionPtr value, low, high;
};
struct InList {
  bool negated = false;
  ExpressionPtr value;
  Expressions items;
};
struct Like {
  bool negated = false, ignore_case = false;
  ExpressionPtr value, pattern, escape;  // escape: null when not given
};
struct Case {
  struct Branch {
    ExpressionPtr when, then;
  };
  ExpressionPtr subject;  // CASE subject WHEN value ...; null for CASE WHEN condition ...
  std::vector<Branch> branches;
  ExpressionPtr otherwise;  // null: NULL
};
struct Coalesce {
  Expressions args;
};
struct NullIf {
  ExpressionPtr left, right;
};
struct MinMax {
  bool greatest = false;
  Expressions args;
};
struct Cast {
  ExpressionPtr arg;
  TypeName type;
};
struct Collate {
  ExpressionPtr arg;
};  // COLLATE "C", which is how all strings compare
struct Call {
  std::string name;
  Expressions args;
  std::vector<std::string> argument_names;  // of each argument; empty text: by position
  bool star = false, distinct = false;      // count(*), count(DISTINCT x)
  ExpressionPtr filter;                     // FILTER (WHERE ...)
};
struct CurrentTime {
  enum class Kind : uint8_t { Date, Timestamp } kind;
  std::string name;
};
struct Default {};  // DEFAULT in VALUES of an INSERT

struct Expression {
  std::variant<NullLiteral, BooleanLiteral, IntegerLiteral, NumberLiteral, StringLiteral, ColumnName, Star, Parameter,
               Operator, Logical, IsTest, DistinctTest, Between, InList, Like, Case, Coalesce, NullIf, MinMax, Cast,
               Collate, Call, CurrentTime, Default>
      node;
  int position = -1;

  Expression() = default;
  ~Expression();  // without recursion, so on any stack
};

}  // namespace diptych::syntax
