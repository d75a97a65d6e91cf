// Conditions as jumps, and the comparisons they are made of.
#include "plan/conditions.h"
#include "base/error.h"
#include "program/expression_compiler.h"
#include "tablet/dictionary.h"

namespace diptych {

namespace {

using Kind = ExpressionKind;

const Range& range_of_form(PhysicalType form) { return form == PhysicalType::Int32 ? int32_range : int64_range; }

}  // namespace

Opcode set_opcode(Kind kind) {
  switch (kind) {
    case Kind::Eq: return Opcode::SetEq;
    case Kind::Neq: return Opcode::SetNeq;
    case Kind::Lt: return Opcode::SetLt;
    case Kind::Le: return Opcode::SetLe;
    case Kind::Gt: return Opcode::SetGt;
    case Kind::Ge: return Opcode::SetGe;
    case Kind::IsDistinct: return Opcode::SetDistinct;
    default: return Opcode::SetNotDistinct;
  }
}

Opcode jump_opcode(Kind kind) {
  switch (kind) {
    case Kind::Eq: return Opcode::Eq;
    case Kind::Neq: return Opcode::Neq;
    case Kind::Lt: return Opcode::Lt;
    case Kind::Le: return Opcode::Le;
    case Kind::Gt: return Opcode::Gt;
    default: return Opcode::Ge;
  }
}

Kind negated(Kind kind) {
  switch (kind) {
    case Kind::Eq: return Kind::Neq;
    case Kind::Neq: return Kind::Eq;
    case Kind::Lt: return Kind::Ge;
    case Kind::Le: return Kind::Gt;
    case Kind::Gt: return Kind::Le;
    default: return Kind::Lt;
  }
}

// A dictionary column against a string constant: codes are compared. Only equality: codes do not sort as strings do.
bool ExpressionCompiler::code_operands(const Expression& expression, InputColumns& input, Operands& operands) {
  const bool equality = expression.kind == Kind::Eq || expression.kind == Kind::Neq ||
                        expression.kind == Kind::IsDistinct || expression.kind == Kind::IsNotDistinct;
  if (!equality) return false;
  for (int side = 0; side < 2; ++side) {
    const Expression& column = *expression.args[side];
    const Expression& constant = *expression.args[1 - side];
    const Dictionary* dictionary = dictionary_of(column, input);
    if (!dictionary || !has_value(constant) || constant.value.is_null()) continue;
    operands.left = compile_code(column, input, -1);
    operands.right = load_code(constant, *dictionary);
    return true;
  }
  return false;
}

// A string that is not there has a code that no row has.
int32_t ExpressionCompiler::load_code(const Expression& text, const Dictionary& dictionary) {
  const uint32_t no_code = dictionary.size();
  const uint32_t code = code_of(dictionary, text.value.as_string(), no_code);
  const int32_t result = load_constant(Value::integer(static_cast<int32_t>(code)));
  if (text.kind == Kind::Parameter)
    builder_.program().parameters.uses.push_back(
        {ParameterUse::Kind::Code, text.index, builder_.next_address() - 1, 0, &dictionary, no_code});
  return result;
}

ExpressionCompiler::Operands ExpressionCompiler::comparison_operands(const Expression& expression,
                                                                     InputColumns& input) {
  Operands operands{};
  if (code_operands(expression, input, operands)) return operands;
  return operands_beside(compile(*expression.args[0], input), *expression.args[1], input);
}

ExpressionCompiler::Operands ExpressionCompiler::operands_beside(int32_t left, const Expression& right,
                                                                 InputColumns& input) {
  Operands operands{left, -1};
  operands.right = load_beside(right, info(left).physical);
  if (operands.right < 0) operands.right = compile(right, input);
  const PhysicalType common = std::max(info(operands.left).physical, info(operands.right).physical);
  operands.left = widen(operands.left, common);
  operands.right = widen(operands.right, common);
  return operands;
}

// It takes the form of what it meets, where it fits.
int32_t ExpressionCompiler::load_beside(const Expression& right, PhysicalType form) {
  const bool fits = has_value(right) && !right.value.is_null() && form <= PhysicalType::Int128 &&
                    form >= PhysicalType::Int32 && right.type.physical() <= PhysicalType::Int128 &&
                    narrowest({right.value.as_integral(), right.value.as_integral()}) <= form;
  if (!fits) return -1;
  const int32_t result = load_constant(right.value, -1, &form);
  if (right.kind != Kind::Parameter) return result;
  ParameterUses& parameters = builder_.program().parameters;
  parameters.uses.push_back({ParameterUse::Kind::Compared, right.index, builder_.next_address() - 1});
  if (form < right.type.physical()) parameters.facts.push_back({right.index, range_of_form(form), {}});
  return result;
}

int32_t ExpressionCompiler::compile_comparison(const Expression& expression, InputColumns& input, int32_t target) {
  const Operands operands = comparison_operands(expression, input);
  const bool never_null = expression.kind == Kind::IsDistinct || expression.kind == Kind::IsNotDistinct;
  const bool nullable = !never_null && (info(operands.left).nullable || info(operands.right).nullable);
  const int32_t result = allocate({PhysicalType::Bool, Type{TypeId::Boolean}, nullable}, target);
  builder_.emit(set_opcode(expression.kind), result, operands.left, operands.right);
  return result;
}

void ExpressionCompiler::jump_unless_true(const Expression& condition, InputColumns& input, Label& label,
                                          int64_t validity) {
  builder_.set_position(condition.position);
  const bool over_dictionary = compile_over_dictionary(condition, input, -1) >= 0;
  if (condition.kind == Kind::And && !over_dictionary) {
    for (const ExpressionPtr& part : condition.args) jump_unless_true(*part, input, label, validity);
    return;
  }
  if (condition.kind == Kind::Or && !over_dictionary) {
    Label satisfied;
    const size_t region = builder_.enter_region();
    for (size_t i = 0; i + 1 < condition.args.size(); ++i) jump_if_true(*condition.args[i], input, satisfied);
    jump_unless_true(*condition.args.back(), input, label, validity);
    builder_.leave_region(region);
    builder_.bind(satisfied);
    return;
  }
  if (is_comparison(condition.kind) && !over_dictionary) {
    const Operands operands = comparison_operands(condition, input);
    const bool nullable = info(operands.left).nullable || info(operands.right).nullable;
    builder_.emit_jump(jump_opcode(negated(condition.kind)), operands.left, operands.right, label,
                       validity | (nullable ? jump_if_null : 0));
    return;
  }
  if (condition.kind == Kind::IsTrue) return jump_unless_true(*condition.args[0], input, label, validity);
  if (condition.kind == Kind::IsNull || condition.kind == Kind::IsNotNull) {
    const int32_t value = compile(*condition.args[0], input);
    builder_.emit_jump(condition.kind == Kind::IsNull ? Opcode::IfNotNull : Opcode::IfNull, value, 0, label, validity);
    return;
  }
  const bool negative = condition.kind == Kind::Not && !over_dictionary;
  const int32_t value = compile(negative ? *condition.args[0] : condition, input);
  builder_.emit_jump(negative ? Opcode::If : Opcode::Not, value, 0, label,
                     validity | (info(value).nullable ? jump_if_null : 0));
}

void ExpressionCompiler::jump_if_true(const Expression& condition, InputColumns& input, Label& label) {
  builder_.set_position(condition.position);
  const bool over_dictionary = compile_over_dictionary(condition, input, -1) >= 0;
  if (condition.kind == Kind::Or && !over_dictionary) {
    for (const ExpressionPtr& part : condition.args) jump_if_true(*part, input, label);
    return;
  }
  if (condition.kind == Kind::And && !over_dictionary) {
    Label failed;
    const size_t region = builder_.enter_region();
    for (size_t i = 0; i + 1 < condition.args.size(); ++i)
      jump_unless_true(*condition.args[i], input, failed, jump_keep);
    jump_if_true(*condition.args.back(), input, label);
    builder_.leave_region(region);
    builder_.bind(failed);
    return;
  }
  if (is_comparison(condition.kind) && !over_dictionary) {
    const Operands operands = comparison_operands(condition, input);
    builder_.emit_jump(jump_opcode(condition.kind), operands.left, operands.right, label, jump_keep);
    return;
  }
  if (condition.kind == Kind::IsTrue) return jump_if_true(*condition.args[0], input, label);
  if (condition.kind == Kind::IsNull || condition.kind == Kind::IsNotNull) {
    const int32_t value = compile(*condition.args[0], input);
    builder_.emit_jump(condition.kind == Kind::IsNull ? Opcode::IfNull : Opcode::IfNotNull, value, 0, label, jump_keep);
    return;
  }
  const bool negative = condition.kind == Kind::Not && !over_dictionary;
  const int32_t value = compile(negative ? *condition.args[0] : condition, input);
  builder_.emit_jump(negative ? Opcode::Not : Opcode::If, value, 0, label, jump_keep);
}

}  // namespace diptych
