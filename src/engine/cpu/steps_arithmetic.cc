// Add, Sub, Mul and Negate.
//
// Vector loops do the work. Where one reports that a lane may have failed, the active rows are computed once more, one
// by one, by the kernel's checked functions, to tell a true error from one in a lane that nobody wants.
#include "base/error.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

const RegisterInfo& info(const Program& program, int number) { return program.registers[static_cast<size_t>(number)]; }

// ---- checks

template <typename T>
T checked(Opcode opcode, T a, T b, dk_i32* error);
#define DIPTYCH_CHECKED(type, suffix)                                 \
  template <>                                                         \
  type checked<type>(Opcode opcode, type a, type b, dk_i32 * error) { \
    if (opcode == Opcode::Add) return dk_add_##suffix(a, b, error);   \
    if (opcode == Opcode::Sub) return dk_sub_##suffix(a, b, error);   \
    return dk_mul_##suffix(a, b, error);                              \
  }
DIPTYCH_CHECKED(dk_i32, i32)
DIPTYCH_CHECKED(dk_i64, i64)
DIPTYCH_CHECKED(dk_i128, i128)
DIPTYCH_CHECKED(dk_f32, f32)
DIPTYCH_CHECKED(dk_f64, f64)
#undef DIPTYCH_CHECKED

template <typename T>
T operand_at(const Slot& slot, int row) {
  if constexpr (std::is_floating_point_v<T>)
    return value_at<T>(slot.values, row);
  else
    return whole_at<T>(slot, row);
}

template <typename T>
void recheck(Frame& frame, const Step& step, const Slot& a, const Slot& b) {
  Slot& out = frame.slot(step.out);
  const RowMask rows = active_not_null(frame, out);
  for_rows_raising<T>(frame, step, rows, out, [&](int row, dk_i32* error) {
    return checked<T>(step.instruction->opcode, operand_at<T>(a, row), operand_at<T>(b, row), error);
  });
}

// ---- running

void run_binary(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, b);
  if (!step.binary(frame.active_words(), frame.words(), a.values, b.values, out.storage))
    step.recheck(frame, step, a, b);
  if (step.outside != nullptr) check_range(frame, step, out);
}

// Operands of widths that no vector loop takes together.
template <typename T>
void run_mixed(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, b);
  recheck<T>(frame, step, a, b);
  if (step.outside != nullptr) check_range(frame, step, out);
}

// An operand register that is narrower than the result's, whose sum or product is computed wide and stored narrow.
template <typename T>
void run_narrowing(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, b);
  auto* to = reinterpret_cast<T*>(out.storage);
  const RowMask rows = active_not_null(frame, out);
  for_each_row(rows.words, frame.words(), [&](int row) {
    dk_i32 error = 0;
    const dk_i128 wide =
        checked<dk_i128>(step.instruction->opcode, whole_at<dk_i128>(a, row), whole_at<dk_i128>(b, row), &error);
    to[row] = static_cast<T>(dk_native(wide));
    if (error != 0 || to[row] != dk_native(wide)) raise_kernel_error(DK_NUMERIC_OUT_OF_RANGE, step.position());
  });
  if (step.outside != nullptr) check_range(frame, step, out);
}

template <typename T>
void negate(Frame& frame, const Step& step) {
  const Slot& a = frame.read(step.a);
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, a, a);
  for_rows_raising<T>(frame, step, active_not_null(frame, out), out, [&](int row, [[maybe_unused]] dk_i32* error) -> T {
    const T value = operand_at<T>(a, row);
    if constexpr (std::is_same_v<T, dk_i32>)
      return dk_neg_i32(value, error);
    else if constexpr (std::is_same_v<T, dk_i64>)
      return dk_neg_i64(value, error);
    else if constexpr (std::is_same_v<T, dk_i128>)
      return dk_neg_i128(value);
    else
      return -value;
  });
  if (step.outside != nullptr) check_range(frame, step, out);
}

// ---- choosing

struct Shape {
  PhysicalType out, a, b;
  bool operator==(const Shape&) const = default;
};

const ArithmeticLoops* loops_for(Shape shape) {
  using enum PhysicalType;
  const LoopTable& table = loops();
  if (shape == Shape{Int32, Int32, Int32}) return &table.i32;
  if (shape == Shape{Int64, Int64, Int64}) return &table.i64;
  if (shape == Shape{Int128, Int128, Int128}) return &table.i128;
  if (shape == Shape{Float32, Float32, Float32}) return &table.f32;
  if (shape == Shape{Float64, Float64, Float64}) return &table.f64;
  if (shape == Shape{Int64, Int32, Int32}) return &table.i64_of_i32;
  if (shape == Shape{Int64, Int64, Int32}) return &table.i64_of_i64_i32;
  if (shape == Shape{Int128, Int64, Int64}) return &table.i128_of_i64;
  return nullptr;
}

BinaryLoop loop_for(Opcode opcode, const ArithmeticLoops& table, bool is_checked) {
  const BinaryLoop* both = opcode == Opcode::Add ? table.add : opcode == Opcode::Sub ? table.sub : table.mul;
  return both[is_checked ? 1 : 0];
}

StepFunction slow_path(Shape shape) {
  const bool narrowing = width_bytes(shape.out) < std::max(width_bytes(shape.a), width_bytes(shape.b));
  switch (shape.out) {
    case PhysicalType::Int32: return narrowing ? &run_narrowing<int32_t> : &run_mixed<dk_i32>;
    case PhysicalType::Int64: return narrowing ? &run_narrowing<int64_t> : &run_mixed<dk_i64>;
    case PhysicalType::Int128: return &run_mixed<dk_i128>;
    default: throw Error(SqlState::internal_error, "arithmetic on registers of different kinds");
  }
}

RecheckFunction recheck_of(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Int32: return &recheck<dk_i32>;
    case PhysicalType::Int64: return &recheck<dk_i64>;
    case PhysicalType::Int128: return &recheck<dk_i128>;
    case PhysicalType::Float32: return &recheck<dk_f32>;
    default: return &recheck<dk_f64>;
  }
}

StepFunction negate_of(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Int32: return &negate<dk_i32>;
    case PhysicalType::Int64: return &negate<dk_i64>;
    case PhysicalType::Int128: return &negate<dk_i128>;
    case PhysicalType::Float32: return &negate<dk_f32>;
    default: return &negate<dk_f64>;
  }
}

}  // namespace

void resolve_arithmetic(const Program& program, Step& step) {
  const Instruction& instruction = *step.instruction;
  const Check* given = std::get_if<Check>(&instruction.p4);
  const Check check = given != nullptr ? *given : Check::Register;
  step.a = instruction.p2;
  set_check(program, step, check);
  if (instruction.opcode == Opcode::Negate) {
    step.run = negate_of(info(program, step.out).physical);
    return;
  }
  step.b = instruction.p3;
  Shape shape{info(program, step.out).physical, info(program, step.a).physical, info(program, step.b).physical};
  const bool commutes = instruction.opcode != Opcode::Sub;
  if (commutes && loops_for(shape) == nullptr && loops_for({shape.out, shape.b, shape.a}) != nullptr) {
    std::swap(step.a, step.b);
    std::swap(shape.a, shape.b);
  }
  step.recheck = recheck_of(shape.out);
  const ArithmeticLoops* table = loops_for(shape);
  if (table == nullptr) {
    step.run = slow_path(shape);
    return;
  }
  step.binary = loop_for(instruction.opcode, *table, check != Check::None);
  step.run = &run_binary;
}

}  // namespace diptych::cpu
