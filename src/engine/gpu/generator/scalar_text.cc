#include "engine/gpu/generator/scalar_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "kernel/function_table.h"
#include "program/comparison.h"

namespace diptych::gpu {
namespace {

bool is_whole(PhysicalType physical) {
  return physical == PhysicalType::Int32 || physical == PhysicalType::Int64 || physical == PhysicalType::Int128;
}

bool is_float(PhysicalType physical) { return physical == PhysicalType::Float32 || physical == PhysicalType::Float64; }

std::string number(int64_t value) { return std::to_string(value); }

std::string name_of(FunctionType type) { return Type{type_id_of(type)}.name(); }

// "upper", "cast from double precision to text"
std::string call_name(const FunctionInfo& info) {
  if (std::string_view(info.sql_name) != "cast") return info.sql_name;
  return fmt::format("cast from {} to {}", name_of(info.arguments[0]), name_of(info.result));
}

class Expression {
 public:
  Expression(const Program& program, const Instruction& instruction, const OperandText& operand)
      : program_(program), instruction_(instruction), operand_(operand) {}

  ScalarText make() {
    switch (instruction_.opcode) {
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul: make_arithmetic(); break;
      case Opcode::Negate: make_negate(); break;
      case Opcode::Div:
      case Opcode::Mod: make_division(); break;
      case Opcode::NumericDiv: make_numeric_division(); break;
      case Opcode::Rescale: make_rescale(); break;
      case Opcode::Cast: make_cast(); break;
      case Opcode::Call: make_call(); break;
      case Opcode::Concat: make_concat(); break;
      default: make_comparison();
    }
    return std::move(text_);
  }

 private:
  PhysicalType physical(int32_t number) const { return program_.registers[static_cast<size_t>(number)].physical; }
  const RegisterInfo& out() const { return program_.registers[static_cast<size_t>(out_register())]; }
  int32_t out_register() const { return instruction_.opcode == Opcode::Cast ? instruction_.p3 : instruction_.p1; }
  std::string operand_as(int32_t number, PhysicalType to) const {
    return widened(operand_(number), physical(number), to);
  }
  // `error` is stored into.
  std::string raising(std::string value) {
    text_.raises = true;
    return value;
  }
  std::string call(const std::string& function, std::initializer_list<std::string> arguments, bool raises) {
    std::string result = "dk_" + function + "(";
    const char* separator = "";
    for (const std::string& argument : arguments) {
      result += separator + argument;
      separator = ", ";
    }
    if (raises) {
      result += std::string(separator) + "&error";
      text_.raises = true;
    }
    return result + ")";
  }

  Check check() const {
    const Check* given = std::get_if<Check>(&instruction_.p4);
    return given != nullptr ? *given : Check::Register;
  }

  // Brings a whole number of form `from` into the form of the out register, then makes the check beyond its width.
  void finish_whole(std::string value, PhysicalType from) {
    const PhysicalType to = out().physical;
    if (width_bytes(from) > width_bytes(to)) {
      value = raising(call(std::string("narrow_") + suffix_of(from) + "_" + suffix_of(to), {value}, true));
    } else {
      value = widened(value, from, to);
    }
    if (check() == Check::Int16) {
      value = to == PhysicalType::Int32 ? call("check_i16", {value}, true)
                                        : call(std::string("check_i16_") + suffix_of(to), {value}, true);
    } else if (check() == Check::Digits) {
      value = call(
          std::string("check_digits_") + (to == PhysicalType::Int128 ? "i128" : "i64"),
          {widened(value, to, to == PhysicalType::Int128 ? to : PhysicalType::Int64), number(out().type.precision)},
          true);
      if (to == PhysicalType::Int32) value = "(dk_i32)" + value;
    }
    text_.value = std::move(value);
  }

