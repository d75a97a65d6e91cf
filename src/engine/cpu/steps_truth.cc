// Three-valued logic and jumps on truth values. Truth values are bytes in registers; here they are bits, 64 rows a
// word:
//
//   truth   1: true        known   1: not NULL        false = known and not truth
#include "base/error.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

struct Truth {
  RowMask truth, known;  // truth is a part of known
};

Truth truth_of(Frame& frame, int number) {
  const Slot& slot = frame.read(number);
  Truth result;
  loops().pack(frame.active_words(), frame.words(), slot.values, result.truth.words);
  for (int w = 0; w < frame.words(); ++w) {
    result.known.words[w] = slot.valid != nullptr ? slot.valid[w] : ~uint64_t{0};
    result.truth.words[w] &= result.known.words[w];
  }
  return result;
}

RowMask known_of(Frame& frame, int number) {
  RowMask result;
  const uint64_t* valid = frame.slot(number).valid;
  for (int w = 0; w < frame.words(); ++w) result.words[w] = valid != nullptr ? valid[w] : ~uint64_t{0};
  return result;
}

// ---- truth values

void store_truth(Frame& frame, const Step& step, const Truth& result) {
  Slot& out = frame.write(step.out);
  loops().expand(result.truth.words, frame.words(), out.storage);
  uint64_t unknown = 0;
  for (int w = 0; w < frame.words(); ++w) {
    out.valid_storage[w] = result.known.words[w];
    unknown |= ~result.known.words[w] & frame.active_words()[w];
  }
  if (unknown != 0) out.valid = out.valid_storage;
}

void set_and(Frame& frame, const Step& step) {
  const Truth a = truth_of(frame, step.a), b = truth_of(frame, step.b);
  Truth result;
  for (int w = 0; w < frame.words(); ++w) {
    result.truth.words[w] = a.truth.words[w] & b.truth.words[w];
    const uint64_t no = (a.known.words[w] & ~a.truth.words[w]) | (b.known.words[w] & ~b.truth.words[w]);
    result.known.words[w] = result.truth.words[w] | no;
  }
  store_truth(frame, step, result);
}

void set_or(Frame& frame, const Step& step) {
  const Truth a = truth_of(frame, step.a), b = truth_of(frame, step.b);
  Truth result;
  for (int w = 0; w < frame.words(); ++w) {
    result.truth.words[w] = a.truth.words[w] | b.truth.words[w];
    const uint64_t no = (a.known.words[w] & ~a.truth.words[w]) & (b.known.words[w] & ~b.truth.words[w]);
    result.known.words[w] = result.truth.words[w] | no;
  }
  store_truth(frame, step, result);
}

void set_not(Frame& frame, const Step& step) {
  Truth value = truth_of(frame, step.a);
  for (int w = 0; w < frame.words(); ++w) value.truth.words[w] = value.known.words[w] & ~value.truth.words[w];
  store_truth(frame, step, value);
}

void store_bits(Frame& frame, const Step& step, const RowMask& bits) {
  loops().expand(bits.words, frame.words(), frame.write(step.out).storage);
}

void set_is_null(Frame& frame, const Step& step) {
  RowMask known = known_of(frame, step.a);
  for (int w = 0; w < frame.words(); ++w) known.words[w] = ~known.words[w];
  store_bits(frame, step, known);
}

void set_is_true(Frame& frame, const Step& step) { store_bits(frame, step, truth_of(frame, step.a).truth); }

void set_is_false(Frame& frame, const Step& step) {
  Truth value = truth_of(frame, step.a);
  for (int w = 0; w < frame.words(); ++w) value.truth.words[w] = value.known.words[w] & ~value.truth.words[w];
  store_bits(frame, step, value.truth);
}

// The form in which a set is asked for a register's value.
template <typename T>
auto asked(T value) {
  if constexpr (std::is_same_v<T, dk_i128>)
    return int128_t{dk_native(value)};
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(value);
  else
    return value;
}

template <typename T>
void set_in(Frame& frame, const Step& step) {
  const Slot& value = frame.read(step.a);
  Truth result;
  result.truth.clear();
  const RowMask rows = active_not_null(frame, value);
  for_each_row(rows.words, frame.words(), [&](int row) {
    if (step.set->has(asked(value_at<T>(value.values, row)))) result.truth.words[row / 64] |= uint64_t{1} << (row % 64);
  });
  for (int w = 0; w < frame.words(); ++w) {
    const uint64_t known = value.valid != nullptr ? value.valid[w] : ~uint64_t{0};
    result.known.words[w] = step.set->has_null() ? result.truth.words[w] : known;
  }
  store_truth(frame, step, result);
}

