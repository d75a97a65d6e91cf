#include "engine/gpu/interpreter/section_lowering.h"

#include <algorithm>
#include <limits>

#include "engine/gpu/interpreter/interpreter_text.h"
#include "engine/gpu/interpreter/step_words.h"
#include "program/operands.h"
#include "program/section_contents.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

SectionKernel interpret_section(const Program& program, int32_t address, const SectionShape& shape) {
  return SectionLowering(program, address, shape).lower();
}

int FreeNumbers::take(size_t count) {
  for (size_t first = 0; first + count <= taken_.size(); ++first) {
    const auto begin = taken_.begin() + static_cast<ptrdiff_t>(first), end = begin + static_cast<ptrdiff_t>(count);
    if (std::find(begin, end, true) != end) continue;
    std::fill(begin, end, true);
    return static_cast<int>(first);
  }
  return -1;
}

void FreeNumbers::give_back(int first, size_t count) {
  std::fill_n(taken_.begin() + first, static_cast<ptrdiff_t>(count), false);
}

SectionLowering::SectionLowering(const Program& program, int32_t address, const SectionShape& shape)
    : program_(program),
      address_(address),
      shape_(shape),
      flow_(analyse_section(program, address)),
      places_(program.registers.size()) {
  free_masks_.take(DK_MASK_FIRST_FREE);
}

SectionKernel SectionLowering::lower() {
  if (!shape_.unsupported.empty()) refuse(shape_.unsupported);
  if (tablet_words + column_words * shape_.columns.size() > DK_TABLET_ROOM)
    refuse("more columns than the interpreter has room for");
  if (meets_index(program_, flow_.first - 1)) refuse(meets_an_index);
  find_sink();
  if (kernel_.unsupported.empty()) find_uses();
  if (kernel_.unsupported.empty()) lower_instructions();
  if (!kernel_.unsupported.empty()) return std::move(kernel_);
  finish_jumps();
  assemble();
  return std::move(kernel_);
}

void SectionLowering::find_sink() {
  int sinks = 0;
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    if (info_of(instruction.opcode).kind != OpcodeKind::Sink) continue;
    if (instruction.opcode == Opcode::Result) {
      ++sinks;
    } else if (instruction.opcode == Opcode::Aggregate && instruction.p3 < 0) {
      if (kernel_.hash_table != instruction.p1) ++sinks;
      kernel_.sink = SectionKernel::Sink::Totals;
      kernel_.hash_table = instruction.p1;
    } else {
      return refuse("the interpreter neither groups nor sorts");
    }
  }
  if (sinks != 1) return refuse("a section without a sink, or with several");
  if (kernel_.sink != SectionKernel::Sink::Totals) return;
  states_ = layout_states(program_.hash_tables[static_cast<size_t>(kernel_.hash_table)]);
  if (states_.note_words > 1) refuse("more than 16 aggregates in the interpreter");
  if (!states_.unsupported.empty()) return refuse(states_.unsupported);
  if (states_.has(StateKind::Exact)) return refuse("deviations, and averages beyond 38 digits, in the interpreter");
  if (states_.words + 1 > DK_STATE_ROOM) return refuse("more aggregates than the interpreter has room for");
  kernel_.partial_words = states_.words;
}

void SectionLowering::find_uses() {
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    // What is written leaves after the last step.
    const int32_t use = instruction.opcode == Opcode::Result ? std::numeric_limits<int32_t>::max() : address;
    for_each_register_read(program_, instruction,
                           [&](int32_t number) { place(number).last_use = std::max(place(number).last_use, use); });
    const int32_t out = register_written(instruction);
    if (out >= 0) place(out).last_use = std::max(place(out).last_use, address);
  }
}

void SectionLowering::lower_instructions() {
  for (size_t i = 0; i < flow_.targets.size(); ++i) waiting_.push_back(new_mask());
  for (int32_t address = flow_.first; address < flow_.end && kernel_.unsupported.empty(); ++address) {
    const int target = flow_.target_number(address);
    if (target >= 0) add_step(DK_STEP_JOIN)[OperandA] = operand_at(DK_AT_MASK, waiting_[static_cast<size_t>(target)]);
    if (flow_.drops_invalid[static_cast<size_t>(address - flow_.first)]) add_step(DK_STEP_DROP);
    lower_instruction(address);
    if (at(address).opcode == Opcode::Result) break;
    // A step is several words: of a long section this is known long before its end.
    if (steps_.size() > DK_SECTION_ROOM) return refuse(too_many_steps);
    free_places(address);
  }
  add_step(DK_STEP_END);
}

