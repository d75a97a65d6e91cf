#include "engine/gpu/interpreter/scalar_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/gpu/generator/scalar_text.h"
#include "kernel/device/interpreter_codes.h"
#include "program/operands.h"

namespace diptych::gpu {
namespace {

// Stand for the numbers of a step while its text is made; no name of the kernel subset has these digits.
constexpr uint8_t first_marker = 119, second_marker = 117;

bool is_whole(PhysicalType physical) {
  return physical == PhysicalType::Int32 || physical == PhysicalType::Int64 || physical == PhysicalType::Int128;
}

bool is_wide(PhysicalType physical) { return width_bytes(physical) > 8; }

PhysicalType wider(PhysicalType a, PhysicalType b) { return width_bytes(a) < width_bytes(b) ? b : a; }

std::string operand_text(CasePath path, size_t number, PhysicalType physical) {
  const std::string low = path == CasePath::Rows ? fmt::format("x[{}].lo", number) : number == 0 ? "a[k]" : "b[k]";
  switch (physical) {
    case PhysicalType::Bool: return "(dk_bool)" + low;
    case PhysicalType::Int32: return "(dk_i32)" + low;
    case PhysicalType::Int64: return "(dk_i64)" + low;
    case PhysicalType::Float32: return "DK_F32_OF_BITS((dk_u32)" + low + ")";
    case PhysicalType::Float64: return "DK_F64_OF_BITS((dk_u64)" + low + ")";
    case PhysicalType::Interval: return fmt::format("dk_interval_of_words(x[{0}].lo, (dk_u64)x[{0}].hi)", number);
    default: return fmt::format("x[{}]", number);
  }
}

// A result in the form that steps keep: 64 bits, or two words where it is made row by row.
std::string result_text(CasePath path, const std::string& value, PhysicalType physical) {
  std::string word;
  switch (physical) {
    case PhysicalType::Int128: return value;
    case PhysicalType::Interval: return "dk_words_of_interval(" + value + ")";
    case PhysicalType::Float32: word = "(dk_i64)DK_F32_BITS(" + value + ")"; break;
    case PhysicalType::Float64: word = "(dk_i64)DK_F64_BITS(" + value + ")"; break;
    default: word = "(dk_i64)(" + value + ")";
  }
  return path == CasePath::Rows ? "dk_widen_i64(" + word + ")" : word;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

PhysicalType form_of(FunctionType type) {
  if (type == FunctionType::NUMERIC64) return PhysicalType::Int64;
  if (type == FunctionType::NUMERIC128) return PhysicalType::Int128;
  return Type{type_id_of(type)}.physical();
}

// One instruction with nothing around it: registers 0 to n - 1 are its operands, n is its result.
class LoneInstruction {
 public:
  LoneInstruction(std::vector<RegisterInfo> operands, RegisterInfo out, const Instruction& instruction)
      : instruction_(instruction), count_(operands.size()) {
    program_.registers = std::move(operands);
    program_.registers.push_back(std::move(out));
    number_registers();
    widen_operands();
    put_markers();
  }

  ScalarCase make() {
    ScalarCase result;
    result.first = first_;
    result.second = second_;
    const bool compares = comparison_name(instruction_.opcode) != nullptr;
    const PhysicalType physical = compares ? PhysicalType::Bool : out().physical;
    result.is_condition = physical == PhysicalType::Bool;
    bool wide = is_wide(physical);
    for (size_t i = 0; i < count_; ++i) {
      wide |= is_wide(program_.registers[i].physical);
      if (program_.registers[i].physical == PhysicalType::Text) result.unsupported = "strings in registers";
    }
    if (physical == PhysicalType::Text) result.unsupported = "strings in registers";
    if (count_ > DK_ROW_OPERANDS) result.unsupported = "a function of that many arguments";
    if (!result.unsupported.empty()) return result;
    ScalarText text = text_for(CasePath::Rows);
    result.unsupported = text.unsupported;
    if (text.is_costly || wide || count_ > 2) {
      result.path = CasePath::Rows;
    } else {
      result.path = result.is_condition ? CasePath::Compare : CasePath::Value;
      text = text_for(result.path);
    }
    const bool is_mask = result.path == CasePath::Compare;
    result.text = is_mask ? text.value : result_text(result.path, text.value, physical);
    replace_all(result.text, std::to_string(first_marker), "first");
    replace_all(result.text, std::to_string(second_marker), "second");
    return result;
  }

 private:
  RegisterInfo& out() { return program_.registers[count_]; }
  PhysicalType& form(size_t number) { return program_.registers[number].physical; }
  ScalarText text_for(CasePath path) {
    return scalar_text(program_, instruction_, [&](int32_t number) {
      return operand_text(path, static_cast<size_t>(number), program_.registers[static_cast<size_t>(number)].physical);
    });
  }

  void number_registers() {
    const auto result = static_cast<int32_t>(count_);
    const bool jumps = info_of(instruction_.opcode).kind == OpcodeKind::Jump;
    switch (instruction_.opcode) {
      case Opcode::Cast: instruction_.p2 = 0, instruction_.p3 = result; break;
      case Opcode::Call:
      case Opcode::Rescale:
      case Opcode::Negate: instruction_.p1 = result, instruction_.p2 = 0; break;
      default:
        instruction_.p1 = jumps ? 0 : result;
        instruction_.p2 = jumps ? 1 : 0;
        if (!jumps) instruction_.p3 = 1;
    }
  }

  // Operands come with their sign in 64 bits, or in 128 row by row, so that narrower ones need no form of their own.
  void widen_operands() {
    PhysicalType widest = PhysicalType::Int32;
    for (size_t i = 0; i < count_; ++i) {
      if (is_whole(form(i))) widest = wider(widest, form(i));
    }
    const bool product = instruction_.opcode == Opcode::Mul;
    switch (instruction_.opcode) {
      case Opcode::Call: return widen_arguments();
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul:
      case Opcode::Cast:
        if (is_whole(out().physical)) {
          const PhysicalType result = out().physical;
          widest = product && is_wide(result) && !is_wide(widest) ? PhysicalType::Int64 : wider(widest, result);
        } else {
          widest = wider(widest, PhysicalType::Int64);
          const Type& type = program_.registers[0].type;
          if (type.id == TypeId::Numeric && type.scale != 0) widest = PhysicalType::Int128;
        }
        break;
      case Opcode::Rescale: widest = wider(PhysicalType::Int64, wider(widest, out().physical)); break;
      case Opcode::NumericDiv: widest = wider(widest, PhysicalType::Int64); break;
      default: break;
    }
    for (size_t i = 0; i < count_; ++i) {
      if (is_whole(form(i))) form(i) = widest;
    }
  }

  // In the form of the parameters; the compiler of programs has proven that they fit.
  void widen_arguments() {
    const FunctionInfo& info = info_of(std::get<FunctionId>(instruction_.p4));
    for (size_t i = 0; i < count_; ++i) {
      if (!is_whole(form(i))) continue;
      form(i) = i < info.argument_types().size() ? form_of(info.argument_types()[i]) : PhysicalType::Int32;
    }
    if (is_whole(out().physical)) out().physical = form_of(info.result);
  }

  void put_markers() {
    const Check* check = std::get_if<Check>(&instruction_.p4);
    if (check != nullptr && *check == Check::Digits) {
      second_ = out().type.precision;
      out().type.precision = second_marker;
    }
    if (instruction_.opcode == Opcode::Rescale) {
      first_ = std::abs(instruction_.p3);
      instruction_.p3 = instruction_.p3 < 0 ? -first_marker : first_marker;
    }
    if (instruction_.opcode == Opcode::NumericDiv) {
      const int64_t shift = std::get<int64_t>(instruction_.p4);
      first_ = static_cast<int32_t>(std::abs(shift));
      instruction_.p4 = int64_t{shift < 0 ? -first_marker : first_marker};
    }
    if (instruction_.opcode == Opcode::Cast && is_whole(form(0)) && is_wide(form(0)) && !is_whole(out().physical)) {
      Type& type = program_.registers[0].type;
      first_ = type.id == TypeId::Numeric ? type.scale : 0;
      type = Type::numeric(max_precision, first_marker);
    }
  }

  Program program_;
  Instruction instruction_;
  size_t count_;
  int32_t first_ = 0, second_ = 0;
};

RegisterInfo register_of(PhysicalType physical) {
  RegisterInfo info;
  info.physical = physical;
  info.type = Type::numeric(max_precision, 0);
  return info;
}

constexpr PhysicalType whole_forms[] = {PhysicalType::Int32, PhysicalType::Int64, PhysicalType::Int128};
constexpr PhysicalType float_forms[] = {PhysicalType::Float32, PhysicalType::Float64};
constexpr Check checks[] = {Check::None, Check::Register, Check::Int16, Check::Digits};

}  // namespace

ScalarCase scalar_case(const Program& program, const Instruction& instruction) {
  std::vector<RegisterInfo> operands;
  for_each_register_read(program, instruction,
                         [&](int32_t number) { operands.push_back(program.registers[static_cast<size_t>(number)]); });
  const int32_t written = register_written(instruction);
  const RegisterInfo out =
      written >= 0 ? program.registers[static_cast<size_t>(written)] : register_of(PhysicalType::Bool);
  return LoneInstruction(std::move(operands), out, instruction).make();
}

const CaseTable& CaseTable::of(bool with_functions) {
  static const CaseTable small(false), large(true);
  return with_functions ? large : small;
}

CaseTable::CaseTable(bool with_functions) {
  ScalarCase move;  // DK_ROW_MOVE
  move.path = CasePath::Rows;
  move.text = "x[0]";
  add(move);
  add_arithmetic();
  add_conversions();
  add_comparisons();
  if (with_functions) add_functions();
}

void CaseTable::add(const ScalarCase& one) {
  if (!one.unsupported.empty()) return;
  std::vector<std::string>& texts = texts_[static_cast<size_t>(one.path)];
  if (numbers_.emplace(std::pair(one.path, one.text), static_cast<int32_t>(texts.size())).second)
    texts.push_back(one.text);
}

std::optional<int32_t> CaseTable::number_of(const ScalarCase& wanted) const {
  const auto found = numbers_.find(std::pair(wanted.path, wanted.text));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

void CaseTable::add_opcode(Opcode opcode, std::vector<PhysicalType> operands, PhysicalType out, Check check,
                           int32_t number) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.p3 = number;
  instruction.p4 = check;
  if (opcode == Opcode::NumericDiv) instruction.p4 = int64_t{number};
  std::vector<RegisterInfo> infos;
  for (PhysicalType form : operands) infos.push_back(register_of(form));
  add(LoneInstruction(std::move(infos), register_of(out), instruction).make());
}

void CaseTable::add_arithmetic() {
  using enum PhysicalType;
  for (Opcode opcode : {Opcode::Add, Opcode::Sub, Opcode::Mul}) {
    for (Check check : checks) {
      for (PhysicalType form : whole_forms) add_opcode(opcode, {form, form}, form, check, 0);
      add_opcode(opcode, {Int64, Int64}, Int128, check, 0);
    }
    for (PhysicalType form : float_forms) {
      for (Check check : {Check::None, Check::Register}) add_opcode(opcode, {form, form}, form, check, 0);
    }
  }
  for (Opcode opcode : {Opcode::Div, Opcode::Mod}) {
    for (Check check : {Check::Register, Check::Int16}) {
      for (PhysicalType form : whole_forms) add_opcode(opcode, {form, form}, form, check, 0);
    }
    for (PhysicalType form : float_forms) add_opcode(opcode, {form, form}, form, Check::Register, 0);
  }
  for (PhysicalType form : float_forms) add_opcode(Opcode::Negate, {form}, form, Check::Register, 0);
  for (PhysicalType out : whole_forms) {
    add_opcode(Opcode::NumericDiv, {Int64, Int64}, out, Check::None, 1);
    add_opcode(Opcode::NumericDiv, {Int128, Int128}, out, Check::None, 1);
  }
}

void CaseTable::add_conversions() {
  for (Check check : checks) {
    for (PhysicalType to : whole_forms) {
      for (PhysicalType from : whole_forms) {
        add_opcode(Opcode::Cast, {from}, to, check, 0);
        for (int32_t digits : {1, -1}) add_opcode(Opcode::Rescale, {from}, to, check, digits);
      }
      for (PhysicalType from : float_forms) add_opcode(Opcode::Cast, {from}, to, check, 0);
    }
    for (PhysicalType to : float_forms) {
      for (PhysicalType from : whole_forms) add_opcode(Opcode::Cast, {from}, to, check, 0);
      for (PhysicalType from : float_forms) add_opcode(Opcode::Cast, {from}, to, check, 0);
    }
  }
}

void CaseTable::add_comparisons() {
  using enum PhysicalType;
  for (Opcode opcode : {Opcode::SetEq, Opcode::SetNeq, Opcode::SetLt, Opcode::SetLe, Opcode::SetGt, Opcode::SetGe}) {
    for (PhysicalType form : {Bool, Int32, Int64, Int128, Float32, Float64, Interval})
      add_opcode(opcode, {form, form}, Bool, Check::None, 0);
  }
}

void CaseTable::add_functions() {
  for (size_t i = 0; i < function_count; ++i) {
    const auto id = static_cast<FunctionId>(i);
    const FunctionInfo& info = info_of(id);
    const auto is_numeric = [](FunctionType type) {
      return type == FunctionType::NUMERIC64 || type == FunctionType::NUMERIC128;
    };
    std::vector<RegisterInfo> operands;
    for (FunctionType type : info.argument_types()) operands.push_back(register_of(form_of(type)));
    const auto numerics = static_cast<size_t>(std::ranges::count_if(info.argument_types(), is_numeric));
    operands.resize(operands.size() + numerics + (is_numeric(info.result) ? 2 : 0), register_of(PhysicalType::Int32));
    Instruction instruction;
    instruction.opcode = Opcode::Call;
    instruction.p3 = static_cast<int32_t>(operands.size());
    instruction.p4 = id;
    add(LoneInstruction(std::move(operands), register_of(form_of(info.result)), instruction).make());
  }
}

}  // namespace diptych::gpu
