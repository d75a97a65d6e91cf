// Opcodes of built indexes.
#include <cstring>

#include "engine/cpu/frame.h"
#include "engine/cpu/join/row_index.h"
#include "engine/cpu/step.h"

namespace diptych::cpu {
namespace {

void match(Frame& frame, const Step& step) { frame.match(step); }

void fetch_nulls(Frame& frame, Slot& out, const Slot& rows, const uint64_t* valid) {
  frame.own_nulls(out);
  for_each_row(frame.active_words(), frame.words(), [&](int row) {
    const int64_t from = value_at<int64_t>(rows.values, row);
    const uint64_t is_there = valid[from / 64] >> (from % 64) & 1;
    out.valid_storage[row / 64] &= ~((is_there ^ 1) << (row % 64));
  });
}

template <typename T>
void fetch(Frame& frame, const Step& step) {
  const RowIndex::Column& column =
      frame.indexes[static_cast<size_t>(step.instruction->p3)]->column(static_cast<size_t>(step.number));
  const Slot& rows = frame.read(step.a);
  Slot& out = frame.write(step.out);
  const auto* from = reinterpret_cast<const T*>(column.values.data());
  auto* to = reinterpret_cast<T*>(out.storage);
  for_each_row_of_most(frame.active_words(), frame.words(),
                       [&](int row) { to[row] = from[value_at<int64_t>(rows.values, row)]; });
  if (column.valid.size() > 0) fetch_nulls(frame, out, rows, reinterpret_cast<const uint64_t*>(column.valid.data()));
}

StepFunction fetch_of(PhysicalType physical) {
  switch (width_bytes(physical)) {
    case 1: return &fetch<uint8_t>;
    case 4: return &fetch<uint32_t>;
    case 8: return &fetch<uint64_t>;
    default: return &fetch<dk_i128>;
  }
}

}  // namespace

void resolve_match(const Program& program, Section& section, Step& step) {
  const Instruction& instruction = *step.instruction;
  step.a = instruction.p2;
  if (instruction.opcode == Opcode::Matches) {
    step.number = static_cast<int32_t>(section.matches.size()) - 1;
    step.run = &match;
  } else {
    step.number = static_cast<int32_t>(std::get<int64_t>(instruction.p4));
    step.run = fetch_of(program.registers[static_cast<size_t>(step.out)].physical);
  }
}

}  // namespace diptych::cpu
