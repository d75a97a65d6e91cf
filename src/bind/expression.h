// Bound expressions: every name resolved, every node typed, every implicit cast written out.
//
// One node type for all kinds: rules of the optimiser and the compiler switch over `kind`, and walk `args` without
// casting. Columns are ids, never names or positions.
//
// "Of one type" below means of one register form: strings of any kind stand beside each other without a cast (char(n)
// is kept without its trailing blanks; the binder takes those of other strings off where they don't count), and
// numerics of the same scale and width may differ in precision. Everything else is cast: i < 2.5 is Lt(Cast(i to
// numeric(11,1)), 2.5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/type.h"
#include "base/value.h"
#include "kernel/function_table.h"

namespace diptych {

// A column of the rows that a statement's operators make. The binder numbers them; an operator that passes a column on
// keeps its id, what it computes has a new one. Only the program compiler makes positions of them.
//
//   SELECT a, a + 1 FROM t      t: a #0, b #1      outputs: #0 as #2, #0 + 1 as #3
enum class ColumnId : uint32_t {};
inline constexpr ColumnId no_column{UINT32_MAX};

struct BoundColumn {
  std::string name;
  Type type;
  ColumnId id = no_column;
};

// Its place among the columns; their number: it is none of them.
size_t place_of(ColumnId id, const std::vector<BoundColumn>& columns);

enum class ExpressionKind : uint8_t {
  Constant,  // value
  Column,    // column
  // index: 0-based number of the parameter; value: that of the run which plans, for estimates alone. args[0], if there
  // is one: the parameter is this expression over the statement's parameters, computed once a run.
  Parameter,
  // On numbers of one type, which is that of the result. Numeric: registers are as wide as the result's; the args of
  // Add, Sub and Mod have its scale, those of Mul and Div their own (result: the sum of them; max(both,
  // division_scale)).
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Negate,
  Eq,
  Neq,
  Lt,
  Le,
  Gt,
  Ge,  // args of one type; boolean
  IsDistinct,
  IsNotDistinct,  // as Neq and Eq, but NULL is a value like any other; never NULL
  And,
  Or,   // two or more args
  Not,  //
  IsNull,
  IsNotNull,
  IsTrue,
  IsNotTrue,
  IsFalse,
  IsNotFalse,  // one arg; never NULL
  In,          // args[0] equals one of args[1..], which are constants or parameters of its type; NULL as SQL has it
  Case,        // args: condition, value, condition, value, ..., else value; conditions are boolean
  Coalesce,    // args of the type; evaluated from the left up to the first that is not NULL
  NullIf,      // args[0], unless args[0] = args[1], which is of its type
  Greatest,
  Least,   // NULL args are skipped
  Cast,    // args[0] to `type`; to varchar(n) and char(n) it cuts (storing calls assign_text_varchar, which raises)
  Call,    // function(args...)
  Concat,  // args of type text joined (||): NULL when one is NULL
};

struct Expression {
  ExpressionKind kind = ExpressionKind::Constant;
  Type type;
  int position = -1;            // byte offset in the statement's text, -1 unknown
  Value value;                  // Constant, Parameter
  int32_t index = 0;            // Parameter
  ColumnId column = no_column;  // Column
  FunctionId function{};        // Call: the row of kernel/functions.def
  std::vector<std::unique_ptr<Expression>> args;

  Expression() = default;
  ~Expression();  // without recursion, so on any stack

  std::unique_ptr<Expression> clone() const;
  // Same shape, types and values; positions don't matter.
  bool equals(const Expression& other) const;
  // A form for EXPLAIN: (l_quantity < 24.00). `columns` gives the names of its columns.
  std::string to_text(const std::vector<BoundColumn>& columns) const;
};

using ExpressionPtr = std::unique_ptr<Expression>;

// Whether its value is the same for all rows of a run, and known while the run is planned.
inline bool has_value(const Expression& e) {
  return e.kind == ExpressionKind::Constant || e.kind == ExpressionKind::Parameter;
}

// Calls visit(Expression&) on every parameter in the expression, but for those that others are computed from.
template <typename Visit>
void for_each_parameter(Expression& e, Visit&& visit) {
  if (e.kind == ExpressionKind::Parameter) return visit(e);
  for (const auto& arg : e.args) for_each_parameter(*arg, visit);
}

// Calls visit(Expression&) on every column in the expression; of a const one with const ones.
template <typename AnyExpression, typename Visit>
void for_each_column(AnyExpression& e, Visit&& visit) {
  if (e.kind == ExpressionKind::Column) visit(e);
  for (const ExpressionPtr& arg : e.args) for_each_column<AnyExpression>(*arg, visit);
}

ExpressionPtr column_expression(ColumnId id, const Type& type, int position = -1);

// Of the expression and all inside it, where what they were made from is no part of the statement.
void set_positions(Expression& e, int position);

enum class AggregateFunction : uint8_t {
  CountStar,
  Count,
  Sum,
  Min,
  Max,
  Avg,
  StddevSamp,
  StddevPop,
  VarSamp,
  VarPop,
  BoolAnd,
  BoolOr,
};
const char* name_of(AggregateFunction function);

// One aggregate call. Result types: type.h and docs (sum(int4) is bigint, sum(bigint) numeric(38,0), avg of exact
// numbers numeric).
struct BoundAggregate {
  AggregateFunction function = AggregateFunction::CountStar;
  ExpressionPtr argument;  // null for CountStar
  bool distinct = false;
  ExpressionPtr filter;  // FILTER (WHERE ...); null when absent
  Type type;
  int position = -1;
  ColumnId id = no_column;  // of its value
};

}  // namespace diptych
