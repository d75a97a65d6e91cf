// One row of an opcode as an expression of the kernel subset: the one place that says which of its functions an opcode
// is on a device. The generated kernels and the interpreter both are made of these expressions.
//
//   Add r9 r8 r3 (Int64 of Int32)   ->   dk_add_i64((dk_i64)(a), (dk_i64)(b), &error)
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "program/program.h"

namespace diptych::gpu {

struct ScalarText {
  std::string value;        // of the form of the register written, or a truth value (0, 1) for comparisons
  std::string write;        // where a string is made: writes it to `out`; `value` is then the bytes it needs
  bool raises = false;      // stores into `error` (dk_i32, 0 before)
  bool is_costly = false;   // worth a branch around it for rows that nobody wants
  std::string unsupported;  // why a device can't compute it; empty: it can
};

// The C name of a register's form (dk_i32), and the ending of functions on it (i32).
const char* type_text(PhysicalType physical);
const char* suffix_of(PhysicalType physical);

// The text of the operand in a register.
using OperandText = std::function<std::string(int32_t)>;

// For arithmetic, Cast, Rescale, Call and the comparisons (Set.. and jumping ones), of operands that are not NULL.
ScalarText scalar_text(const Program& program, const Instruction& instruction, const OperandText& operand);

// A value of one form as the other, which is as wide or wider.
std::string widened(const std::string& value, PhysicalType from, PhysicalType to);

// What part of a comparison opcode says: "eq", "lt", ...; nullptr for other opcodes.
const char* comparison_name(Opcode opcode);

}  // namespace diptych::gpu
