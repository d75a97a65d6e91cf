// Calls of functions, with the scales and lengths they take beside SQL's arguments, and the casts that are functions.
#include <fmt/format.h>

#include "base/error.h"
#include "program/expression_compiler.h"

namespace diptych {

namespace {

PhysicalType physical_of(FunctionType type) {
  switch (type) {
    case FunctionType::NUMERIC64: return PhysicalType::Int64;
    case FunctionType::NUMERIC128: return PhysicalType::Int128;
    default: return Type{type_id_of(type)}.physical();
  }
}

// Whether a cast row's side can be this type in this register form.
bool side_fits(FunctionType side, const Type& type) {
  if (type_id_of(side) == TypeId::Numeric) return type.id == TypeId::Numeric && physical_of(side) == type.physical();
  return type_id_of(side) == type.id;
}

// The row that casts between the types; nothing when there is none.
std::optional<FunctionId> find_cast(const Type& from, const Type& to) {
  const Type source = from.is_string() ? Type{TypeId::Text} : from;
  for (const FunctionId id : functions_named("cast")) {
    const FunctionInfo& row = info_of(id);
    if (side_fits(row.arguments[0], source) && side_fits(row.result, to)) return id;
  }
  return std::nullopt;
}

}  // namespace

int32_t ExpressionCompiler::call_cast(int32_t number, const Type& type, int32_t target) {
  const RegisterInfo source = info(number);
  const bool unlimited_string = type.is_string() && type.length == 0;
  const bool same_form = source.type.is_string() ? unlimited_string : source.type.id == type.id;
  if (same_form || source.type.id == TypeId::Null) {
    const int32_t result = allocate({type.physical(), type, source.nullable}, target);
    builder_.emit(source.type.id == TypeId::Null ? Opcode::Null : Opcode::Move, result, number);
    return result;
  }
  if (const auto function = find_cast(source.type, type)) return call(*function, {number}, type, target);
  if (type.is_string()) return cast(cast(number, Type{TypeId::Text}), type, target);
  // A register of integer may still be known as the smallint that it was cast from.
  if (type.id == TypeId::Boolean && source.type.is_integer())
    return call(FunctionId::cast_i32_bool, {number}, type, target);
  if (source.type.id == TypeId::Boolean || type.id == TypeId::Boolean)
    return cast(cast(number, Type{TypeId::Integer}), type, target);
  throw Error(SqlState::cannot_coerce, fmt::format("cannot cast type {} to {}", source.type.name(), type.name()),
              builder_.position());
}

int32_t ExpressionCompiler::call(FunctionId function, const std::vector<int32_t>& arguments, const Type& type,
                                 int32_t target) {
  const FunctionInfo& row = info_of(function);
  std::vector<int32_t> values;
  std::vector<Value> parameters;
  bool nullable = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.push_back(widen(arguments[i], physical_of(row.arguments[i])));
    nullable = nullable || info(arguments[i]).nullable;
    if (type_id_of(row.arguments[i]) == TypeId::Numeric)
      parameters.push_back(Value::integer(info(arguments[i]).type.scale));
  }
  if (type_id_of(row.result) == TypeId::Numeric) {
    parameters.push_back(Value::integer(type.precision));
    parameters.push_back(Value::integer(type.scale));
  }
  if (type_id_of(row.result) == TypeId::Varchar || type_id_of(row.result) == TypeId::Char)
    parameters.push_back(Value::integer(static_cast<int32_t>(type.length)));
  const auto count = static_cast<int32_t>(values.size());
  const int32_t block = move_to_block(values, values.size() + parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) load_constant(parameters[i], block + count + static_cast<int32_t>(i));
  const int32_t result = allocate({physical_of(row.result), type, nullable}, target);
  builder_.emit(Opcode::Call, result, block, count + static_cast<int32_t>(parameters.size()), function);
  return result;
}

int32_t ExpressionCompiler::move_to_block(const std::vector<int32_t>& values, size_t size) {
  const int32_t block = builder_.new_block(size);
  for (size_t i = 0; i < values.size(); ++i) {
    const int32_t number = block + static_cast<int32_t>(i);
    info(number) = RegisterInfo(info(values[i]));
    builder_.emit(Opcode::Move, number, values[i]);
  }
  return block;
}

int32_t ExpressionCompiler::compile_call(const Expression& expression, InputColumns& input, int32_t target) {
  std::vector<int32_t> arguments;
  for (const ExpressionPtr& argument : expression.args) arguments.push_back(compile(*argument, input));
  builder_.set_position(expression.position);
  if (expression.kind == ExpressionKind::Call) return call(expression.function, arguments, expression.type, target);
  bool nullable = false;
  for (const int32_t argument : arguments) nullable = nullable || info(argument).nullable;
  const int32_t block = move_to_block(arguments, arguments.size());
  const int32_t result = allocate({PhysicalType::Text, expression.type, nullable}, target);
  builder_.emit(Opcode::Concat, result, block, static_cast<int32_t>(arguments.size()));
  return result;
}

}  // namespace diptych
