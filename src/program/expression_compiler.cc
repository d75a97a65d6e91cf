#include "program/expression_compiler.h"

#include <algorithm>

#include "base/error.h"
#include "tablet/dictionary.h"
#include "tablet/values.h"

namespace diptych {

namespace {

using Kind = ExpressionKind;

// So many computed expressions are looked through for one that is there already; more would cost more than they save.
constexpr size_t max_remembered = 256;

// Is NULL whenever its one input is: what may be computed over a dictionary, where NULL has no code.
bool is_strict(Kind kind) {
  switch (kind) {
    case Kind::Eq:
    case Kind::Neq:
    case Kind::Lt:
    case Kind::Le:
    case Kind::Gt:
    case Kind::Ge:
    case Kind::Not:
    case Kind::In:
    case Kind::Cast:
    case Kind::Call:
    case Kind::Concat: return true;
    default: return false;
  }
}

// The one column that a strict expression reads, or no_column when it reads none, several, or is not strict all
// through.
ColumnId only_column(const Expression& expression) {
  if (expression.kind == Kind::Column) return expression.column;
  if (!is_strict(expression.kind)) return no_column;
  ColumnId found = no_column;
  for (const ExpressionPtr& argument : expression.args) {
    if (has_value(*argument)) {
      if (argument->value.is_null()) return no_column;
      continue;
    }
    const ColumnId column = only_column(*argument);
    if (column == no_column || (found != no_column && found != column)) return no_column;
    found = column;
  }
  return found;
}

// Equal for equal expressions, and mostly not for others; only the top of a tree is looked at.
uint64_t signature_of(const Expression& expression, int levels = 3) {
  constexpr uint64_t factor = 0x9E3779B97F4A7C15;
  uint64_t signature = static_cast<uint64_t>(expression.kind) * factor + static_cast<uint32_t>(expression.column);
  signature = signature * factor + static_cast<uint64_t>(expression.function) + expression.args.size();
  if (expression.kind == Kind::Constant && !expression.value.is_null()) {
    if (expression.value.type().is_string())
      signature += std::hash<std::string>()(expression.value.as_string());
    else if (expression.value.type().physical() >= PhysicalType::Int32 &&
             expression.value.type().physical() <= PhysicalType::Int128)
      signature += static_cast<uint64_t>(expression.value.as_integral());
  }
  const size_t most_args = levels > 0 ? 3 : 0;
  for (size_t i = 0; i < std::min(most_args, expression.args.size()); ++i)
    signature = (signature ^ signature >> 29) * factor + signature_of(*expression.args[i], levels - 1);
  return signature;
}

// The program has what was computed from the values of the parameters in the expression.
void rely_on_values(const Expression& expression, Program& program) {
  if (expression.kind == Kind::Parameter)
    return program.parameters.facts.push_back({expression.index, {}, expression.value});
  for (const ExpressionPtr& argument : expression.args) rely_on_values(*argument, program);
}

// The register that holds it; -1: none.
int32_t find_computed(const Expression& expression, uint64_t signature, const InputColumns& input) {
  for (const auto& [known_signature, known, number] : input.computed)
    if (known_signature == signature && known->equals(expression)) return number;
  return -1;
}

}  // namespace

int32_t ExpressionCompiler::compile_to(const Expression& expression, InputColumns& input, int32_t target) {
  if (expression.kind == Kind::Column) return compile_column(expression, input, target);
  if (expression.kind == Kind::Constant) return load_constant(expression.value, target);
  if (expression.kind == Kind::Parameter) return load_parameter(expression, target);
  const uint64_t signature = signature_of(expression);
  if (const int32_t number = find_computed(expression, signature, input); number >= 0) {
    if (target < 0) return number;
    info(target) = info(number);
    builder_.emit(Opcode::Move, target, number);
    return target;
  }
  int32_t result = compile_over_dictionary(expression, input, target);
  if (result < 0) {
    const int32_t outer_position = builder_.position();
    builder_.set_position(expression.position);
    result = compile_node(expression, input, target);
    builder_.set_position(outer_position);
    if (input.computed.size() < max_remembered) {
      input.computed.push_back({signature, &expression, result});
      builder_.remember([&input, size = input.computed.size()] { input.computed.resize(size - 1); });
    }
  }
  return result;
}

void ExpressionCompiler::compile_into(const Expression& expression, InputColumns& input, int32_t target) {
  const int32_t result = compile_to(expression, input, target);
  check_invariant(result == target, "an expression is compiled into its block");
}

void ExpressionCompiler::compile_result(const Expression& expression, InputColumns& input, int32_t target) {
  const PhysicalType physical = expression.type.physical();
  if (expression.kind == Kind::Constant) {
    load_constant(expression.value, target, &physical);
    return;
  }
  if (expression.kind == Kind::Parameter) {
    load_parameter(expression, target, &physical);
    return;
  }
  if (expression.kind == Kind::Column) {
    InputColumn& column = input[expression.column];
    if (column.reloadable) {
      column.load(target, &physical);
      return;
    }
  }
  const int32_t value = widen(compile(expression, input), physical);
  info(target) = info(value);
  builder_.emit(Opcode::Move, target, value);
}

int32_t ExpressionCompiler::compile_column(const Expression& expression, InputColumns& input, int32_t target) {
  InputColumn& column = input[expression.column];
  if (target >= 0 && column.reloadable) return column.load(target, nullptr);
  if (column.loaded < 0) {
    column.loaded = column.load(-1, nullptr);
    builder_.remember([&column] { column.loaded = -1; });
  }
  if (target < 0) return column.loaded;
  info(target) = info(column.loaded);
  builder_.emit(Opcode::Move, target, column.loaded);
  return target;
}

int32_t ExpressionCompiler::compile_node(const Expression& expression, InputColumns& input, int32_t target) {
  switch (expression.kind) {
    case Kind::Add:
    case Kind::Sub:
    case Kind::Mul:
    case Kind::Div:
    case Kind::Mod: return compile_binary(expression, input, target);
    case Kind::Negate: {
      const int32_t value = compile(*expression.args[0], input);
      if (info(value).physical <= PhysicalType::Int128 && info(value).physical != PhysicalType::Bool) {
        const int32_t zero = load_constant(Value::integral(info(value).type, 0), -1, &info(value).physical);
        return arithmetic(Kind::Sub, zero, value, expression.type, target);
      }
      const int32_t result = allocate({info(value).physical, expression.type, info(value).nullable}, target);
      builder_.emit(Opcode::Negate, result, value, 0, Check::Register);
      return result;
    }
    case Kind::Eq:
    case Kind::Neq:
    case Kind::Lt:
    case Kind::Le:
    case Kind::Gt:
    case Kind::Ge:
    case Kind::IsDistinct:
    case Kind::IsNotDistinct: return compile_comparison(expression, input, target);
    case Kind::And:
    case Kind::Or: return compile_logic(expression, input, target);
    case Kind::Not:
    case Kind::IsNull:
    case Kind::IsNotNull:
    case Kind::IsTrue:
    case Kind::IsNotTrue:
    case Kind::IsFalse:
    case Kind::IsNotFalse: return compile_test(expression, input, target);
    case Kind::In: return compile_in(expression, input, target);
    case Kind::Case: return compile_case(expression, input, target);
    case Kind::Coalesce: return compile_coalesce(expression, input, target);
    case Kind::NullIf: return compile_nullif(expression, input, target);
    case Kind::Greatest:
    case Kind::Least: return compile_extreme(expression, input, target);
    case Kind::Cast: {
      const int32_t value = compile(*expression.args[0], input);
      return cast(value, expression.type, target);
    }
    case Kind::Call:
    case Kind::Concat: return compile_call(expression, input, target);
    case Kind::Parameter:
    case Kind::Constant:
    case Kind::Column: break;
  }
  throw Error(SqlState::internal_error, "invariant broken: every kind of expression is compiled", expression.position);
}

int32_t ExpressionCompiler::compile_binary(const Expression& expression, InputColumns& input, int32_t target) {
  const int32_t left = compile(*expression.args[0], input);
  const int32_t right = compile(*expression.args[1], input);
  builder_.set_position(expression.position);
  return arithmetic(expression.kind, left, right, expression.type, target);
}

int32_t ExpressionCompiler::load_constant(const Value& value, int32_t target, const PhysicalType* physical) {
  const Type& type = value.type();
  const bool integral = range_of(type).has_value();
  const bool fixed_form = type.id == TypeId::Date || type.id == TypeId::Timestamp;
  if (value.is_null()) {
    const int32_t result = allocate({physical ? *physical : type.physical(), type, true}, target);
    builder_.emit(Opcode::Null, result);
    return result;
  }
  if (!integral) {
    const int32_t result = allocate({type.physical(), type, false}, target);
    builder_.emit(type.is_float() ? Opcode::Float : Opcode::Constant, result, 0, 0, value);
    return result;
  }
  const int128_t number = value.as_integral();
  const Range range{number, number};
  const PhysicalType form = physical ? *physical : fixed_form ? type.physical() : narrowest(range);
  const int32_t result = allocate({form, type, false, true, number, number}, target);
  if (narrowest(range) == PhysicalType::Int32)
    builder_.emit(Opcode::Integer, result, static_cast<int32_t>(number));
  else
    builder_.emit(Opcode::Constant, result, 0, 0, value);
  return result;
}

// Computed with, a small number stays small: what is proven of it holds for others of as many bytes.
int32_t ExpressionCompiler::load_parameter(const Expression& parameter, int32_t target, const PhysicalType* physical) {
  const Type& type = parameter.type;
  Program& program = builder_.program();
  std::optional<Range> all = range_of(type);
  const bool fixed_form = type.id == TypeId::Date || type.id == TypeId::Timestamp;
  const PhysicalType* form = physical;
  const PhysicalType own_form = type.physical();
  if (form == nullptr && (fixed_form || !all)) form = &own_form;
  RegisterInfo loaded{own_form, type, false};
  if (all) {
    const Range values = form ? *all : range_around(parameter.value.as_integral(), *all);
    loaded = {form ? *form : narrowest(values), type, false, true, values.low, values.high};
    if (values != *all) program.parameters.facts.push_back({parameter.index, values, {}});
  }
  const int32_t result = allocate(loaded, target);
  const int32_t address =
      builder_.emit(type.is_float() ? Opcode::Float : Opcode::Constant, result, 0, 0, parameter.value);
  if (all) put_integer(program.instructions[static_cast<size_t>(address)], parameter.value);
  program.parameters.uses.push_back({ParameterUse::Kind::Load, parameter.index, address});
  return result;
}

const Dictionary* ExpressionCompiler::dictionary_of(const Expression& expression, const InputColumns& input) {
  return expression.kind == Kind::Column ? input[expression.column].dictionary : nullptr;
}

int32_t ExpressionCompiler::compile_code(const Expression& expression, InputColumns& input, int32_t target) {
  if (!dictionary_of(expression, input)) return -1;
  InputColumn& column = input[expression.column];
  if (target >= 0) return column.load_code(target);
  if (column.loaded_code < 0) {
    column.loaded_code = column.load_code(-1);
    builder_.remember([&column] { column.loaded_code = -1; });
  }
  return column.loaded_code;
}

std::shared_ptr<const TabletSource> ExpressionCompiler::source_of(const Dictionary& dictionary) {
  std::shared_ptr<const TabletSource>& source = dictionary_sources_[&dictionary];
  if (source) return source;
  std::vector<Value> strings;
  strings.reserve(dictionary.size());
  for (uint32_t code = 0; code < dictionary.size(); ++code)
    strings.push_back(Value::text(std::string(dictionary[code])));
  source = make_value_source({{"entry", Type{TypeId::Text}}}, strings, static_cast<int64_t>(strings.size()));
  return source;
}

// A strict expression over one dictionary column is computed once for every entry, and rows look their code up. The
// result is -1 when the expression is no such, the dictionary is not much smaller than the table, or an entry (which
// perhaps no row has) raises an error.
int32_t ExpressionCompiler::compile_over_dictionary(const Expression& expression, InputColumns& input, int32_t target) {
  const ColumnId read = is_strict(expression.kind) ? only_column(expression) : no_column;
  if (read == no_column || !input[read].dictionary) return -1;
  const Dictionary& dictionary = *input[read].dictionary;
  const bool plain_equality = expression.kind == Kind::Eq || expression.kind == Kind::Neq;
  if (dictionary.size() * int64_t{4} > input.row_bound ||
      (plain_equality && has_value(*expression.args[1]) && expression.args[0]->kind == Kind::Column))
    return -1;
  const uint64_t signature = signature_of(expression);
  if (const int32_t number = find_computed(expression, signature, input); target < 0 && number >= 0) return number;
  LookupTable table;
  table.entry = {expression.type.physical(), expression.type, true};
  try {
    table.values = evaluator_.evaluate({&expression}, source_of(dictionary), {read});
  } catch (const Error&) {
    return -1;
  }
  rely_on_values(expression, builder_.program());
  const ExpressionPtr column = column_expression(read, {TypeId::Text});
  const int32_t code = compile_code(*column, input, -1);
  auto& lookups = builder_.program().lookups;
  lookups.push_back(std::move(table));
  const int32_t result = allocate(lookups.back().entry, target);
  builder_.emit(Opcode::Lookup, result, code, static_cast<int32_t>(lookups.size()) - 1);
  input.computed.push_back({signature, &expression, result});
  builder_.remember([&input, size = input.computed.size()] { input.computed.resize(size - 1); });
  return result;
}

}  // namespace diptych
