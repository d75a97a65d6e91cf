// Cast between numbers. Casts of and to anything else are functions, which the compiler calls.
#include "base/error.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

// From one integer form to another: same scale, so only the width changes.
template <typename T>
T cast_whole(const Slot& a, int row, dk_i32* error) {
  if constexpr (std::is_same_v<T, dk_i128>) {
    return whole_at<dk_i128>(a, row);
  } else {
    const dk_i128 value = whole_at<dk_i128>(a, row);
    const auto narrow = static_cast<T>(value.lo);
    if (dk_native(value) != narrow) *error = DK_NUMERIC_OUT_OF_RANGE;
    return narrow;
  }
}

template <typename T>
void to_whole(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  for_rows_raising<T>(frame, step, active_not_null(frame, out), out,
                      [&](int row, dk_i32* error) { return cast_whole<T>(a, row, error); });
  if (step.outside != nullptr) check_range(frame, step, out);
}

void widen(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  step.unary(frame.active_words(), frame.words(), a.values, out.storage);
}

// Rounds halves to even, as rint does.
template <typename From, typename T>
void float_to_whole(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  for_rows_raising<T>(frame, step, active_not_null(frame, out), out, [&](int row, dk_i32* error) -> T {
    const From value = value_at<From>(a.values, row);
    if constexpr (std::is_same_v<T, dk_i32>)
      return std::is_same_v<From, dk_f32> ? dk_cast_f32_i32(static_cast<dk_f32>(value), error)
                                          : dk_cast_f64_i32(value, error);
    else
      return std::is_same_v<From, dk_f32> ? dk_cast_f32_i64(static_cast<dk_f32>(value), error)
                                          : dk_cast_f64_i64(value, error);
  });
  if (step.outside != nullptr) check_range(frame, step, out);
}

// step.number: decimal places of the whole number.
template <typename T>
void whole_to_float(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  for_rows_raising<T>(frame, step, active_not_null(frame, out), out, [&](int row, [[maybe_unused]] dk_i32* error) -> T {
    if (step.number == 0 && a.physical != PhysicalType::Int128) {
      const dk_i64 value = whole_at<dk_i64>(a, row);
      if constexpr (std::is_same_v<T, dk_f32>)
        return dk_cast_i64_f32(value);
      else
        return dk_cast_i64_f64(value);
    }
    const dk_i128 value = whole_at<dk_i128>(a, row);
    if constexpr (std::is_same_v<T, dk_f32>)
      return dk_cast_n128_f32(value, step.number, error);
    else
      return dk_cast_n128_f64(value, step.number);
  });
}

void narrow_float(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  for_rows_raising<dk_f32>(frame, step, active_not_null(frame, out), out, [&](int row, dk_i32* error) {
    return dk_cast_f64_f32(value_at<dk_f64>(a.values, row), error);
  });
}

void widen_float(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  auto* to = reinterpret_cast<dk_f64*>(out.storage);
  for (int w = 0; w < frame.words(); ++w) {
    if (frame.active_words()[w] == 0) continue;
    const dk_f32* from = &value_at<dk_f32>(a.values, w * 64);
    for (int i = 0; i < 64; ++i) to[w * 64 + i] = dk_cast_f32_f64(from[i]);
  }
}

template <typename T>
void copy(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  auto* to = reinterpret_cast<T*>(out.storage);
  for_each_row(frame.active_words(), frame.words(), [&](int row) { to[row] = value_at<T>(a.values, row); });
}

UnaryLoop widening_loop(PhysicalType from, PhysicalType to) {
  if (from == PhysicalType::Int32 && to == PhysicalType::Int64) return loops().widen_i32_i64;
  if (from == PhysicalType::Int32 && to == PhysicalType::Int128) return loops().widen_i32_i128;
  if (from == PhysicalType::Int64 && to == PhysicalType::Int128) return loops().widen_i64_i128;
  return nullptr;
}

StepFunction whole_target(PhysicalType from, PhysicalType to) {
  const bool single = from == PhysicalType::Float32;
  if (from == PhysicalType::Float32 || from == PhysicalType::Float64) {
    if (to == PhysicalType::Int32) return single ? &float_to_whole<dk_f32, dk_i32> : &float_to_whole<dk_f64, dk_i32>;
    check_invariant(to == PhysicalType::Int64, "floats are cast to integers and bigints");
    return single ? &float_to_whole<dk_f32, dk_i64> : &float_to_whole<dk_f64, dk_i64>;
  }
  switch (to) {
    case PhysicalType::Int32: return &to_whole<dk_i32>;
    case PhysicalType::Int64: return &to_whole<dk_i64>;
    default: return &to_whole<dk_i128>;
  }
}

StepFunction float_target(PhysicalType from, PhysicalType to) {
  const bool single = to == PhysicalType::Float32;
  if (from == to) return single ? &copy<dk_f32> : &copy<dk_f64>;
  if (from == PhysicalType::Float64) return &narrow_float;
  if (from == PhysicalType::Float32) return &widen_float;
  return single ? &whole_to_float<dk_f32> : &whole_to_float<dk_f64>;
}

}  // namespace

void resolve_cast(const Program& program, Step& step) {
  const Instruction& instruction = *step.instruction;
  step.a = instruction.p2;
  const RegisterInfo& from = program.registers[static_cast<size_t>(step.a)];
  const RegisterInfo& to = program.registers[static_cast<size_t>(step.out)];
  const Check* given = std::get_if<Check>(&instruction.p4);
  const bool to_float = to.physical == PhysicalType::Float32 || to.physical == PhysicalType::Float64;
  if (to_float) {
    step.number = from.type.id == TypeId::Numeric ? from.type.scale : 0;
    step.run = float_target(from.physical, to.physical);
    return;
  }
  check_invariant(is_whole(to.physical), "Cast is between numbers");
  if (given != nullptr) set_check(program, step, *given);
  step.unary = widening_loop(from.physical, to.physical);
  step.run = step.unary != nullptr && step.outside == nullptr ? &widen : whole_target(from.physical, to.physical);
}

}  // namespace diptych::cpu
