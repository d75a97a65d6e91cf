// Walking an instruction's operands by their roles in opcodes.def: for the verifier and the disassembler.
#pragma once

#include <functional>
#include <string_view>

#include "program/program.h"

namespace diptych {

// Calls visit(register) for every register that the instruction reads, blocks included.
void for_each_register_read(const Program& program, const Instruction& instruction,
                            const std::function<void(int32_t)>& visit);

// The register that the instruction writes, or -1.
int32_t register_written(const Instruction& instruction);

// The address a jump may go to, or -1 when the instruction is no jump.
int32_t jump_target(const Instruction& instruction);

// Integer operand `number` (0, 1, 2) of the instruction.
inline int32_t operand(const Instruction& instruction, int number) {
  return number == 0 ? instruction.p1 : number == 1 ? instruction.p2 : instruction.p3;
}

}  // namespace diptych
