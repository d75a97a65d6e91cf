// How a step of the interpreter is put into words; kernel/device/interpreter.h says what they mean.
#pragma once

#include <array>
#include <cstdint>

#include "engine/gpu/interpreter/section_lowering.h"

namespace diptych::gpu {

// Words of a step.
enum StepWord : size_t { What, OperandA, OperandB, Out, OutKnown, Numbers, Address, Next };

inline uint32_t operand_at(dk_operand form, size_t number, uint32_t known = DK_MASK_ALL) {
  return static_cast<uint32_t>(form) | static_cast<uint32_t>(number) << 3 | known << 16;
}
inline uint32_t known_of(uint32_t operand) { return operand >> 16 & 255; }
inline dk_operand form_of(uint32_t operand) { return static_cast<dk_operand>(operand & 7); }

inline void add_flags(std::array<uint32_t, 8>& step, uint32_t flags) { step[What] |= flags << 24; }

inline bool is_real(PhysicalType physical) {
  return physical == PhysicalType::Float32 || physical == PhysicalType::Float64;
}

// Whole numbers of any width are kept alike; what else has to be as it is wanted.
inline bool is_kept_as(PhysicalType from, PhysicalType to) { return from == to || (!is_real(from) && !is_real(to)); }

inline constexpr const char* strings = "strings in the interpreter's registers";
inline constexpr const char* too_many_steps = "more steps than the interpreter has room for";

}  // namespace diptych::gpu
