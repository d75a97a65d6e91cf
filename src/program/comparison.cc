#include "program/comparison.h"

namespace diptych {

std::optional<Comparison> comparison_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::Eq:
    case Opcode::SetEq:
    case Opcode::SetNotDistinct: return Comparison::Eq;
    case Opcode::Neq:
    case Opcode::SetNeq:
    case Opcode::SetDistinct: return Comparison::Neq;
    case Opcode::Lt:
    case Opcode::SetLt: return Comparison::Lt;
    case Opcode::Le:
    case Opcode::SetLe: return Comparison::Le;
    case Opcode::Gt:
    case Opcode::SetGt: return Comparison::Gt;
    case Opcode::Ge:
    case Opcode::SetGe: return Comparison::Ge;
    default: return std::nullopt;
  }
}

Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::Lt: return Comparison::Gt;
    case Comparison::Le: return Comparison::Ge;
    case Comparison::Gt: return Comparison::Lt;
    case Comparison::Ge: return Comparison::Le;
    default: return comparison;
  }
}

ComparedRegisters compared_registers(const Instruction& instruction) {
  if (info_of(instruction.opcode).kind == OpcodeKind::Jump) return {instruction.p1, instruction.p2};
  return {instruction.p2, instruction.p3};
}

}  // namespace diptych
