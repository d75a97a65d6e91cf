// Comparisons, as jumps and as truth values.
//
//   bits        which rows fulfil Equal or Less, from one of: codes against a translated constant, vector loops, row by
//   row negated     Neq, Ge and Le are Equal and Less the other way round (the order of SQL is total, NaN included)
//   finish      rows with a NULL are neither; then jump, or write a boolean register
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/cpu/row_function.h"
#include "program/comparison.h"

namespace diptych::cpu {
namespace {

using BitsFunction = void (*)(Frame& frame, const Step& step, RowMask& bits);

// ---- codes against a constant

int128_t constant_operand(const Frame& frame, const Step& step) {
  const Slot& slot = const_cast<Frame&>(frame).slot(step.b);
  return dk_native(whole_at<dk_i128>(slot, 0));
}

void set_bound(CodeComparison& comparison, int width, int128_t code, bool equal) {
  const auto fill = [&]<typename Code>(Code, Lane lane) {
    Code codes[64];
    std::fill(std::begin(codes), std::end(codes), static_cast<Code>(code));
    std::memcpy(comparison.bound, codes, sizeof(codes));
    comparison.loop = equal ? loops().equal[static_cast<size_t>(lane)] : loops().less[static_cast<size_t>(lane)];
  };
  switch (width) {
    case 1: return fill(uint8_t{}, Lane::U8);
    case 2: return fill(uint16_t{}, Lane::U16);
    case 4: return fill(uint32_t{}, Lane::U32);
    default: return fill(uint64_t{}, Lane::U64);
  }
}

// value < bound becomes code < ceil((bound - base) / factor); value = bound becomes an equality or never holds.
void translate(CodeComparison& comparison, const ColumnView& view, int128_t bound, bool equal) {
  using Kind = CodeComparison::Kind;
  const int128_t distance = bound - view.base;
  const int128_t most = view.width == 0 ? 0 : (int128_t{1} << (8 * view.width)) - 1;
  if (equal) {
    const bool possible = distance >= 0 && distance % view.factor == 0 && distance / view.factor <= most;
    comparison.kind = possible ? Kind::Equal : Kind::Never;
    if (possible && view.width == 0) comparison.kind = Kind::Always;
    if (possible && view.width > 0) set_bound(comparison, view.width, distance / view.factor, true);
    return;
  }
  const int128_t code = distance <= 0 ? 0 : (distance + view.factor - 1) / view.factor;
  comparison.kind = code == 0 ? Kind::Never : code > most ? Kind::Always : Kind::Less;
  if (comparison.kind == Kind::Less) set_bound(comparison, view.width, code, false);
}

void value_bits(Frame& frame, const Step& step, RowMask& bits);
void whole_bits(Frame& frame, const Step& step, RowMask& bits);

// step.number: what is added to the constant, so that value <= c can be value < c + 1.
void code_bits(Frame& frame, const Step& step, RowMask& bits) {
  using Kind = CodeComparison::Kind;
  CodeComparison& comparison = frame.code_comparison(step.state);
  const ColumnState& column = frame.column(frame.slot(step.a).column);
  const bool equal = step.compare == nullptr;
  if (comparison.tablet != frame.tablet_serial()) {
    comparison.tablet = frame.tablet_serial();
    comparison.kind = Kind::Decode;
    const bool encoded = column.view.encoding == Encoding::FrameOfReference || frame.slot(step.a).codes_wanted;
    if (encoded) translate(comparison, column.view, constant_operand(frame, step) + step.number, equal);
  }
  switch (comparison.kind) {
    case Kind::Never: return bits.clear();
    case Kind::Always: std::memset(bits.words, 0xFF, sizeof(bits.words)); return;
    case Kind::Decode: return whole_bits(frame, step, bits);
    default:
      comparison.loop(frame.active_words(), frame.words(), {column.codes, 64 * static_cast<size_t>(column.view.width)},
                      {comparison.bound, 0}, bits.words);
  }
}

// ---- values

void value_bits(Frame& frame, const Step& step, RowMask& bits) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  step.compare(frame.active_words(), frame.words(), a.values, b.values, bits.words);
}

template <typename Holds>
void bits_by_row(Frame& frame, RowMask& bits, Holds&& holds) {
  bits.clear();
  for_each_row(frame.active_words(), frame.words(), [&](int row) {
    if (holds(row)) bits.words[row / 64] |= uint64_t{1} << (row % 64);
  });
}

bool asks_equal(const Step& step) {
  const auto comparison = comparison_of(step.instruction->opcode);
  return comparison == Comparison::Eq || comparison == Comparison::Neq;
}

// Integers of different widths, or compared with a constant that was to be translated but is met unencoded.
void whole_bits(Frame& frame, const Step& step, RowMask& bits) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  const bool equal = asks_equal(step);
  const int128_t more = step.number;
  bits_by_row(frame, bits, [&](int row) {
    const int128_t x = dk_native(whole_at<dk_i128>(a, row));
    const int128_t y = dk_native(whole_at<dk_i128>(b, row)) + more;
    return equal ? x == y : x < y;
  });
}

