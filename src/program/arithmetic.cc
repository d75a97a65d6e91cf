// Arithmetic on integers and numerics: register widths and overflow checks from proven ranges.
#include "base/error.h"
#include "program/expression_compiler.h"

namespace diptych {

namespace {

bool is_integer_form(PhysicalType physical) {
  return physical == PhysicalType::Int32 || physical == PhysicalType::Int64 || physical == PhysicalType::Int128;
}

Opcode arithmetic_opcode(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::Add: return Opcode::Add;
    case ExpressionKind::Sub: return Opcode::Sub;
    case ExpressionKind::Mul: return Opcode::Mul;
    case ExpressionKind::Div: return Opcode::Div;
    default: return Opcode::Mod;
  }
}

// The check and the register form of a result that is not proven to fit its type.
Check check_for(const Type& type) {
  switch (type.id) {
    case TypeId::SmallInt: return Check::Int16;
    case TypeId::Numeric: return Check::Digits;
    default: return Check::Register;
  }
}

std::optional<Range> result_range(ExpressionKind kind, const std::optional<Range>& a, const std::optional<Range>& b) {
  if (!a || !b) return std::nullopt;
  switch (kind) {
    case ExpressionKind::Add: return add(*a, *b);
    case ExpressionKind::Sub: return sub(*a, *b);
    case ExpressionKind::Mul: return mul(*a, *b);
    // A quotient or remainder is no further from zero than the dividend.
    default: return Range{std::min<int128_t>({a->low, -a->high, 0}), std::max<int128_t>({a->high, -a->low, 0})};
  }
}

struct ResultForm {
  RegisterInfo info;
  Check check;
};

ResultForm result_form(const std::optional<Range>& range, const Type& type, bool nullable) {
  const Range type_range = *range_of(type);
  if (range && range->within(type_range))
    return {{narrowest(*range), type, nullable, true, range->low, range->high}, Check::None};
  return {{type.physical(), type, nullable, true, type_range.low, type_range.high}, check_for(type)};
}

}  // namespace

PhysicalType narrowest(const Range& range) {
  if (range.within(int32_range)) return PhysicalType::Int32;
  return range.within(int64_range) ? PhysicalType::Int64 : PhysicalType::Int128;
}

std::optional<Range> range_of(const RegisterInfo& info) {
  if (info.has_range) return Range{info.low, info.high};
  return range_of(info.type);
}

int32_t ExpressionCompiler::allocate(const RegisterInfo& register_info, int32_t target) {
  if (target < 0) return builder_.new_register(register_info);
  info(target) = register_info;
  return target;
}

int32_t ExpressionCompiler::widen(int32_t number, PhysicalType physical) {
  if (!is_integer_form(info(number).physical) || info(number).physical >= physical) return number;
  RegisterInfo wide = info(number);
  wide.physical = physical;
  auto& types = builder_.program().types;
  types.push_back(wide.type);
  const int32_t result = builder_.new_register(wide);
  builder_.emit(Opcode::Cast, static_cast<int32_t>(types.size()) - 1, number, result, Check::None);
  return result;
}

// Emits an operation whose result may need a wider register than its type has, then brings it into that form.
template <typename Emit>
int32_t ExpressionCompiler::finish_wide(const RegisterInfo& form, Check check, int32_t target, Emit&& emit) {
  if (form.physical <= form.type.physical()) {
    const int32_t result = allocate(form, target);
    emit(result, check);
    return result;
  }
  RegisterInfo wide = form;
  wide.type = Type::numeric(max_precision, scale_of(form.type));
  wide.has_range = false;
  const int32_t result = builder_.new_register(wide);
  emit(result, check == Check::None ? Check::None : Check::Register);
  return narrow(result, form, check, target);
}

// The value in the register form of its type, checked to fit.
int32_t ExpressionCompiler::narrow(int32_t number, RegisterInfo form, Check check, int32_t target) {
  // What fits is what it was: only the precision that the type states differs.
  const bool same_scale = scale_of(info(number).type) == scale_of(form.type);
  if (target < 0 && check == Check::None && same_scale && info(number).physical <= form.type.physical()) return number;
  form.physical = std::min(form.physical, form.type.physical());
  auto& types = builder_.program().types;
  types.push_back(form.type);
  const int32_t result = allocate(form, target);
  builder_.emit(Opcode::Cast, static_cast<int32_t>(types.size()) - 1, number, result, check);
  return result;
}

int32_t ExpressionCompiler::rescale(int32_t number, int digits, const Type& type, int32_t target) {
  const RegisterInfo source = info(number);
  std::optional<Range> range = range_of(source);
  if (range && digits > 0)
    range = digits > max_precision ? std::nullopt : mul(*range, {power_of_ten(digits), power_of_ten(digits)});
  if (range && digits < 0) {
    // Rounding can go one past the quotient.
    const int128_t divisor = digits < -max_precision ? power_of_ten(max_precision) : power_of_ten(-digits);
    range = Range{range->low / divisor - 1, range->high / divisor + 1};
  }
  ResultForm form = result_form(range, type, source.nullable);
  form.info.physical = std::max(form.info.physical, source.physical);
  const int32_t wide = widen(number, form.info.physical);
  if (digits == 0) return narrow(wide, form.info, form.check, target);
  return finish_wide(form.info, form.check, target,
                     [&](int32_t result, Check check) { builder_.emit(Opcode::Rescale, result, wide, digits, check); });
}

