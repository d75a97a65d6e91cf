// The steps that opcodes become, sinks excepted.
#include "engine/gpu/interpreter/constant_range.h"
#include "engine/gpu/interpreter/step_words.h"
#include "engine/run/prepared.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

SectionLowering::Step& SectionLowering::add_step(dk_step_kind kind, uint32_t number, uint32_t flags) {
  Step& step = steps_.emplace_back();
  step.fill(0);
  step[What] = static_cast<uint32_t>(kind) | number << 8 | flags << 24;
  return step;
}

void SectionLowering::set_out(int32_t number, Step& step) {
  step[Out] = place(number).operand;
  step[OutKnown] = place(number).out_known;
}

void SectionLowering::set_effect(int32_t address, Step& step) {
  const Instruction& instruction = at(address);
  if (info_of(instruction.opcode).kind != OpcodeKind::Jump) {
    add_flags(step, DK_SETS);
    return set_out(register_written(instruction), step);
  }
  const JumpEffect& effect = flow_.effect(address);
  uint32_t flags = DK_JUMPS;
  if (effect.if_null) flags |= DK_JUMPS_IF_NULL;
  if (effect.finishes) flags |= DK_FINISHES;
  if (effect.makes_valid) flags |= DK_MAKES_VALID;
  if (effect.makes_invalid) flags |= DK_MAKES_INVALID;
  add_flags(step, flags);
  if (effect.target >= 0) step[Out] = operand_at(DK_AT_MASK, waiting_[static_cast<size_t>(effect.target)]);
}

void SectionLowering::lower_constant(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = register_written(instruction);
  const PhysicalType physical = info(out).physical;
  const Value* value = std::get_if<Value>(&instruction.p4);
  const bool is_null = instruction.opcode == Opcode::Null || (value != nullptr && value->is_null());
  const bool is_whole = physical == PhysicalType::Int32 || physical == PhysicalType::Int64;
  std::array<uint64_t, 2> words{};
  if (instruction.opcode == Opcode::Integer) {
    words = {static_cast<uint64_t>(int64_t{instruction.p2}), instruction.p2 < 0 ? ~uint64_t{0} : 0};
  } else if (!is_null && physical != PhysicalType::Text) {
    store_value(*value, is_whole ? PhysicalType::Int128 : physical, words.data());
  }
  const uint32_t from = table_operand(words, is_null ? DK_MASK_NONE : DK_MASK_ALL);
  if (!flow_.constants[static_cast<size_t>(out)]) return lower_move(out, from, physical);
  place(out).operand = from;
  place(out).has_values = physical != PhysicalType::Text;
}

void SectionLowering::lower_column(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1;
  const size_t index = shape_.index_of(static_cast<size_t>(instruction.p2));
  const ColumnShape& column = shape_.columns[index];
  const PhysicalType physical = info(out).physical;
  const bool is_text = physical == PhysicalType::Text;
  const bool has_codes = column.encoding == Encoding::Dictionary && !column.mixed;
  if (instruction.opcode == Opcode::Code && !has_codes) return refuse(strings);
  const uint32_t from = column_operand(index, physical);
  if (flow_.writers[static_cast<size_t>(out)] > 1) return lower_move(out, from, physical);
  Place& target = place(out);
  target.operand = from;
  if (is_text && has_codes) target.dictionary_column = static_cast<int>(index);
  target.has_values = !is_text;
}

void SectionLowering::lower_move(int32_t out, uint32_t from, PhysicalType physical) {
  if (!is_kept_as(physical, info(out).physical)) return refuse("a move between floats");
  give_place(out, known_of(from) != DK_MASK_ALL);
  if (!kernel_.unsupported.empty()) return;
  const bool is_truth = info(out).physical == PhysicalType::Bool;
  const bool is_wide = width_bytes(info(out).physical) > 8;
  if (is_wide) table_.push_back(from);
  Step& step = add_step(is_truth  ? DK_STEP_LOGIC
                        : is_wide ? DK_STEP_ROWS
                                  : DK_STEP_MOVE,
                        is_truth  ? DK_LOGIC_TRUE
                        : is_wide ? DK_ROW_MOVE
                                  : 0);
  step[OperandA] = is_wide ? operand_at(DK_AT_NOTHING, table_.size() - 1) : from;
  step[OperandB] = is_wide ? 1 : 0;
  if (is_truth) add_flags(step, DK_SETS);
  set_out(out, step);
}

void SectionLowering::lower_logic(int32_t address, dk_logic logic) {
  const Instruction& instruction = at(address);
  std::vector<uint32_t> operands;
  bool nullable = false;
  for_each_register_read(program_, instruction, [&](int32_t number) {
    operands.push_back(logic < DK_LOGIC_TRUE ? place(number).operand : operand(number));
    nullable |= may_be_null(number);
  });
  if (info_of(instruction.opcode).kind != OpcodeKind::Jump) give_place(instruction.p1, nullable);
  Step& step = add_step(DK_STEP_LOGIC, static_cast<uint32_t>(logic));
  for (size_t i = 0; i < operands.size(); ++i) step[OperandA + i] = operands[i];
  set_effect(address, step);
}

uint32_t SectionLowering::case_number(const ScalarCase& one) {
  if (!one.unsupported.empty()) {
    refuse(one.unsupported);
    return 0;
  }
  if (const auto number = CaseTable::of(false).number_of(one)) return *number;
  with_functions_ = true;
  if (const auto number = CaseTable::of(true).number_of(one)) return *number;
  refuse("the interpreter has no " + one.text);
  return 0;
}