// Null rows may hold texts that are not there.
bool both_valid(const Slot& a, const Slot& b, int row) {
  const auto valid = [row](const Slot& slot) {
    return slot.valid == nullptr || (slot.valid[row / 64] >> (row % 64) & 1) != 0;
  };
  return valid(a) && valid(b);
}

void text_bits(Frame& frame, const Step& step, RowMask& bits) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  const bool equal = asks_equal(step);
  bits_by_row(frame, bits, [&](int row) {
    if (!both_valid(a, b, row)) return false;
    const dk_text x = value_at<dk_text>(a.values, row), y = value_at<dk_text>(b.values, row);
    return (equal ? dk_eq_text(x, y) : dk_lt_text(x, y)) != 0;
  });
}

void interval_bits(Frame& frame, const Step& step, RowMask& bits) {
  const Slot& a = frame.read(step.a);
  const Slot& b = frame.read(step.b);
  const bool equal = asks_equal(step);
  bits_by_row(frame, bits, [&](int row) {
    const dk_interval x = value_at<dk_interval>(a.values, row), y = value_at<dk_interval>(b.values, row);
    return (equal ? dk_eq_interval(x, y) : dk_lt_interval(x, y)) != 0;
  });
}

// ---- finishing

template <BitsFunction bits_of>
void compare_and_jump(Frame& frame, const Step& step) {
  RowMask taken;
  bits_of(frame, step, taken);
  const uint64_t flip = step.negated ? ~uint64_t{0} : 0;
  const uint64_t* a = frame.slot(step.a).valid;
  const uint64_t* b = frame.slot(step.b).valid;
  for (int w = 0; w < frame.words(); ++w) {
    uint64_t holds = taken.words[w] ^ flip;
    if (a != nullptr) holds = step.jump.if_null ? holds | ~a[w] : holds & a[w];
    if (b != nullptr) holds = step.jump.if_null ? holds | ~b[w] : holds & b[w];
    // A row with one NULL operand: with if_null it goes whatever the other holds, without it never does.
    taken.words[w] = holds & frame.active_words()[w];
  }
  for (int w = frame.words(); w < block_words; ++w) taken.words[w] = 0;
  frame.jump(taken, step);
}

template <BitsFunction bits_of>
void compare_and_set(Frame& frame, const Step& step) {
  RowMask bits;
  bits_of(frame, step, bits);
  if (step.negated) {
    for (int w = 0; w < frame.words(); ++w) bits.words[w] = ~bits.words[w];
  }
  Slot& out = frame.write(step.out);
  frame.combine_nulls(out, frame.slot(step.a), frame.slot(step.b));
  loops().expand(bits.words, frame.words(), out.storage);
}