  void make_arithmetic() {
    const std::string name = instruction_.opcode == Opcode::Add   ? "add"
                             : instruction_.opcode == Opcode::Sub ? "sub"
                                                                  : "mul";
    if (is_float(out().physical)) {
      const PhysicalType form = out().physical;
      const bool checked = check() != Check::None;
      text_.value = call(name + (checked ? "_" : "_unchecked_") + suffix_of(form),
                         {operand_as(instruction_.p2, form), operand_as(instruction_.p3, form)}, checked);
      return;
    }
    const PhysicalType a = physical(instruction_.p2), b = physical(instruction_.p3);
    PhysicalType form = std::max({out().physical, a, b}, by_width);
    const bool product_of_words = instruction_.opcode == Opcode::Mul && form == PhysicalType::Int128 &&
                                  width_bytes(a) <= 8 && width_bytes(b) <= 8;
    if (product_of_words) {
      finish_whole(
          call("mul_wide_i64",
               {operand_as(instruction_.p2, PhysicalType::Int64), operand_as(instruction_.p3, PhysicalType::Int64)},
               false),
          form);
      return;
    }
    const bool wraps = check() == Check::None && !(instruction_.opcode == Opcode::Mul && form == PhysicalType::Int128);
    text_.is_costly = instruction_.opcode == Opcode::Mul && form == PhysicalType::Int128;
    finish_whole(call(name + (wraps ? "_unchecked_" : "_") + suffix_of(form),
                      {operand_as(instruction_.p2, form), operand_as(instruction_.p3, form)}, !wraps),
                 form);
  }
  static bool by_width(PhysicalType a, PhysicalType b) { return width_bytes(a) < width_bytes(b); }

  void make_negate() {
    const PhysicalType form = out().physical;
    const std::string value = operand_as(instruction_.p2, form);
    if (is_float(form) || form == PhysicalType::Int128) {
      text_.value = call(std::string("neg_") + suffix_of(form), {value}, false);
      return;
    }
    finish_whole(call(std::string("neg_") + suffix_of(form), {value}, true), form);
  }

  void make_division() {
    const std::string name = instruction_.opcode == Opcode::Div ? "div" : "mod";
    text_.is_costly = true;
    const PhysicalType form = out().physical;
    if (is_float(form)) {
      if (instruction_.opcode == Opcode::Div) {
        text_.value = call(name + "_" + suffix_of(form),
                           {operand_as(instruction_.p2, form), operand_as(instruction_.p3, form)}, true);
      } else {
        const PhysicalType wide = PhysicalType::Float64;
        text_.value = std::string("(") + type_text(form) + ")" +
                      call("mod_f64", {operand_as(instruction_.p2, wide), operand_as(instruction_.p3, wide)}, true);
      }
      return;
    }
    const PhysicalType work = std::max(physical(instruction_.p2), physical(instruction_.p3), by_width);
    const std::string a = operand_as(instruction_.p2, work), b = operand_as(instruction_.p3, work);
    // The quotient of integers keeps their scale, which is 0: no digits are shifted.
    if (work == PhysicalType::Int128 && instruction_.opcode == Opcode::Div) {
      finish_whole(call("quotient_i128", {a, b}, true), work);
    } else {
      finish_whole(call(name + "_" + suffix_of(work), {a, b}, true), work);
    }
  }

  void make_numeric_division() {
    text_.is_costly = true;
    const auto shift = static_cast<int32_t>(std::get<int64_t>(instruction_.p4));
    const bool words = physical(instruction_.p2) != PhysicalType::Int128 &&
                       physical(instruction_.p3) != PhysicalType::Int128 && shift >= 0;
    const PhysicalType work = words ? PhysicalType::Int64 : PhysicalType::Int128;
    const std::string a = operand_as(instruction_.p2, work), b = operand_as(instruction_.p3, work);
    text_.value = narrowed_from_i128(call(words ? "div_wide_i64" : "div_i128", {a, b, number(shift)}, true));
  }
  std::string narrowed_from_i128(const std::string& value) {
    if (out().physical == PhysicalType::Int128) return value;
    return call(std::string("narrow_i128_") + suffix_of(out().physical), {value}, true);
  }