void SectionLowering::lower_instruction(int32_t address) {
  const Instruction& instruction = at(address);
  switch (instruction.opcode) {
    case Opcode::Integer:
    case Opcode::Float:
    case Opcode::Constant:
    case Opcode::Null: return lower_constant(address);
    case Opcode::Column:
    case Opcode::Code: return lower_column(address);
    case Opcode::Rowid: give_place(instruction.p1, false); return set_out(instruction.p1, add_step(DK_STEP_ROWID));
    case Opcode::Move: {
      const int32_t from = instruction.p2;
      if (info(from).physical == PhysicalType::Text) return refuse(strings);
      return lower_move(instruction.p1, operand(from), info(from).physical);
    }
    case Opcode::Lookup: return lower_lookup(address);
    case Opcode::SetIn: return lower_in(address);
    case Opcode::Concat: return refuse(strings);
    case Opcode::SetAnd:
    case Opcode::And: return lower_logic(address, DK_LOGIC_AND);
    case Opcode::SetOr:
    case Opcode::Or: return lower_logic(address, DK_LOGIC_OR);
    case Opcode::SetNot:
    case Opcode::Not: return lower_logic(address, DK_LOGIC_NOT);
    case Opcode::SetIsNull:
    case Opcode::IfNull: return lower_logic(address, DK_LOGIC_IS_NULL);
    case Opcode::IfNotNull: return lower_logic(address, DK_LOGIC_IS_NOT_NULL);
    case Opcode::SetIsTrue: return lower_logic(address, DK_LOGIC_IS_TRUE);
    case Opcode::SetIsFalse: return lower_logic(address, DK_LOGIC_IS_FALSE);
    case Opcode::If: return lower_logic(address, DK_LOGIC_TRUE);
    case Opcode::Jump: return lower_logic(address, DK_LOGIC_ALWAYS);
    case Opcode::Invalid: {
      add_step(DK_STEP_INVALID, 0, flow_.effect(address).finishes ? DK_FINISHES : 0);
      return;
    }
    case Opcode::Aggregate: return lower_aggregate(address);
    case Opcode::Result: return lower_result(address);
    default: return lower_scalar(address);
  }
}

// ---- places

uint32_t SectionLowering::new_mask() {
  const int mask = free_masks_.take(1);
  if (mask < 0) refuse("more conditions than the interpreter has room for");
  return static_cast<uint32_t>(std::max(mask, 0));
}

void SectionLowering::give_place(int32_t number, bool may_be_null) {
  Place& target = place(number);
  if (target.is_set) return;
  target.is_set = true;
  const bool merged = flow_.writers[static_cast<size_t>(number)] > 1;
  if (info(number).nullable && (may_be_null || merged)) target.out_known = new_mask();
  const PhysicalType physical = info(number).physical;
  if (physical == PhysicalType::Text) return refuse(strings);
  if (physical == PhysicalType::Bool) {
    target.truth = static_cast<int>(new_mask());
    target.operand = operand_at(DK_AT_MASK, static_cast<size_t>(target.truth), target.out_known);
    return;
  }
  target.words = width_bytes(physical) > 8 ? 2 : 1;
  target.first_word = free_words_.take(static_cast<size_t>(target.words));
  if (target.first_word < 0) return refuse("more registers than the interpreter has room for");
  target.operand =
      operand_at(target.words > 1 ? DK_AT_WIDE : DK_AT_VALUE, static_cast<size_t>(target.first_word), target.out_known);
}

void SectionLowering::free_places(int32_t address) {
  for (Place& one : places_) {
    if (!one.is_set || one.last_use > address) continue;
    one.is_set = false;
    if (one.first_word >= 0) free_words_.give_back(one.first_word, static_cast<size_t>(one.words));
    if (one.truth >= 0) free_masks_.give_back(one.truth, 1);
    if (one.out_known != DK_MASK_ALL) free_masks_.give_back(static_cast<int>(one.out_known), 1);
  }
}