int32_t ExpressionCompiler::arithmetic(ExpressionKind kind, int32_t left, int32_t right, const Type& type,
                                       int32_t target) {
  const bool nullable = info(left).nullable || info(right).nullable;
  if (!is_integer_form(info(left).physical)) {
    const int32_t result = allocate({info(left).physical, type, nullable}, target);
    builder_.emit(arithmetic_opcode(kind), result, left, right, Check::Register);
    return result;
  }
  const int left_scale = scale_of(info(left).type), right_scale = scale_of(info(right).type);
  if (kind == ExpressionKind::Div && type.id == TypeId::Numeric)
    return divide_numeric(left, right, scale_of(type) - left_scale + right_scale, type, target);
  if (kind == ExpressionKind::Mul && left_scale + right_scale != scale_of(type)) {
    const Type exact = Type::numeric(max_precision, std::min(left_scale + right_scale, max_precision));
    return rescale(arithmetic(kind, left, right, exact), scale_of(type) - exact.scale, type, target);
  }
  if (kind != ExpressionKind::Mul) {  // operands at the scale of the result
    if (left_scale != scale_of(type))
      left = rescale(left, scale_of(type) - left_scale, Type::numeric(max_precision, scale_of(type)), -1);
    if (right_scale != scale_of(type))
      right = rescale(right, scale_of(type) - right_scale, Type::numeric(max_precision, scale_of(type)), -1);
  }
  ResultForm form = result_form(result_range(kind, range_of(info(left)), range_of(info(right))), type, nullable);
  // Operands share one form; the result has that form or, for Add, Sub and Mul, the next wider one.
  PhysicalType operands = std::max(info(left).physical, info(right).physical);
  const bool may_widen = kind == ExpressionKind::Add || kind == ExpressionKind::Sub || kind == ExpressionKind::Mul;
  if (form.info.physical == PhysicalType::Int128 && operands == PhysicalType::Int32) operands = PhysicalType::Int64;
  if (!may_widen || form.check != Check::None) operands = std::max(operands, form.info.physical);
  form.info.physical = std::max(operands, form.info.physical);
  left = widen(left, operands);
  right = widen(right, operands);
  return finish_wide(form.info, form.check, target, [&](int32_t result, Check check) {
    if (kind == ExpressionKind::Mod)
      builder_.emit(Opcode::Mod, result, left, right);
    else
      builder_.emit(arithmetic_opcode(kind), result, left, right, check);
  });
}

int32_t ExpressionCompiler::divide_numeric(int32_t dividend, int32_t divisor, int shift, const Type& type,
                                           int32_t target) {
  if (shift < 0) {  // more digits after the point than the quotient keeps: give the divisor the same
    divisor = rescale(divisor, -shift,
                      Type::numeric(max_precision, std::min(scale_of(info(divisor).type) - shift, max_precision)), -1);
    shift = 0;
  }
  const bool nullable = info(dividend).nullable || info(divisor).nullable;
  const Range range = *range_of(type);
  dividend = widen(dividend, PhysicalType::Int128);
  divisor = widen(divisor, PhysicalType::Int128);
  const RegisterInfo wide{PhysicalType::Int128, type, nullable, true, range.low, range.high};
  const Check check =
      type.precision < max_precision ? Check::Digits : Check::None;  // NumericDiv keeps to 38 digits itself
  return finish_wide(wide, check, target, [&](int32_t result, Check) {
    builder_.emit(Opcode::NumericDiv, result, dividend, divisor, static_cast<int64_t>(shift));
  });
}

// Casts between numbers are opcodes; every other cast is a function.
int32_t ExpressionCompiler::cast(int32_t number, const Type& type, int32_t target) {
  const RegisterInfo source = info(number);
  const bool from_integer = is_integer_form(source.physical) && source.type.is_number();
  const bool to_integer = type.is_integer() || type.id == TypeId::Numeric;
  if (from_integer && to_integer) return rescale(number, scale_of(type) - scale_of(source.type), type, target);
  auto& types = builder_.program().types;
  const bool from_float = source.type.is_float();
  if ((from_integer && type.is_float()) || (from_float && (type.is_float() || type.is_integer()))) {
    types.push_back(type);
    const int32_t result = allocate({type.physical(), type, source.nullable}, target);
    builder_.emit(Opcode::Cast, static_cast<int32_t>(types.size()) - 1, number, result, check_for(type));
    return result;
  }
  return call_cast(number, type, target);
}

}  // namespace diptych