  void make_rescale() {
    const int32_t digits = instruction_.p3;
    const PhysicalType from = physical(instruction_.p2);
    const bool wide = from == PhysicalType::Int128 || out().physical == PhysicalType::Int128;
    const PhysicalType work = wide ? PhysicalType::Int128 : PhysicalType::Int64;
    text_.is_costly = digits < 0 || wide;
    finish_whole(
        call(std::string("rescale_") + suffix_of(work),
             {operand_as(instruction_.p2, work), number(digits < 0 ? -digits : 0), number(digits < 0 ? 0 : digits)},
             true),
        work);
  }

  void make_cast() {
    const RegisterInfo& from = program_.registers[static_cast<size_t>(instruction_.p2)];
    const PhysicalType to = out().physical;
    const std::string value = operand_(instruction_.p2);
    if (is_float(to)) return make_cast_to_float(from, value);
    if (is_float(from.physical)) {
      const PhysicalType whole = to == PhysicalType::Int32 ? to : PhysicalType::Int64;
      finish_whole(call(std::string("cast_") + suffix_of(from.physical) + "_" + suffix_of(whole), {value}, true),
                   whole);
      return;
    }
    finish_whole(value, from.physical);
  }
  void make_cast_to_float(const RegisterInfo& from, const std::string& value) {
    const PhysicalType to = out().physical;
    if (from.physical == to) {
      text_.value = value;
    } else if (is_float(from.physical)) {
      text_.value =
          to == PhysicalType::Float32 ? call("cast_f64_f32", {value}, true) : call("cast_f32_f64", {value}, false);
    } else if ((from.type.id != TypeId::Numeric || from.type.scale == 0) && from.physical != PhysicalType::Int128) {
      text_.value =
          call(std::string("cast_i64_") + suffix_of(to), {widened(value, from.physical, PhysicalType::Int64)}, false);
    } else {
      text_.is_costly = true;
      const int scale = from.type.id == TypeId::Numeric ? from.type.scale : 0;
      text_.value =
          call(std::string("cast_n128_") + suffix_of(to),
               {widened(value, from.physical, PhysicalType::Int128), number(scale)}, to == PhysicalType::Float32);
    }
  }

  void make_comparison() {
    const char* name = comparison_name(instruction_.opcode);
    check_invariant(name != nullptr, "an opcode without an expression");
    const auto [a, b] = compared_registers(instruction_);
    PhysicalType form = std::max(physical(a), physical(b), by_width);
    // Truth values compare as integers.
    if (form == PhysicalType::Bool) {
      text_.value = std::string("dk_") + name + "_i32(" + operand_(a) + ", " + operand_(b) + ")";
      return;
    }
    if (physical(a) == physical(b)) form = physical(a);
    text_.is_costly = form == PhysicalType::Text;
    text_.value = std::string("dk_") + name + "_" + suffix_of(form) + "(" + operand_as(a, form) + ", " +
                  operand_as(b, form) + ")";
  }

  static PhysicalType form_of(FunctionType type) {
    switch (type) {
      case FunctionType::BOOLEAN: return PhysicalType::Bool;
      case FunctionType::SMALLINT:
      case FunctionType::INTEGER:
      case FunctionType::DATE: return PhysicalType::Int32;
      case FunctionType::BIGINT:
      case FunctionType::TIMESTAMP:
      case FunctionType::NUMERIC64: return PhysicalType::Int64;
      case FunctionType::NUMERIC128: return PhysicalType::Int128;
      case FunctionType::REAL: return PhysicalType::Float32;
      case FunctionType::DOUBLE: return PhysicalType::Float64;
      case FunctionType::INTERVAL: return PhysicalType::Interval;
      default: return PhysicalType::Text;
    }
  }
  // A value in the form that a parameter has; the compiler of programs has proven that it fits where that is narrower.
  std::string argument(int32_t number, PhysicalType form) const {
    const PhysicalType from = physical(number);
    if (!is_whole(from) || !is_whole(form) || width_bytes(from) <= width_bytes(form))
      return widened(operand_(number), from, form);
    const std::string word = from == PhysicalType::Int128 ? "(dk_i64)(" + operand_(number) + ").lo" : operand_(number);
    return std::string("(") + type_text(form) + ")(" + word + ")";
  }

