#include "program/operands.h"

namespace diptych {

namespace {

// How many consecutive registers a block operand names.
int32_t block_length(const Program& program, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Result: return instruction.p2;
    case Opcode::Group: return static_cast<int32_t>(program.hash_tables.at(instruction.p3).keys.size());
    case Opcode::Matches: return program.indexes.at(instruction.p3).keys;
    default: return instruction.p3;  // Call, Concat, Append
  }
}

}  // namespace

void for_each_register_read(const Program& program, const Instruction& instruction,
                            const std::function<void(int32_t)>& visit) {
  const OpcodeInfo& info = info_of(instruction.opcode);
  for (int i = 0; i < 3; ++i) {
    const std::string_view role = info.operands[i];
    const int32_t value = operand(instruction, i);
    if (role == "in" || (role == "in?" && value >= 0)) visit(value);
    if (role != "block") continue;
    const int32_t length = block_length(program, instruction);
    for (int32_t offset = 0; offset < length; ++offset) visit(value + offset);
  }
}

int32_t register_written(const Instruction& instruction) {
  const OpcodeInfo& info = info_of(instruction.opcode);
  for (int i = 0; i < 3; ++i)
    if (std::string_view(info.operands[i]) == "out") return operand(instruction, i);
  return -1;
}

int32_t jump_target(const Instruction& instruction) {
  return info_of(instruction.opcode).kind == OpcodeKind::Jump ? instruction.p3 : -1;
}

}  // namespace diptych
