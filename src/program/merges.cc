// Expressions whose value comes from one of several paths (CASE, COALESCE, guarded AND and OR), and tests that are
// never NULL.
#include <algorithm>

#include "base/error.h"
#include "program/expression_compiler.h"
#include "tablet/dictionary.h"

namespace diptych {

namespace {

using Kind = ExpressionKind;

// Whether computing the expression can raise an error: then AND and OR must not compute it for rows already decided.
bool may_raise(const Expression& expression) {
  switch (expression.kind) {
    case Kind::Add:
    case Kind::Sub:
    case Kind::Mul:
    case Kind::Div:
    case Kind::Mod:
    case Kind::Negate:
    case Kind::Cast:
    case Kind::Call: return true;
    default:
      return std::any_of(expression.args.begin(), expression.args.end(),
                         [](auto& argument) { return may_raise(*argument); });
  }
}

const Type boolean_type{TypeId::Boolean};

}  // namespace

// The register that the paths move their values into. It is as wide as its type, since its values' range is known only
// at the end.
int32_t ExpressionCompiler::start_merge(const Type& type, int32_t target) {
  return allocate({type.physical(), type, false}, target);
}

void ExpressionCompiler::move_into(int32_t result, int32_t value) {
  value = widen(value, info(result).physical);
  if (info(value).physical != info(result).physical) {  // NULL of another type
    const int32_t null = builder_.new_register({info(result).physical, info(result).type, true});
    builder_.emit(Opcode::Null, null);
    value = null;
  }
  info(result).nullable = info(result).nullable || info(value).nullable;
  builder_.emit(Opcode::Move, result, value);
}

int32_t ExpressionCompiler::compile_case(const Expression& expression, InputColumns& input, int32_t target) {
  const int32_t result = start_merge(expression.type, target);
  Label end;
  const size_t region = builder_.enter_region();
  size_t i = 0;
  for (; i + 1 < expression.args.size(); i += 2) {
    Label next;
    jump_unless_true(*expression.args[i], input, next, jump_keep);
    const size_t branch = builder_.enter_region();
    move_into(result, compile(*expression.args[i + 1], input));
    builder_.leave_region(branch);
    builder_.emit_jump(Opcode::Jump, 0, 0, end, jump_keep);
    // Rows come to the next condition from anywhere inside this one: only what every path has computed may be used
    // there.
    builder_.leave_region(region);
    builder_.bind(next);
  }
  move_into(result, compile(*expression.args[i], input));
  builder_.leave_region(region);
  builder_.bind(end);
  return result;
}

int32_t ExpressionCompiler::compile_coalesce(const Expression& expression, InputColumns& input, int32_t target) {
  const int32_t result = start_merge(expression.type, target);
  Label end;
  const size_t region = builder_.enter_region();
  bool last_nullable = true;
  for (size_t i = 0; i < expression.args.size() && last_nullable; ++i) {
    const int32_t value = compile(*expression.args[i], input);
    last_nullable = info(value).nullable;
    move_into(result, value);
    if (i + 1 < expression.args.size() && last_nullable)
      builder_.emit_jump(Opcode::IfNotNull, value, 0, end, jump_keep);
  }
  builder_.leave_region(region);
  builder_.bind(end);
  info(result).nullable = last_nullable;
  return result;
}

int32_t ExpressionCompiler::compile_nullif(const Expression& expression, InputColumns& input, int32_t target) {
  // args[0] was cast to the common type for the comparison only where its own type differs.
  const int32_t value = compile(*expression.args[0], input);
  const int32_t result = start_merge(expression.type, target);
  move_into(result, value);
  // Compiled once: a left side compiled twice would double with every level of nesting.
  const Operands operands = operands_beside(value, *expression.args[1], input);
  Label end;
  builder_.emit_jump(Opcode::Neq, operands.left, operands.right, end, jump_keep | jump_if_null);
  const int32_t null = builder_.new_register({info(result).physical, expression.type, true});
  builder_.emit(Opcode::Null, null);
  move_into(result, null);
  builder_.bind(end);
  return result;
}

int32_t ExpressionCompiler::compile_extreme(const Expression& expression, InputColumns& input, int32_t target) {
  // char without a length compares without its blanks.
  const bool ignores_blanks = expression.type.id == TypeId::Char && expression.type.length == 0;
  const auto compared = [&](int32_t value) {
    return ignores_blanks ? call(FunctionId::rtrim_text, {value}, {TypeId::Text}, -1) : value;
  };
  const auto argument = [&](size_t i) {
    return widen(compile(*expression.args[i], input), expression.type.physical());
  };
  const int32_t first = argument(0);
  const int32_t result = start_merge(expression.type, target);
  // The register may hold NULL on the way also where some argument never is, so it counts as nullable then.
  move_into(result, first);
  for (size_t i = 1; i < expression.args.size(); ++i) {
    // All rows compute it, here, where it is needed: of many arguments few are held at once.
    const int32_t value = argument(i);
    Label take, next;
    if (info(value).nullable) builder_.emit_jump(Opcode::IfNull, value, 0, next, jump_keep);
    if (info(result).nullable) builder_.emit_jump(Opcode::IfNull, result, 0, take, jump_keep);
    const int32_t old_value = compared(result), new_value = compared(value);
    builder_.emit_jump(expression.kind == Kind::Greatest ? Opcode::Ge : Opcode::Le, old_value, new_value, next,
                       jump_keep);
    builder_.bind(take);
    move_into(result, value);
    builder_.bind(next);
  }
  return result;
}

int32_t ExpressionCompiler::compile_logic(const Expression& expression, InputColumns& input, int32_t target) {
  const bool is_and = expression.kind == Kind::And;
  const Opcode join = is_and ? Opcode::SetAnd : Opcode::SetOr;
  const bool guarded =
      std::any_of(expression.args.begin() + 1, expression.args.end(), [](auto& arg) { return may_raise(*arg); });
  int32_t value = compile(*expression.args[0], input);
  if (!guarded) {
    for (size_t i = 1; i < expression.args.size(); ++i) {
      const int32_t next = compile(*expression.args[i], input);
      const RegisterInfo joined{PhysicalType::Bool, boolean_type, info(value).nullable || info(next).nullable};
      const int32_t result = allocate(joined, i + 1 == expression.args.size() ? target : -1);
      builder_.emit(join, result, value, next);
      value = result;
    }
    return value;
  }
  const int32_t result = start_merge(boolean_type, target);
  move_into(result, value);
  Label decided;
  const size_t region = builder_.enter_region();
  for (size_t i = 1; i < expression.args.size(); ++i) {
    builder_.emit_jump(is_and ? Opcode::Not : Opcode::If, result, 0, decided, jump_keep);
    const int32_t next = compile(*expression.args[i], input);
    const int32_t joined = builder_.new_register({PhysicalType::Bool, boolean_type, true});
    builder_.emit(join, joined, result, next);
    move_into(result, joined);
  }
  builder_.leave_region(region);
  builder_.bind(decided);
  return result;
}

int32_t ExpressionCompiler::compile_test(const Expression& expression, InputColumns& input, int32_t target) {
  const int32_t value = compile(*expression.args[0], input);
  if (expression.kind == Kind::Not) {
    const int32_t result = allocate({PhysicalType::Bool, boolean_type, info(value).nullable}, target);
    builder_.emit(Opcode::SetNot, result, value);
    return result;
  }
  const RegisterInfo never_null{PhysicalType::Bool, boolean_type, false};
  const bool negative =
      expression.kind == Kind::IsNotNull || expression.kind == Kind::IsNotTrue || expression.kind == Kind::IsNotFalse;
  Opcode test = Opcode::SetIsNull;
  if (expression.kind == Kind::IsTrue || expression.kind == Kind::IsNotTrue) test = Opcode::SetIsTrue;
  if (expression.kind == Kind::IsFalse || expression.kind == Kind::IsNotFalse) test = Opcode::SetIsFalse;
  const int32_t positive = allocate(never_null, negative ? -1 : target);
  builder_.emit(test, positive, value);
  if (!negative) return positive;
  const int32_t result = allocate(never_null, target);
  builder_.emit(Opcode::SetNot, result, positive);
  return result;
}

int32_t ExpressionCompiler::add_value_set(const Expression& in, PhysicalType physical) {
  auto& sets = builder_.program().sets;
  const auto number = static_cast<int32_t>(sets.size());
  ValueSet& set = sets.emplace_back();
  set.physical = physical;
  for (size_t i = 1; i < in.args.size(); ++i) {
    const Value& value = in.args[i]->value;
    if (in.args[i]->kind == Kind::Parameter)
      builder_.program().parameters.uses.push_back(
          {ParameterUse::Kind::Member, in.args[i]->index, number, static_cast<int32_t>(set.values.size())});
    if (value.is_null())
      set.has_null = true;
    else
      set.values.push_back(value);
  }
  return number;
}

int32_t ExpressionCompiler::compile_in(const Expression& expression, InputColumns& input, int32_t target) {
  const bool constants = std::all_of(expression.args.begin() + 1, expression.args.end(),
                                     [](auto& argument) { return has_value(*argument); });
  int32_t value = compile(*expression.args[0], input);
  if (constants) {
    const PhysicalType form = expression.args[0]->type.physical();
    value = widen(value, form);
    const int32_t set = add_value_set(expression, form);
    const bool nullable = info(value).nullable || builder_.program().sets[set].has_null;
    const int32_t result = allocate({PhysicalType::Bool, boolean_type, nullable}, target);
    builder_.emit(Opcode::SetIn, result, value, set);
    return result;
  }
  int32_t any = -1;
  for (size_t i = 1; i < expression.args.size(); ++i) {
    int32_t other = compile(*expression.args[i], input);
    const PhysicalType form = std::max(info(value).physical, info(other).physical);
    const int32_t left = widen(value, form);
    other = widen(other, form);
    const bool last = i + 1 == expression.args.size();
    const RegisterInfo equal_info{PhysicalType::Bool, boolean_type, true};
    const int32_t equal = allocate(equal_info, any < 0 && last ? target : -1);
    builder_.emit(Opcode::SetEq, equal, left, other);
    if (any < 0) {
      any = equal;
      continue;
    }
    const int32_t joined = allocate(equal_info, last ? target : -1);
    builder_.emit(Opcode::SetOr, joined, any, equal);
    any = joined;
  }
  return any;
}

}  // namespace diptych
