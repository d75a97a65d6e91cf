// The checks of integer results that the operation itself does not make: 16 or 32 bits in a wider register, digits of a
// numeric.
#include <cstring>

#include "engine/cpu/row_function.h"

namespace diptych::cpu {

void check_range(Frame& frame, const Step& step, const Slot& out) {
  const RowMask rows = active_not_null(frame, out);
  if (step.outside(rows.words, frame.words(), out.values, &step.low, &step.high))
    raise_kernel_error(DK_NUMERIC_OUT_OF_RANGE, step.position());
}

namespace {

// What a check beyond the register's own width allows.
template <typename T>
void set_range(Step& step, int128_t low, int128_t high) {
  const T narrow_low = static_cast<T>(low), narrow_high = static_cast<T>(high);
  std::memcpy(&step.low, &narrow_low, sizeof(T));
  std::memcpy(&step.high, &narrow_high, sizeof(T));
}

void add_range_check(Step& step, PhysicalType physical, int128_t low, int128_t high) {
  switch (physical) {
    case PhysicalType::Int32:
      if (low <= INT32_MIN && high >= INT32_MAX) return;
      step.outside = loops().outside[static_cast<size_t>(Lane::I32)];
      return set_range<int32_t>(step, low, high);
    case PhysicalType::Int64:
      if (low <= INT64_MIN && high >= INT64_MAX) return;
      step.outside = loops().outside[static_cast<size_t>(Lane::I64)];
      return set_range<int64_t>(step, low, high);
    case PhysicalType::Int128:
      step.outside = loops().outside[static_cast<size_t>(Lane::I128)];
      return set_range<int128_t>(step, low, high);
    default: return;
  }
}

}  // namespace

void set_check(const Program& program, Step& step, Check check) {
  const RegisterInfo& out = program.registers[static_cast<size_t>(step.out)];
  switch (check) {
    case Check::None:
    case Check::Register: return;
    case Check::Int16: return add_range_check(step, out.physical, INT16_MIN, INT16_MAX);
    case Check::Digits: {
      int128_t bound = 1;
      for (int digit = 0; digit < out.type.precision; ++digit) bound *= 10;
      return add_range_check(step, out.physical, 1 - bound, bound - 1);
    }
  }
}

}  // namespace diptych::cpu
