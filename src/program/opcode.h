// The opcodes as an enum, and what the table opcodes.def says of each.
#pragma once

#include <cstdint>

namespace diptych {

enum class Opcode : uint8_t {
#define DIPTYCH_OPCODE(name, ...) name,
#include "program/opcodes.def"
#undef DIPTYCH_OPCODE
};

enum class OpcodeKind : uint8_t { Setup, Row, Jump, Sink };

struct OpcodeInfo {
  const char* name;
  OpcodeKind kind;
  const char* operands[4];  // roles, as the head of opcodes.def lists them; "-" when not used
  const char* effect;
};

const OpcodeInfo& info_of(Opcode opcode);
int opcode_count();

// What an arithmetic opcode must check. The compiler leaves the check out when the ranges of the operands prove it
// needless.
enum class Check : uint8_t {
  None,      // the result is known to fit
  Register,  // 22003 when it does not fit the register
  Int16,     // 22003 when it does not fit 16 bits
  Digits,    // 22003 when it has more digits than the numeric type of the register
};

// Bits of the operand `validity` of jumps.
inline constexpr int64_t jump_invalid = 0;
inline constexpr int64_t jump_valid = 1;
inline constexpr int64_t jump_if_null = 2;
inline constexpr int64_t jump_keep = 4;

}  // namespace diptych