// A comparison of a column with a constant, which needs no values: false where the instruction is none.
bool SectionLowering::lower_range(int32_t address) {
  const Instruction& instruction = at(address);
  std::vector<int32_t> compared;
  for_each_register_read(program_, instruction, [&](int32_t number) { compared.push_back(number); });
  if (compared.size() != 2 || ranges_.size() == 3 * DK_RANGE_ROOM) return false;
  const bool flipped = form_of(place(compared[0]).operand) == DK_AT_TABLE;
  if (flipped) std::swap(compared[0], compared[1]);
  const uint32_t column = place(compared[0]).operand, constant = place(compared[1]).operand;
  if (form_of(column) != DK_AT_COLUMN || form_of(constant) != DK_AT_TABLE || known_of(constant) != DK_MASK_ALL ||
      !place(compared[0]).has_values || !is_kept_as(info(compared[0]).physical, info(compared[1]).physical))
    return false;
  const PhysicalType physical = info(compared[0]).physical;
  const auto range = find_constant_range(instruction.opcode, flipped, physical, table_[constant >> 3 & 0x1FFF]);
  if (!range) return false;
  const bool nullable = may_be_null(compared[0]);
  if (info_of(instruction.opcode).kind != OpcodeKind::Jump) give_place(register_written(instruction), nullable);
  Step& step = add_step(DK_STEP_RANGE, static_cast<uint32_t>(ranges_.size() / 3));
  step[OperandA] = column;
  set_effect(address, step);
  ranges_.push_back(column | uint64_t{static_cast<uint32_t>(range->kind)} << 32 | uint64_t{range->negated} << 40);
  ranges_.insert(ranges_.end(), {range->least, range->greatest});
  return true;
}

void SectionLowering::lower_scalar(int32_t address) {
  if (lower_range(address)) return;
  const Instruction& instruction = at(address);
  const ScalarCase one = scalar_case(program_, instruction);
  const uint32_t number = case_number(one);
  if (!kernel_.unsupported.empty()) return;
  std::vector<uint32_t> operands;
  bool nullable = false;
  for_each_register_read(program_, instruction, [&](int32_t from) {
    operands.push_back(operand(from));
    nullable |= may_be_null(from);
  });
  const int32_t out = register_written(instruction);
  if (out >= 0) give_place(out, nullable);
  const bool by_row = one.path == CasePath::Rows;
  Step& step = add_step(by_row                          ? DK_STEP_ROWS
                        : one.path == CasePath::Compare ? DK_STEP_COMPARE
                                                        : DK_STEP_VALUE,
                        number);
  if (by_row) {
    step[OperandA] = operand_at(DK_AT_NOTHING, table_.size());
    step[OperandB] = static_cast<uint32_t>(operands.size());
    table_.insert(table_.end(), operands.begin(), operands.end());
  } else {
    for (size_t i = 0; i < operands.size(); ++i) step[OperandA + i] = operands[i];
  }
  step[Numbers] = static_cast<uint32_t>(one.first) | static_cast<uint32_t>(one.second) << 16;
  step[Address] = static_cast<uint32_t>(address);
  if (instruction.opcode == Opcode::SetDistinct) add_flags(step, DK_DISTINCT);
  if (instruction.opcode == Opcode::SetNotDistinct) add_flags(step, DK_DISTINCT | DK_NULL_UNLESS_TRUE);
  one.is_condition ? set_effect(address, step) : set_out(out, step);
}

void SectionLowering::lower_in(int32_t address) {
  const Instruction& instruction = at(address);
  const ValueSet& set = program_.sets[static_cast<size_t>(instruction.p3)];
  if (width_bytes(info(instruction.p2).physical) > width_bytes(set.physical))
    return refuse("IN a list of narrower numbers");
  dk_list list = DK_LIST_I32;
  switch (set.physical) {
    case PhysicalType::Int32: break;
    case PhysicalType::Int64: list = DK_LIST_I64; break;
    case PhysicalType::Float32: list = DK_LIST_F32; break;
    case PhysicalType::Float64: list = DK_LIST_F64; break;
    default: return refuse("the interpreter looks numbers of at most 64 bits up in lists");
  }
  if (!is_kept_as(info(instruction.p2).physical, set.physical)) return refuse("IN a list of other floats");
  const uint32_t from = operand(instruction.p2);
  give_place(instruction.p1, set.has_null || may_be_null(instruction.p2));
  const uint32_t values = parameter_operand({Kind::SetValues, instruction.p3, 0}, {Kind::SetCount, instruction.p3, 0});
  Step& step = add_step(DK_STEP_IN, static_cast<uint32_t>(list), set.has_null ? DK_NULL_UNLESS_TRUE : 0);
  step[OperandA] = from;
  step[OperandB] = values;
  set_effect(address, step);
}

void SectionLowering::lower_lookup(int32_t address) {
  const Instruction& instruction = at(address);
  const PhysicalType entry = program_.lookups[static_cast<size_t>(instruction.p3)].entry.physical;
  if (entry == PhysicalType::Text || width_bytes(entry) > 8)
    return refuse("the interpreter looks up entries of at most 64 bits");
  if (!is_kept_as(entry, info(instruction.p1).physical)) return refuse("a lookup table of other floats");
  const uint32_t from = operand(instruction.p2);
  give_place(instruction.p1, true);
  const uint32_t entries =
      parameter_operand({Kind::LookupEntries, instruction.p3, 0}, {Kind::LookupBytes, instruction.p3, 0});
  Step& step = add_step(DK_STEP_LOOKUP, static_cast<uint32_t>(width_bytes(entry)));
  step[OperandA] = from;
  step[OperandB] = entries;
  entry == PhysicalType::Bool ? set_effect(address, step) : set_out(instruction.p1, step);
}

}  // namespace diptych::gpu
