// Calls of the scalar functions of kernel/functions.def, row by row, and Concat.
//
// The loops around the functions are made from the functions' own signatures: each parameter is a register of the
// block, but for the error and, for functions that write text, the place to write to.
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "engine/cpu/row_function.h"
#include "kernel/function_table.h"

namespace diptych::cpu {
namespace {

struct Outputs {
  dk_i32 error = 0;
  char* text = nullptr;
};

// The argument of a function's parameter of type T, from the next register of the block.
template <typename T>
T argument([[maybe_unused]] const Slot* const* block, [[maybe_unused]] size_t number, [[maybe_unused]] int row,
           [[maybe_unused]] Outputs& outputs) {
  if constexpr (std::is_same_v<T, dk_i32*>)
    return &outputs.error;
  else if constexpr (std::is_same_v<T, char*>)
    return outputs.text;
  else if constexpr (std::is_same_v<T, dk_i32> || std::is_same_v<T, dk_i64> || std::is_same_v<T, dk_i128>)
    return whole_at<T>(*block[number], row);
  else
    return value_at<T>(block[number]->values, row);
}

template <typename Result, typename... Parameters, size_t... numbers>
Result invoke(Result (*function)(Parameters...), [[maybe_unused]] const Slot* const* block, [[maybe_unused]] int row,
              [[maybe_unused]] Outputs& outputs, std::index_sequence<numbers...>) {
  return function(argument<Parameters>(block, numbers, row, outputs)...);
}

template <typename Result, typename... Parameters>
Result invoke(Result (*function)(Parameters...), const Slot* const* block, int row, Outputs& outputs) {
  return invoke(function, block, row, outputs, std::index_sequence_for<Parameters...>());
}

constexpr size_t most_arguments = 16;
using Block = std::array<const Slot*, most_arguments>;

// Reads the block's registers and makes NULL what has a NULL among them; returns the rows to compute.
RowMask open_block(Frame& frame, const Step& step, Block& block) {
  for (int i = 0; i < step.count; ++i) block[static_cast<size_t>(i)] = &frame.read(step.a + i);
  Slot& out = frame.write(step.out);
  for (int i = 0; i < step.count; ++i) {
    const Slot& operand = *block[static_cast<size_t>(i)];
    if (operand.valid != nullptr) frame.combine_nulls(out, out, operand);
  }
  return active_not_null(frame, out);
}

template <typename Result>
void store(Slot& out, int row, Result value, const Step& step) {
  if constexpr (std::is_same_v<Result, dk_i32> || std::is_same_v<Result, dk_i64> || std::is_same_v<Result, dk_i128>) {
    int128_t whole = 0;
    if constexpr (std::is_same_v<Result, dk_i128>)
      whole = dk_native(value);
    else
      whole = value;
    switch (out.physical) {
      case PhysicalType::Int32: reinterpret_cast<dk_i32*>(out.storage)[row] = static_cast<dk_i32>(whole); break;
      case PhysicalType::Int64: reinterpret_cast<dk_i64*>(out.storage)[row] = static_cast<dk_i64>(whole); break;
      default: reinterpret_cast<int128_t*>(out.storage)[row] = whole; return;
    }
    const bool fits =
        out.physical == PhysicalType::Int32 ? whole == static_cast<dk_i32>(whole) : whole == static_cast<dk_i64>(whole);
    if (!fits) raise_kernel_error(DK_NUMERIC_OUT_OF_RANGE, step.position());
  } else {
    reinterpret_cast<Result*>(out.storage)[row] = value;
  }
}

template <auto function>
void call(Frame& frame, const Step& step) {
  Block block;
  const RowMask rows = open_block(frame, step, block);
  Slot& out = frame.slot(step.out);
  for_each_row(rows.words, frame.words(), [&](int row) {
    Outputs outputs;
    const auto value = invoke(function, block.data(), row, outputs);
    if (outputs.error != 0) raise_kernel_error(outputs.error, step.position());
    store(out, row, value, step);
  });
}

template <auto size, auto write>
void call_text(Frame& frame, const Step& step) {
  Block block;
  const RowMask rows = open_block(frame, step, block);
  auto* texts = reinterpret_cast<dk_text*>(frame.slot(step.out).storage);
  for_each_row(rows.words, frame.words(), [&](int row) {
    Outputs outputs;
    const dk_i32 most = invoke(size, block.data(), row, outputs);
    if (outputs.error != 0) raise_kernel_error(outputs.error, step.position());
    outputs.text = frame.arena().allocate(static_cast<size_t>(most));
    const dk_i32 bytes = invoke(write, block.data(), row, outputs);
    frame.arena().shrink(static_cast<size_t>(most - bytes));
    texts[row] = {outputs.text, bytes};
  });
}

constexpr std::array<StepFunction, function_count> calls = {
#define DK_FUNCTION(name, sql_name, result, arguments, flags, documentation) &call<&dk_##name>,
#define DK_TEXT_FUNCTION(name, sql_name, result, arguments, flags, documentation) \
  &call_text<&dk_##name##_size, &dk_##name##_write>,
#include "kernel/functions.def"
};

void concatenate(Frame& frame, const Step& step) {
  std::vector<const Slot*> block;
  for (int i = 0; i < step.count; ++i) block.push_back(&frame.read(step.a + i));
  Slot& out = frame.write(step.out);
  for (const Slot* operand : block) {
    if (operand->valid != nullptr) frame.combine_nulls(out, out, *operand);
  }
  auto* texts = reinterpret_cast<dk_text*>(out.storage);
  const RowMask rows = active_not_null(frame, out);
  for_each_row(rows.words, frame.words(), [&](int row) {
    int64_t bytes = 0;
    for (const Slot* operand : block) bytes += value_at<dk_text>(operand->values, row).length;
    if (bytes >= int64_t{1} << 30) raise_kernel_error(DK_LIMIT_EXCEEDED, step.position());
    char* place = frame.arena().allocate(static_cast<size_t>(bytes));
    texts[row] = {place, static_cast<dk_i32>(bytes)};
    for (const Slot* operand : block) {
      const dk_text part = value_at<dk_text>(operand->values, row);
      if (part.length == 0) continue;
      std::memcpy(place, part.data, static_cast<size_t>(part.length));
      place += part.length;
    }
  });
}

}  // namespace

void resolve_call(const Program&, Step& step) {
  const Instruction& instruction = *step.instruction;
  step.a = instruction.p2;
  step.count = instruction.p3;
  if (instruction.opcode == Opcode::Concat) {
    step.run = &concatenate;
    return;
  }
  check_invariant(static_cast<size_t>(step.count) <= most_arguments, "a function takes at most 16 parameters");
  step.run = calls[static_cast<size_t>(std::get<FunctionId>(instruction.p4))];
}

}  // namespace diptych::cpu