uint32_t SectionLowering::operand(int32_t number) {
  if (!place(number).has_values) refuse(strings);
  return place(number).operand;
}

bool SectionLowering::may_be_null(int32_t number) { return known_of(place(number).operand) != DK_MASK_ALL; }

uint32_t SectionLowering::table_operand(std::array<uint64_t, 2> words, uint32_t known) {
  table_.insert(table_.end(), words.begin(), words.end());
  return operand_at(DK_AT_TABLE, table_.size() - 2, known);
}

uint32_t SectionLowering::parameter_operand(KernelParameter first, KernelParameter second) {
  table_words_.push_back({table_.size(), first});
  table_words_.push_back({table_.size() + 1, second});
  return table_operand({0, 0}, DK_MASK_ALL);
}

uint32_t SectionLowering::column_operand(size_t index, PhysicalType physical) {
  const ColumnShape& column = shape_.columns[index];
  dk_column_form form = column.unit_factor ? DK_COLUMN_COUNTED : DK_COLUMN_CODES;
  if (column.encoding == Encoding::Dictionary) form = DK_COLUMN_RAW;
  if (column.encoding == Encoding::Plain) {
    if (!is_kept_as(column.physical, physical)) refuse("a column of other floats than its register");
    const int width = width_bytes(column.physical);
    form = width > 8 ? DK_COLUMN_WIDE : column.physical == PhysicalType::Int32 ? DK_COLUMN_SIGNED : DK_COLUMN_RAW;
  }
  return operand_at(DK_AT_COLUMN, tablet_words + column_words * index, column.has_nulls ? 1 : 0) |
         static_cast<uint32_t>(form) << 24;
}

// ---- sinks

void SectionLowering::lower_aggregate(int32_t address) {
  const Instruction& instruction = at(address);
  const auto number = static_cast<size_t>(std::get<int64_t>(instruction.p4));
  const AggregateInfo& aggregate = program_.hash_tables[static_cast<size_t>(instruction.p1)].aggregates[number];
  const StateLayout& state = states_.aggregates[number];
  const int32_t argument = instruction.p2;
  uint32_t flags = address == flow_.last_sink ? DK_LAST_SINK : 0;
  if (aggregate.state == AggregateState::SumSquares) flags |= DK_SQUARES;
  uint32_t from = operand_at(DK_AT_NOTHING, 0);
  if (argument >= 0) {
    const PhysicalType physical = info(argument).physical;
    if (physical == PhysicalType::Float32) flags |= DK_REAL4;
    if (physical == PhysicalType::Float64) flags |= DK_REAL8;
    if ((state.kind == StateKind::SumF64 || state.kind == StateKind::Moments) && !is_real(physical))
      return refuse("a sum of floats over whole numbers");
    from = state.kind == StateKind::Count ? place(argument).operand : operand(argument);
  }
  Step& step = add_step(DK_STEP_AGGREGATE, static_cast<uint32_t>(state.kind), flags);
  step[OperandA] = from;
  step[Out] = static_cast<uint32_t>(state.first_word);
  step[OutKnown] = static_cast<uint32_t>(2 * number);
  step[Numbers] = static_cast<uint32_t>(states_.words);
  step[Address] = static_cast<uint32_t>(address);
}