  void make_call() {
    const FunctionInfo& info = info_of(std::get<FunctionId>(instruction_.p4));
    text_.is_costly = true;
    if (info.has_flag(DK_HOST)) {
      text_.unsupported = fmt::format("{} is computed on the CPU only", call_name(info));
      return;
    }
    std::string arguments;
    for (int32_t i = 0; i < instruction_.p3; ++i) {
      const bool is_sql_argument = static_cast<size_t>(i) < info.argument_types().size();
      const PhysicalType form = is_sql_argument ? form_of(info.arguments[static_cast<size_t>(i)]) : PhysicalType::Int32;
      arguments += (i > 0 ? ", " : "") + argument(instruction_.p2 + i, form);
    }
    const std::string name = std::string("dk_") + info.kernel_name, comma = instruction_.p3 > 0 ? ", " : "";
    text_.raises = info.has_flag(DK_RAISES);
    const std::string error = text_.raises ? comma + "&error" : "";
    if (info.has_flag(DK_TEXT_OUT)) {
      text_.value = name + "_size(" + arguments + error + ")";
      text_.write = name + "_write(" + arguments + comma + "out)";
      return;
    }
    std::string value = name + "(" + arguments + error + ")";
    const PhysicalType result = form_of(info.result);
    if (is_whole(result)) {
      finish_call(std::move(value), result);
    } else {
      text_.value = std::move(value);
    }
  }
  void make_concat() {
    std::string bytes;
    text_.write = "0";
    for (int32_t i = 0; i < instruction_.p3; ++i) {
      const std::string part = operand_(instruction_.p2 + i);
      bytes += (i > 0 ? " + (dk_i64)" : "(dk_i64)") + part + ".length";
      text_.write = "dk_append(out, " + text_.write + ", " + part + ")";
    }
    text_.value = call("check_text_size", {bytes}, true);
  }
  // A function's result has no check of its own; only the register may be narrower.
  void finish_call(std::string value, PhysicalType from) {
    const PhysicalType to = out().physical;
    text_.value = width_bytes(from) > width_bytes(to)
                      ? call(std::string("narrow_") + suffix_of(from) + "_" + suffix_of(to), {value}, true)
                      : widened(value, from, to);
  }

  const Program& program_;
  const Instruction& instruction_;
  const OperandText& operand_;
  ScalarText text_;
};

}  // namespace

const char* type_text(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Bool: return "dk_bool";
    case PhysicalType::Int32: return "dk_i32";
    case PhysicalType::Int64: return "dk_i64";
    case PhysicalType::Int128: return "dk_i128";
    case PhysicalType::Float32: return "dk_f32";
    case PhysicalType::Float64: return "dk_f64";
    case PhysicalType::Interval: return "dk_interval";
    default: return "dk_text";
  }
}

const char* suffix_of(PhysicalType physical) { return type_text(physical) + 3; }

std::string widened(const std::string& value, PhysicalType from, PhysicalType to) {
  if (from == to) return value;
  if (to == PhysicalType::Int128) {
    return from == PhysicalType::Int64 ? "dk_widen_i64(" + value + ")" : "dk_widen_i64((dk_i64)(" + value + "))";
  }
  return std::string("(") + type_text(to) + ")(" + value + ")";
}

const char* comparison_name(Opcode opcode) {
  constexpr const char* names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  const auto comparison = comparison_of(opcode);
  return comparison ? names[static_cast<size_t>(*comparison)] : nullptr;
}

ScalarText scalar_text(const Program& program, const Instruction& instruction, const OperandText& operand) {
  return Expression(program, instruction, operand).make();
}

}  // namespace diptych::gpu
