// A comparison of a column with a constant, as the range of values for which it holds.
//
//   a > 60    61 .. greatest        a <> 3    not 3 .. 3        x <= 1.5 (float)    up to 1.5
#pragma once

#include <cstdint>
#include <optional>

#include "base/type.h"
#include "kernel/device/interpreter_codes.h"
#include "program/opcode.h"

namespace diptych::gpu {

struct ConstantRange {
  dk_range_kind kind = DK_RANGE_WHOLE;
  bool negated = false;
  uint64_t least = 0, greatest = 0;  // of floats, least has the bits of the bound
};

// comparison: the value's or the jump's opcode, of the column with the constant or, if flipped, the other way round.
// physical: in which they are compared; constant: 64 bits as the interpreter keeps them. Nothing: it is no such
// comparison, or no range says it.
std::optional<ConstantRange> find_constant_range(Opcode comparison, bool flipped, PhysicalType physical,
                                                 uint64_t constant);

}  // namespace diptych::gpu
