// Running a kernel function row by row: for opcodes that no vector loop serves, and to find the row an error belongs
// to.
#pragma once

#include "engine/cpu/frame.h"
#include "engine/cpu/step.h"
#include "engine/run/kernel_error.h"

namespace diptych::cpu {

// The C++ type of the kernel subset for each physical type.
template <PhysicalType>
struct KernelType;
template <>
struct KernelType<PhysicalType::Bool> {
  using Type = dk_bool;
};
template <>
struct KernelType<PhysicalType::Int32> {
  using Type = dk_i32;
};
template <>
struct KernelType<PhysicalType::Int64> {
  using Type = dk_i64;
};
template <>
struct KernelType<PhysicalType::Int128> {
  using Type = dk_i128;
};
template <>
struct KernelType<PhysicalType::Float32> {
  using Type = dk_f32;
};
template <>
struct KernelType<PhysicalType::Float64> {
  using Type = dk_f64;
};
template <>
struct KernelType<PhysicalType::Interval> {
  using Type = dk_interval;
};
template <>
struct KernelType<PhysicalType::Text> {
  using Type = dk_text;
};

// Calls visit(value of the kernel type) with the type that the register form has, and returns what it returns.
template <typename Visit>
auto with_kernel_type(PhysicalType physical, Visit&& visit) {
  switch (physical) {
    case PhysicalType::Bool: return visit(dk_bool{});
    case PhysicalType::Int32: return visit(dk_i32{});
    case PhysicalType::Int64: return visit(dk_i64{});
    case PhysicalType::Int128: return visit(dk_i128{});
    case PhysicalType::Float32: return visit(dk_f32{});
    case PhysicalType::Float64: return visit(dk_f64{});
    case PhysicalType::Interval: return visit(dk_interval{});
    case PhysicalType::Text: break;
  }
  return visit(dk_text{});
}

// Active rows of which the slot's value is not NULL.
inline RowMask active_not_null(const Frame& frame, const Slot& slot) {
  RowMask rows = frame.active();
  if (slot.valid != nullptr) {
    for (int w = 0; w < frame.words(); ++w) rows.words[w] &= slot.valid[w];
  }
  return rows;
}

// out[row] = function(row, &error) for the rows; raises the first error. `function` computes one row's value.
template <typename Out, typename Function>
void for_rows_raising(Frame& frame, const Step& step, const RowMask& rows, Slot& out, Function&& function) {
  auto* to = reinterpret_cast<Out*>(out.storage);
  for_each_row(rows.words, frame.words(), [&](int row) {
    dk_i32 error = 0;
    to[row] = function(row, &error);
    if (error != 0) raise_kernel_error(error, step.position());
  });
}

// Registers of integers may be of different widths; widens a value as it is read.
template <typename To>
To whole_at(const Slot& slot, int row) {
  const auto widened = [](auto value) {
    if constexpr (std::is_same_v<To, dk_i128>)
      return dk_widen_i64(value);
    else
      return static_cast<To>(value);
  };
  switch (slot.physical) {
    case PhysicalType::Bool: return widened(value_at<dk_bool>(slot.values, row));
    case PhysicalType::Int32: return widened(value_at<dk_i32>(slot.values, row));
    case PhysicalType::Int64: return widened(value_at<dk_i64>(slot.values, row));
    default: break;
  }
  const dk_i128 wide = value_at<dk_i128>(slot.values, row);
  if constexpr (std::is_same_v<To, dk_i128>)
    return wide;
  else
    return static_cast<To>(wide.lo);
}

inline bool is_whole(PhysicalType physical) {
  return physical == PhysicalType::Int32 || physical == PhysicalType::Int64 || physical == PhysicalType::Int128;
}

}  // namespace diptych::cpu
