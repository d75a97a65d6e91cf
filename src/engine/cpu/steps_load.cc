// Opcodes that load registers.
#include <cstring>

#include "engine/cpu/frame.h"
#include "engine/cpu/step.h"

namespace diptych::cpu {
namespace {

// Columns are decoded by whoever reads them, constants are filled in once.
void nothing(Frame&, const Step&) {}

// Of a row that has met rows of an index.
void bring_column(Frame& frame, const Step& step) { frame.bring_column(step); }

void load_column(Frame& frame, const Step& step) { frame.load_column(step); }

void fill(Frame& frame, const Step& step) { frame.fill_constant(step); }

void row_position(Frame& frame, const Step& step) {
  Slot& out = frame.write(step.out);
  auto* to = reinterpret_cast<int64_t*>(out.storage);
  for_each_row_of_most(frame.active_words(), frame.words(), [&](int row) { to[row] = frame.first_position() + row; });
}

template <typename T>
void move(Frame& frame, const Step& step) {
  const Slot& from = frame.read(step.a);
  Slot& out = frame.slot(step.out);
  auto* to = reinterpret_cast<T*>(out.storage);
  for (int w = 0; w < frame.words(); ++w) {
    const uint64_t rows = frame.active_words()[w];
    const T* values = &value_at<T>(from.values, w * 64);
    if (rows == ~uint64_t{0})
      std::memcpy(to + w * 64, values, 64 * sizeof(T));
    else
      for (uint64_t left = rows; left != 0; left &= left - 1)
        to[w * 64 + std::countr_zero(left)] = values[std::countr_zero(left)];
  }
  if (from.valid == nullptr && out.valid == nullptr) return;
  if (out.valid == nullptr) frame.own_nulls(out);
  for (int w = 0; w < frame.words(); ++w) {
    const uint64_t rows = frame.active_words()[w];
    const uint64_t valid = from.valid != nullptr ? from.valid[w] : ~uint64_t{0};
    out.valid_storage[w] = (out.valid_storage[w] & ~rows) | (valid & rows);
  }
}

StepFunction move_of(PhysicalType physical) {
  switch (width_bytes(physical)) {
    case 1: return &move<uint8_t>;
    case 4: return &move<uint32_t>;
    case 8: return &move<uint64_t>;
    default: return &move<dk_i128>;
  }
}

template <typename Index, typename T>
void look_up(Frame& frame, const Step& step) {
  const Slot& index = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, index, index);
  const PreparedLookup& table = *step.lookup;
  const T* entries = table.entries.as<T>();
  auto* to = reinterpret_cast<T*>(out.storage);
  if (!table.nulls.empty() && out.valid == nullptr) frame.own_nulls(out);
  for_each_row(frame.active_words(), frame.words(), [&](int row) {
    // A NULL's index may be anything.
    auto at = static_cast<size_t>(value_at<Index>(index.values, row));
    if (at >= table.size) at = 0;
    to[row] = entries[at];
    if (!table.nulls.empty() && table.nulls[at]) out.valid_storage[row / 64] &= ~(uint64_t{1} << (row % 64));
  });
}

template <typename Index>
StepFunction look_up_of(size_t width) {
  switch (width) {
    case 1: return &look_up<Index, uint8_t>;
    case 4: return &look_up<Index, uint32_t>;
    case 8: return &look_up<Index, uint64_t>;
    default: return &look_up<Index, dk_i128>;
  }
}

Value constant_of(const Program& program, const Instruction& instruction) {
  const Type type = program.registers[static_cast<size_t>(instruction.p1)].type;
  switch (instruction.opcode) {
    case Opcode::Integer: return Value::bigint(instruction.p2);
    case Opcode::Null: return Value::null(type);
    default: return std::get<Value>(instruction.p4);
  }
}

int column_number(Section& section, size_t column) {
  for (size_t i = 0; i < section.columns.size(); ++i) {
    if (section.columns[i] == column) return static_cast<int>(i);
  }
  section.columns.push_back(column);
  return static_cast<int>(section.columns.size()) - 1;
}

}  // namespace

void resolve_load(const Program& program, Section& section, Step& step, const PreparedObjects& prepared) {
  const Instruction& instruction = *step.instruction;
  const RegisterInfo& out = program.registers[static_cast<size_t>(step.out)];
  const bool several = section.writers[static_cast<size_t>(step.out)] > 1;
  switch (instruction.opcode) {
    case Opcode::Column:
    case Opcode::Code:
      step.number = column_number(section, static_cast<size_t>(instruction.p2));
      step.run = !section.matches.empty() ? &bring_column : several ? &load_column : &nothing;
      return;
    case Opcode::Rowid: step.run = &row_position; return;
    case Opcode::Move:
      step.a = instruction.p2;
      step.run = move_of(out.physical);
      return;
    case Opcode::Lookup:
      step.a = instruction.p2;
      step.lookup = &prepared.lookups[static_cast<size_t>(instruction.p3)];
      step.run = program.registers[static_cast<size_t>(step.a)].physical == PhysicalType::Int64
                     ? look_up_of<int64_t>(step.lookup->width)
                     : look_up_of<int32_t>(step.lookup->width);
      return;
    default: step.constant = constant_of(program, instruction); step.run = several ? &fill : &nothing;
  }
}

}  // namespace diptych::cpu