// IS [NOT] DISTINCT FROM: step.negated when distinct rows are asked for.
template <BitsFunction bits_of>
void compare_distinct(Frame& frame, const Step& step) {
  RowMask same;
  bits_of(frame, step, same);
  const uint64_t* a = frame.slot(step.a).valid;
  const uint64_t* b = frame.slot(step.b).valid;
  for (int w = 0; w < frame.words(); ++w) {
    const uint64_t x = a != nullptr ? a[w] : ~uint64_t{0}, y = b != nullptr ? b[w] : ~uint64_t{0};
    const uint64_t equal = (same.words[w] & x & y) | (~x & ~y);
    same.words[w] = step.negated ? ~equal : equal;
  }
  loops().expand(same.words, frame.words(), frame.write(step.out).storage);
}

template <BitsFunction bits_of>
StepFunction finish_of(Opcode opcode) {
  if (compares_nulls(opcode)) return &compare_distinct<bits_of>;
  return info_of(opcode).kind == OpcodeKind::Jump ? &compare_and_jump<bits_of> : &compare_and_set<bits_of>;
}

// ---- choosing

bool is_lazy_column(const Section& section, int number) { return section.lazy_columns[static_cast<size_t>(number)]; }

Lane lane_of(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Bool: return Lane::U8;
    case PhysicalType::Int32: return Lane::I32;
    case PhysicalType::Int64: return Lane::I64;
    case PhysicalType::Int128: return Lane::I128;
    case PhysicalType::Float32: return Lane::F32;
    default: return Lane::F64;
  }
}

// A column against a constant: Less or Equal of the column and the constant or the constant plus 1.
void resolve_codes(Section& section, Step& step, Comparison comparison) {
  step.state = section.comparisons++;
  step.negated = comparison == Comparison::Neq || comparison == Comparison::Gt || comparison == Comparison::Ge;
  step.number = comparison == Comparison::Le || comparison == Comparison::Gt ? 1 : 0;
  const bool equal = comparison == Comparison::Eq || comparison == Comparison::Neq;
  step.compare = equal ? nullptr : loops().less[0];
  step.run = finish_of<&code_bits>(step.instruction->opcode);
}

}  // namespace

void resolve_comparison(const Program& program, Section& section, Step& step) {
  const Instruction& instruction = *step.instruction;
  const auto [left, right] = compared_registers(instruction);
  step.a = left;
  step.b = right;
  Comparison comparison = *comparison_of(instruction.opcode);
  const auto physical = [&](int number) { return program.registers[static_cast<size_t>(number)].physical; };
  if (is_constant(section, step.a) && is_lazy_column(section, step.b)) {
    std::swap(step.a, step.b);
    comparison = mirrored(comparison);
  }
  if (is_lazy_column(section, step.a) && is_constant(section, step.b) && is_whole(physical(step.a)) &&
      is_whole(physical(step.b)))
    return resolve_codes(section, step, comparison);
  const bool equal = comparison == Comparison::Eq || comparison == Comparison::Neq;
  if (comparison == Comparison::Gt || comparison == Comparison::Le) std::swap(step.a, step.b);
  step.negated = comparison == Comparison::Neq || comparison == Comparison::Ge || comparison == Comparison::Le;
  switch (physical(step.a)) {
    case PhysicalType::Text: step.run = finish_of<&text_bits>(instruction.opcode); return;
    case PhysicalType::Interval: step.run = finish_of<&interval_bits>(instruction.opcode); return;
    default: break;
  }
  if (physical(step.a) != physical(step.b)) {
    check_invariant(is_whole(physical(step.a)) && is_whole(physical(step.b)),
                    "comparisons are between registers of one kind");
    step.run = finish_of<&whole_bits>(instruction.opcode);
    return;
  }
  const auto lane = static_cast<size_t>(lane_of(physical(step.a)));
  step.compare = equal ? loops().equal[lane] : loops().less[lane];
  step.run = finish_of<&value_bits>(instruction.opcode);
}

}  // namespace diptych::cpu
