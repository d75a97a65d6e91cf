// Div, Mod, NumericDiv and Rescale, row by row: a division costs more than the loop around it.
#include <algorithm>

#include "base/error.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

PhysicalType physical_of(const Program& program, int number) {
  return program.registers[static_cast<size_t>(number)].physical;
}

// Stores a whole number into the register, whatever its width; out of range when it does not fit.
template <typename T>
T narrowed(dk_i128 value, dk_i32* error) {
  if constexpr (std::is_same_v<T, dk_i128>) {
    return value;
  } else {
    const auto narrow = static_cast<T>(value.lo);
    if (dk_native(value) != narrow) *error = DK_NUMERIC_OUT_OF_RANGE;
    return narrow;
  }
}

// Runs out = function(a, b, error) on the active rows without NULLs, then the range check.
template <typename T, typename Function>
void run_rows(Frame& frame, const Step& step, Function&& function) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, b);
  for_rows_raising<T>(frame, step, active_not_null(frame, out), out,
                      [&](int row, dk_i32* error) { return function(a, b, row, error); });
  if (step.outside != nullptr) check_range(frame, step, out);
}

// bigint is the widest SQL type that has this quotient; wider registers only come from proven ranges.
dk_i128 whole_quotient(dk_i128 a, dk_i128 b, dk_i32* error) {
  if (dk_native(b) == 0) {
    *error = DK_DIVISION_BY_ZERO;
    return a;
  }
  return dk_of_native(dk_native(a) / dk_native(b));
}

template <typename T>
void divide(Frame& frame, const Step& step) {
  run_rows<T>(frame, step, [](const Slot& a, const Slot& b, int row, dk_i32* error) -> T {
    if constexpr (std::is_same_v<T, dk_f32>)
      return dk_div_f32(value_at<T>(a.values, row), value_at<T>(b.values, row), error);
    else if constexpr (std::is_same_v<T, dk_f64>)
      return dk_div_f64(value_at<T>(a.values, row), value_at<T>(b.values, row), error);
    else if constexpr (std::is_same_v<T, dk_i32>) {
      if (a.physical == PhysicalType::Int32 && b.physical == PhysicalType::Int32)
        return dk_div_i32(value_at<T>(a.values, row), value_at<T>(b.values, row), error);
      return narrowed<T>(whole_quotient(whole_at<dk_i128>(a, row), whole_at<dk_i128>(b, row), error), error);
    } else if constexpr (std::is_same_v<T, dk_i64>) {
      if (a.physical != PhysicalType::Int128 && b.physical != PhysicalType::Int128)
        return dk_div_i64(whole_at<dk_i64>(a, row), whole_at<dk_i64>(b, row), error);
      return narrowed<T>(whole_quotient(whole_at<dk_i128>(a, row), whole_at<dk_i128>(b, row), error), error);
    } else {
      return whole_quotient(whole_at<dk_i128>(a, row), whole_at<dk_i128>(b, row), error);
    }
  });
}

template <typename T>
void remainder(Frame& frame, const Step& step) {
  run_rows<T>(frame, step, [](const Slot& a, const Slot& b, int row, dk_i32* error) -> T {
    if constexpr (std::is_floating_point_v<T>) {
      const auto x = static_cast<dk_f64>(value_at<T>(a.values, row)),
                 y = static_cast<dk_f64>(value_at<T>(b.values, row));
      return static_cast<T>(dk_mod_f64(x, y, error));
    } else {
      if (a.physical != PhysicalType::Int128 && b.physical != PhysicalType::Int128) {
        const dk_i64 rest = dk_mod_i64(whole_at<dk_i64>(a, row), whole_at<dk_i64>(b, row), error);
        if constexpr (std::is_same_v<T, dk_i128>)
          return dk_widen_i64(rest);
        else
          return static_cast<T>(rest);
      }
      return narrowed<T>(dk_mod_i128(whole_at<dk_i128>(a, row), whole_at<dk_i128>(b, row), error), error);
    }
  });
}

template <typename T>
void numeric_divide(Frame& frame, const Step& step) {
  run_rows<T>(frame, step, [&step](const Slot& a, const Slot& b, int row, dk_i32* error) -> T {
    const dk_i128 x = whole_at<dk_i128>(a, row), y = whole_at<dk_i128>(b, row);
    const bool small = dk_fits_i64(x) && dk_fits_i64(y) && step.number >= 0;
    return narrowed<T>(small ? dk_div_wide_i64(static_cast<dk_i64>(x.lo), static_cast<dk_i64>(y.lo), step.number, error)
                             : dk_div_i128(x, y, step.number, error),
                       error);
  });
}

template <typename T>
void rescale(Frame& frame, const Step& step) {
  run_rows<T>(frame, step, [&step](const Slot& a, const Slot&, int row, dk_i32* error) -> T {
    const dk_i32 from = step.number < 0 ? -step.number : 0, to = step.number < 0 ? 0 : step.number;
    if constexpr (!std::is_same_v<T, dk_i128>) {
      if (a.physical != PhysicalType::Int128) {
        const dk_i64 result = dk_rescale_i64(whole_at<dk_i64>(a, row), from, to, error);
        if (result != static_cast<T>(result)) *error = DK_NUMERIC_OUT_OF_RANGE;
        return static_cast<T>(result);
      }
    }
    return narrowed<T>(dk_rescale_i128(whole_at<dk_i128>(a, row), from, to, error), error);
  });
}

template <typename Visit>
StepFunction for_number(PhysicalType physical, Visit&& visit) {
  switch (physical) {
    case PhysicalType::Int32: return visit(dk_i32{});
    case PhysicalType::Int64: return visit(dk_i64{});
    case PhysicalType::Int128: return visit(dk_i128{});
    case PhysicalType::Float32: return visit(dk_f32{});
    case PhysicalType::Float64: return visit(dk_f64{});
    default: throw Error(SqlState::internal_error, "arithmetic on a register that is no number");
  }
}

template <typename Visit>
StepFunction for_whole(PhysicalType physical, Visit&& visit) {
  switch (physical) {
    case PhysicalType::Int32: return visit(dk_i32{});
    case PhysicalType::Int64: return visit(dk_i64{});
    default: return visit(dk_i128{});
  }
}

}  // namespace

void resolve_division(const Program& program, Step& step) {
  const Instruction& instruction = *step.instruction;
  const PhysicalType out = physical_of(program, step.out);
  const Check* check = std::get_if<Check>(&instruction.p4);
  if (check != nullptr) set_check(program, step, *check);
  step.a = instruction.p2;
  step.b = instruction.p3;
  switch (instruction.opcode) {
    case Opcode::Div: step.run = for_number(out, []<typename T>(T) -> StepFunction { return &divide<T>; }); return;
    case Opcode::Mod: step.run = for_number(out, []<typename T>(T) -> StepFunction { return &remainder<T>; }); return;
    case Opcode::NumericDiv:
      step.number = static_cast<int32_t>(std::get<int64_t>(instruction.p4));
      step.run = for_whole(out, []<typename T>(T) -> StepFunction { return &numeric_divide<T>; });
      return;
    default:
      step.number = instruction.p3;
      step.b = step.a;
      step.run = for_whole(out, []<typename T>(T) -> StepFunction { return &rescale<T>; });
  }
}

}  // namespace diptych::cpu
