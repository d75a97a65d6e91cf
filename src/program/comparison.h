// What the comparison opcodes compare, and how.
#pragma once

#include <cstdint>
#include <optional>

#include "program/program.h"

namespace diptych {

enum class Comparison : uint8_t { Eq, Neq, Lt, Le, Gt, Ge };

// Of an opcode that sets a truth value or jumps: SetLt and Lt are Lt, SetDistinct is Neq. Nothing: it compares nothing.
std::optional<Comparison> comparison_of(Opcode opcode);

// SetDistinct and SetNotDistinct, for which NULL is a value like others.
inline bool compares_nulls(Opcode opcode) { return opcode == Opcode::SetDistinct || opcode == Opcode::SetNotDistinct; }

// With the operands the other way round.
Comparison mirrored(Comparison comparison);

struct ComparedRegisters {
  int32_t left, right;
};

// Of a comparison opcode.
ComparedRegisters compared_registers(const Instruction& instruction);

}  // namespace diptych
