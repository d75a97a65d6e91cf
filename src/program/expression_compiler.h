// From bound expressions to opcodes of the current section. One instance a program; the input columns change
// from operator to operator.
#pragma once

#include <map>
#include <memory>

#include "plan/evaluator.h"
#include "program/builder.h"
#include "program/input_columns.h"

namespace diptych {

class ExpressionCompiler {
 public:
  ExpressionCompiler(ProgramBuilder& builder, Evaluator& evaluator) : builder_(builder), evaluator_(evaluator) {}

  // The register that holds the expression's value, computed now unless it already is.
  int32_t compile(const Expression& expression, InputColumns& input) { return compile_to(expression, input, -1); }
  // As compile, but into the given register, which nothing has written yet.
  void compile_into(const Expression& expression, InputColumns& input, int32_t target);
  // As compile_into, in the register form of the expression's own type.
  void compile_result(const Expression& expression, InputColumns& input, int32_t target);
  // Rows for which the condition is not true (false or NULL) jump to the label with the given validity bits.
  void jump_unless_true(const Expression& condition, InputColumns& input, Label& label, int64_t validity);
  // Rows for which the condition is true jump to the label and keep their validity.
  void jump_if_true(const Expression& condition, InputColumns& input, Label& label);

  // The dictionary code of a string column's value, or -1 when the expression is no such column.
  int32_t compile_code(const Expression& expression, InputColumns& input, int32_t target);
  // The dictionary of a string column that has one; nullptr for other expressions.
  static const Dictionary* dictionary_of(const Expression& expression, const InputColumns& input);

  // The register's value in a wider integer register; the register itself when it has that width already.
  int32_t widen(int32_t number, PhysicalType physical);
  int32_t load_constant(const Value& value, int32_t target = -1, const PhysicalType* physical = nullptr);
  int32_t load_parameter(const Expression& parameter, int32_t target = -1, const PhysicalType* physical = nullptr);
  int32_t divide_numeric(int32_t dividend, int32_t divisor, int shift, const Type& type, int32_t target = -1);
  int32_t arithmetic(ExpressionKind kind, int32_t left, int32_t right, const Type& type, int32_t target = -1);
  int32_t call(FunctionId function, const std::vector<int32_t>& arguments, const Type& type, int32_t target = -1);
  int32_t cast(int32_t number, const Type& type, int32_t target = -1);

 private:
  int32_t compile_to(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_node(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_column(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_binary(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_comparison(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_logic(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_test(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_in(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_case(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_coalesce(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_nullif(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_extreme(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_call(const Expression& expression, InputColumns& input, int32_t target);
  int32_t compile_over_dictionary(const Expression& expression, InputColumns& input, int32_t target);
  // Its strings, as rows.
  std::shared_ptr<const TabletSource> source_of(const Dictionary& dictionary);

  struct Operands {
    int32_t left, right;
  };
  // Both sides of a comparison, in registers of one form; codes when a dictionary column meets a constant.
  Operands comparison_operands(const Expression& expression, InputColumns& input);
  // A constant or parameter beside a register of an integer form that holds its value; -1: it is no such.
  int32_t load_beside(const Expression& right, PhysicalType form);
  int32_t load_code(const Expression& text, const Dictionary& dictionary);
  // As comparison_operands, of a left side that is in a register.
  Operands operands_beside(int32_t left, const Expression& right, InputColumns& input);
  bool code_operands(const Expression& expression, InputColumns& input, Operands& operands);
  int32_t rescale(int32_t number, int digits, const Type& type, int32_t target);
  int32_t narrow(int32_t number, RegisterInfo form, Check check, int32_t target);
  template <typename Emit>
  int32_t finish_wide(const RegisterInfo& form, Check check, int32_t target, Emit&& emit);
  // Copies the values into consecutive registers and returns the first of `size`.
  int32_t move_to_block(const std::vector<int32_t>& values, size_t size);
  int32_t call_cast(int32_t number, const Type& type, int32_t target);
  int32_t add_value_set(const Expression& in, PhysicalType physical);
  // Moves the value into the result register of a CASE or the like, whose description grows to cover it.
  void move_into(int32_t result, int32_t value);
  int32_t start_merge(const Type& type, int32_t target);
  int32_t allocate(const RegisterInfo& info, int32_t target);
  RegisterInfo& info(int32_t number) { return builder_.info(number); }

  ProgramBuilder& builder_;
  Evaluator& evaluator_;
  std::map<const Dictionary*, std::shared_ptr<const TabletSource>> dictionary_sources_;
};

// The physical form with the fewest bits that holds the range.
PhysicalType narrowest(const Range& range);
// The proven bounds of a register, or those of its type; nothing for types that are not held as integers.
std::optional<Range> range_of(const RegisterInfo& info);
// How SQL kinds map to opcodes: the value form (SetEq) and the jump form (Eq) of a comparison, and its negation.
Opcode set_opcode(ExpressionKind kind);
Opcode jump_opcode(ExpressionKind kind);
ExpressionKind negated(ExpressionKind kind);

}  // namespace diptych
