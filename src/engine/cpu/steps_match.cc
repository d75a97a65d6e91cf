// Opcodes of built indexes.
#include <cstring>

#include "engine/cpu/frame.h"
#include "engine/cpu/join/row_index.h"
#include "engine/cpu/step.h"

namespace diptych::cpu {
namespace {

void match(Frame& frame, const Step& step) { frame.match(step); }

void fetch_nulls(Frame& frame, Slot& out, const Slot& rows, const PackedRows& payload, const PackedRows::Field& field) {
  frame.own_nulls(out);
  for_each_row(frame.active_words(), frame.words(), [&](int row) {
    const std::byte* from =
        payload.rows() + static_cast<size_t>(value_at<int64_t>(rows.values, row)) * payload.stride();
    const uint64_t is_there = std::to_integer<uint64_t>(from[field.null_at]) >> field.null_bit & 1;
    out.valid_storage[row / 64] &= ~((is_there ^ 1) << (row % 64));
  });
}

template <typename T, typename Stored>
T field_value(const std::byte* from, int64_t low) {
  Stored stored;
  std::memcpy(&stored, from, sizeof(stored));
  if constexpr (sizeof(Stored) == sizeof(dk_i128))
    return stored;
  else if constexpr (sizeof(T) == sizeof(dk_i128))
    return dk_widen_i64(static_cast<int64_t>(stored + static_cast<uint64_t>(low)));
  else
    return static_cast<T>(static_cast<T>(stored) + static_cast<T>(low));
}

template <typename T>
void fetch(Frame& frame, const Step& step) {
  const PackedRows& payload = frame.indexes[static_cast<size_t>(step.instruction->p3)]->payload();
  const PackedRows::Field& field = payload.field(static_cast<size_t>(step.number));
  const Slot& rows = frame.read(step.a);
  Slot& out = frame.write(step.out);
  auto* to = reinterpret_cast<T*>(out.storage);
  with_stored_type(field.width, [&]<typename Stored>(Stored) {
    if constexpr (sizeof(Stored) <= sizeof(T)) {
      const std::byte* const from = payload.rows() + field.at;
      const size_t stride = payload.stride();
      const int64_t low = field.low;
      for_each_row_of_most(frame.active_words(), frame.words(), [&](int row) {
        to[row] = field_value<T, Stored>(from + static_cast<size_t>(value_at<int64_t>(rows.values, row)) * stride, low);
      });
    }
  });
  if (field.nullable) fetch_nulls(frame, out, rows, payload, field);
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