void SectionLowering::lower_result(int32_t address) {
  const Instruction& instruction = at(address);
  for (int32_t i = 0; i < instruction.p2; ++i) {
    const int32_t number = instruction.p1 + i;
    const Place& from = place(number);
    OutputColumn column;
    column.register_number = number;
    column.physical = program_.result_columns[static_cast<size_t>(i)].type.physical();
    column.nullable = may_be_null(number);
    column.dictionary_column = from.dictionary_column;
    if (column.physical == PhysicalType::Text ? column.dictionary_column < 0 : !from.has_values) return refuse(strings);
    if (column.dictionary_column < 0 && !is_kept_as(info(number).physical, column.physical))
      return refuse("a result of other floats");
    reruns_ |= form_of(from.operand) != DK_AT_COLUMN && form_of(from.operand) != DK_AT_TABLE;
    const auto index = static_cast<int32_t>(kernel_.outputs.size());
    kernel_.outputs.push_back(column);
    const bool wide = column.width() > 8;
    add_pass(from.operand, DK_PASS_LOW, std::min(column.width(), 8), wide ? 2 : 1, {Kind::Output, index}, 0);
    if (wide) add_pass(from.operand, DK_PASS_HIGH, 8, 2, {Kind::Output, index}, 8);
    if (column.nullable) add_pass(from.operand, DK_PASS_KNOWN, 1, 1, {Kind::OutputNulls, index}, 0);
  }
}

void SectionLowering::add_pass(uint32_t operand, dk_pass what, int bytes, int stride, KernelParameter to,
                               uint64_t offset) {
  pass_words_.push_back({passes_.size() + 1, to, offset});
  const auto how =
      static_cast<uint64_t>(what) | static_cast<uint64_t>(bytes) << 8 | static_cast<uint64_t>(stride) << 16;
  passes_.insert(passes_.end(), {operand | how << 32, 0});
}

// ---- words

// Where nobody is left, steps go on at the next target, or at the end.
void SectionLowering::finish_jumps() {
  auto next = static_cast<uint32_t>(steps_.size()) - 1;
  for (size_t i = steps_.size(); i-- > 0;) {
    steps_[i][Next] = next;
    if ((steps_[i][What] & 255) == DK_STEP_JOIN) next = static_cast<uint32_t>(i);
  }
}

void SectionLowering::assemble() {
  kernel_.source = interpreter_text(with_functions_);
  kernel_.rows_per_thread = interpreter_rows;
  kernel_.most_steps = interpreter_steps;
  for (Kind kind : interpreter_parameters) kernel_.parameters.push_back({kind});
  std::vector<uint64_t>& words = kernel_.section;
  words.assign(DK_SECTION_HEAD_WORDS, 0);
  for (const Step& step : steps_) {
    for (size_t i = 0; i < step.size(); i += 2) words.push_back(step[i] | uint64_t{step[i + 1]} << 32);
  }
  const auto append = [&](dk_section_word head, const std::vector<uint64_t>& more,
                          const std::vector<SectionWord>& parameters) {
    words[head] = words.size();
    for (const SectionWord& word : parameters)
      kernel_.section_words.push_back({words.size() + word.index, word.parameter, word.offset});
    words.insert(words.end(), more.begin(), more.end());
  };
  append(DK_SECTION_TABLE, table_, table_words_);
  append(DK_SECTION_PASSES, passes_, pass_words_);
  std::vector<uint64_t> states;
  if (kernel_.sink == SectionKernel::Sink::Totals) {
    const auto add_state = [&](uint64_t state, uint64_t first, uint64_t count, const uint64_t* empty) {
      states.push_back(state | first << 8 | count << 32);
      states.insert(states.end(), empty, empty + 3);
    };
    constexpr uint64_t zeros[3] = {0, 0, 0};
    add_state(DK_STATE_BITS, 0, 1, zeros);
    for (const StateLayout& state : states_.aggregates)
      add_state(static_cast<uint64_t>(state.kind), state.first_word, state.words, state.empty);
    add_state(DK_STATE_COUNT, states_.words, 1, zeros);
  }
  append(DK_SECTION_STATES, states, {});
  append(DK_SECTION_RANGES, ranges_, {});
  words[DK_SECTION_RANGE_COUNT] = ranges_.size() / 3;
  words[DK_SECTION_WORDS_USED] = words.size();
  words[DK_SECTION_TABLET_WORDS] = tablet_words + column_words * shape_.columns.size();
  words[DK_SECTION_PASS_COUNT] = passes_.size() / 2;
  words[DK_SECTION_STATE_COUNT] = states.size() / 4;
  words[DK_SECTION_RERUNS] = reruns_ ? 1 : 0;
  if (words.size() > DK_SECTION_ROOM) refuse(too_many_steps);
}

}  // namespace diptych::gpu