// ---- jumps

// The rows where `holds`, and with if_null also those where it is not known.
void jump_where(Frame& frame, const Step& step, const RowMask& holds, const RowMask& known) {
  RowMask taken;
  taken.clear();
  for (int w = 0; w < frame.words(); ++w)
    taken.words[w] = frame.active_words()[w] & (holds.words[w] | (step.jump.if_null ? ~known.words[w] : 0));
  frame.jump(taken, step);
}

// `if_null` of And and Or: the result of the three-valued operation is NULL.
void jump_and(Frame& frame, const Step& step) {
  const Truth a = truth_of(frame, step.a), b = truth_of(frame, step.b);
  RowMask holds, known;
  for (int w = 0; w < frame.words(); ++w) {
    holds.words[w] = a.truth.words[w] & b.truth.words[w];
    known.words[w] = holds.words[w] | (a.known.words[w] & ~a.truth.words[w]) | (b.known.words[w] & ~b.truth.words[w]);
  }
  jump_where(frame, step, holds, known);
}

void jump_or(Frame& frame, const Step& step) {
  const Truth a = truth_of(frame, step.a), b = truth_of(frame, step.b);
  RowMask holds, known;
  for (int w = 0; w < frame.words(); ++w) {
    holds.words[w] = a.truth.words[w] | b.truth.words[w];
    known.words[w] = holds.words[w] | (a.known.words[w] & b.known.words[w]);
  }
  jump_where(frame, step, holds, known);
}

void jump_not(Frame& frame, const Step& step) {
  Truth value = truth_of(frame, step.a);
  for (int w = 0; w < frame.words(); ++w) value.truth.words[w] = value.known.words[w] & ~value.truth.words[w];
  jump_where(frame, step, value.truth, value.known);
}

void jump_if(Frame& frame, const Step& step) {
  const Truth value = truth_of(frame, step.a);
  jump_where(frame, step, value.truth, value.known);
}

// Whether a value is NULL is always known, and needs no value: an encoded column stays encoded.
void jump_if_not_null(Frame& frame, const Step& step) {
  RowMask taken = frame.active();
  const RowMask known = known_of(frame, step.a);
  for (int w = 0; w < frame.words(); ++w) taken.words[w] &= known.words[w];
  frame.jump(taken, step);
}

void jump_if_null_value(Frame& frame, const Step& step) {
  if (frame.slot(step.a).valid == nullptr) return;
  RowMask taken = frame.active();
  const RowMask known = known_of(frame, step.a);
  for (int w = 0; w < frame.words(); ++w) taken.words[w] &= ~known.words[w];
  frame.jump(taken, step);
}

void jump_always(Frame& frame, const Step& step) {
  const RowMask all = frame.active();
  frame.jump(all, step);
}

void invalid(Frame& frame, const Step& step) { frame.invalidate(step); }

}  // namespace

void resolve_truth(const Program& program, Step& step, const PreparedObjects& prepared) {
  const Instruction& instruction = *step.instruction;
  step.a = instruction.p2;
  step.b = instruction.p3;
  switch (instruction.opcode) {
    case Opcode::SetAnd: step.run = &set_and; return;
    case Opcode::SetOr: step.run = &set_or; return;
    case Opcode::SetNot: step.run = &set_not; return;
    case Opcode::SetIsNull: step.run = &set_is_null; return;
    case Opcode::SetIsTrue: step.run = &set_is_true; return;
    case Opcode::SetIsFalse: step.run = &set_is_false; return;
    default: break;
  }
  step.set = &prepared.sets[static_cast<size_t>(instruction.p3)];
  step.run = with_kernel_type(program.registers[static_cast<size_t>(step.a)].physical,
                              []<typename T>(T) -> StepFunction { return &set_in<T>; });
}

void resolve_jump(Step& step) {
  const Instruction& instruction = *step.instruction;
  step.a = instruction.p1;
  step.b = instruction.p2;
  switch (instruction.opcode) {
    case Opcode::And: step.run = &jump_and; return;
    case Opcode::Or: step.run = &jump_or; return;
    case Opcode::Not: step.run = &jump_not; return;
    case Opcode::If: step.run = &jump_if; return;
    case Opcode::IfNull: step.run = &jump_if_null_value; return;
    case Opcode::IfNotNull: step.run = &jump_if_not_null; return;
    case Opcode::Jump: step.run = &jump_always; return;
    default: step.run = &invalid;
  }
}

}  // namespace diptych::cpu
