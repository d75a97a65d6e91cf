#include "engine/gpu/generator/aggregate_state.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <tuple>

#include "base/error.h"
#include "engine/run/exact_moments.h"
#include "engine/run/kernel_error.h"
#include "kernel/kernel.h"
#include "program/range.h"

namespace diptych::gpu {
namespace {

constexpr uint64_t sign_bit = uint64_t{1} << 63;

bool is_wide(const AggregateInfo& aggregate) { return aggregate.argument.physical == PhysicalType::Int128; }

StateLayout extreme_layout(const AggregateInfo& aggregate, bool least) {
  StateLayout layout;
  if (is_wide(aggregate)) {
    layout.kind = least ? StateKind::LeastI128 : StateKind::GreatestI128;
    layout.words = 2;
    layout.empty[0] = least ? ~uint64_t{0} : 0;
    layout.empty[1] = least ? sign_bit - 1 : sign_bit;
  } else {
    layout.kind = least ? StateKind::Least : StateKind::Greatest;
    layout.empty[0] = least ? ~uint64_t{0} : 0;
  }
  return layout;
}

StateLayout layout_of(const AggregateInfo& aggregate, bool has_extremes, std::string& unsupported) {
  StateLayout layout;
  switch (aggregate.state) {
    case AggregateState::CountStar:
    case AggregateState::Count: return layout;
    case AggregateState::SumInt64: layout.kind = StateKind::SumI64; return layout;
    case AggregateState::SumFloat64: layout.kind = StateKind::SumF64; return layout;
    case AggregateState::SumInt128:
      layout.kind = is_wide(aggregate) ? StateKind::Sum192 : StateKind::SumI128;
      layout.words = is_wide(aggregate) ? 3 : 2;
      return layout;
    case AggregateState::SumSquares:
      layout.kind = StateKind::Sum192;
      layout.words = 3;
      return layout;
    case AggregateState::VarianceFloat64:
      layout.kind = StateKind::Moments;
      layout.words = 3;
      return layout;
    case AggregateState::ExactAvg:
    case AggregateState::ExactStddevSamp:
    case AggregateState::ExactStddevPop:
    case AggregateState::ExactVarSamp:
    case AggregateState::ExactVarPop: layout.kind = StateKind::Exact; return layout;
    default: break;
  }
  const bool is_text = aggregate.argument.physical == PhysicalType::Text;
  const bool is_least = aggregate.state == AggregateState::Min || aggregate.state == AggregateState::BoolAnd;
  if (!is_text && aggregate.argument.physical != PhysicalType::Interval) return extreme_layout(aggregate, is_least);
  if (!has_extremes) unsupported = is_text ? "min or max of strings" : "min or max of intervals";
  layout.kind = StateKind::Extreme;
  layout.words = is_text ? text_extreme_words : interval_extreme_words;
  layout.is_least = is_least;
  return layout;
}

bool is_exact(const AggregateInfo& aggregate) {
  return aggregate.state >= AggregateState::ExactAvg && aggregate.state <= AggregateState::ExactVarPop;
}

// Whether two aggregates are known to take the same values of the same rows.
bool are_alike(const HashTableInfo& table, size_t a, size_t b) {
  const auto first_of = [&](size_t number) {
    const int32_t same = table.aggregates[number].same_argument;
    return same < 0 ? number : static_cast<size_t>(same);
  };
  return first_of(a) == first_of(b);
}

// Whether 63 bits and a sign hold the sums of any rows, given the values of one.
bool sums_fit_64(const std::optional<Range>& values, int64_t rows) {
  const auto sums = values ? mul(*values, {0, rows}) : std::nullopt;
  return sums && sums->within(int64_range);
}

std::vector<StateKind> exact_parts(const AggregateInfo& aggregate, bool has_squares) {
  if (is_wide(aggregate)) {
    std::vector<StateKind> parts(has_squares ? 4 : 2, StateKind::Sum192);
    parts[0] = StateKind::Count;
    return parts;
  }
  const RegisterInfo& argument = aggregate.argument;
  const std::optional<Range> values = argument.has_range ? Range{argument.low, argument.high} : range_of(argument.type);
  const auto squares = values ? mul(*values, *values) : std::nullopt;
  std::vector<StateKind> parts = {StateKind::Count,
                                  sums_fit_64(values, aggregate.row_bound) ? StateKind::SumI64 : StateKind::SumI128};
  if (!has_squares) return parts;
  const bool is_short = argument.physical == PhysicalType::Int32;
  parts.push_back(sums_fit_64(squares, aggregate.row_bound) ? StateKind::SumI64
                  : is_short                                ? StateKind::SumI128
                                                            : StateKind::Sum192);
  return parts;
}

// The state of aggregate `number`, kind Exact: its own parts, or those of one before.
void lay_out_exact(const HashTableInfo& table, size_t number, StatesLayout& layout) {
  StateLayout& state = layout.aggregates[number];
  bool has_squares = false;
  for (size_t i = 0; i < table.aggregates.size(); ++i) {
    if (!is_exact(table.aggregates[i]) || !are_alike(table, i, number)) continue;
    if (i < number) {
      state = layout.aggregates[i];
      state.is_repeated = true;
      return;
    }
    has_squares |= table.aggregates[i].state != AggregateState::ExactAvg;
  }
  for (const StateKind kind : exact_parts(table.aggregates[number], has_squares)) {
    StateLayout& part = layout.parts.emplace_back();
    part.kind = kind;
    part.words = kind == StateKind::Sum192 ? 3 : kind == StateKind::SumI128 ? 2 : 1;
    part.first_word = layout.words;
    layout.words += part.words;
  }
  state.part_count = layout.parts.size() - state.first_part;
  state.words = layout.words - state.first_word;
}

void add_words(uint64_t* into, const uint64_t* from, size_t words) {
  uint64_t carry = 0;
  for (size_t i = 0; i < words; ++i) {
    const uint128_t sum = uint128_t{into[i]} + from[i] + carry;
    into[i] = static_cast<uint64_t>(sum);
    carry = static_cast<uint64_t>(sum >> 64);
  }
}

// Out of the words of the parts.
ExactMoments moments_of(const StatesLayout& layout, const StateLayout& state, std::span<const uint64_t> words) {
  const StateLayout* part = layout.parts.data() + state.first_part;
  ExactMoments moments;
  moments.count = static_cast<int64_t>(words[part[0].first_word]);
  // Signs of sums go on.
  const auto limb = [&](const StateLayout& from, size_t i) {
    if (i < from.words) return words[from.first_word + i];
    return (words[from.first_word + from.words - 1] & sign_bit) != 0 ? ~uint64_t{0} : 0;
  };
  for (size_t i = 0; i < 3; ++i) moments.sum.limbs[i] = limb(part[1], i);
  for (size_t i = 2; i < state.part_count; ++i) {
    std::array<uint64_t, 5> squares{};
    const size_t first = i == 3 ? 2 : 0;
    for (size_t j = 0; j < 3; ++j) squares[first + j] = limb(part[i], j);
    add_words(moments.squares.data(), squares.data(), squares.size());
  }
  return moments;
}

double as_double(uint64_t bits) { return std::bit_cast<double>(bits); }

int128_t wide_of(const uint64_t* words) { return static_cast<int128_t>((uint128_t{words[1]} << 64) | words[0]); }

bool exceeds_38_digits(int128_t value) { return dk_exceeds_38_digits(dk_magnitude_i128(dk_of_native(value))) != 0; }

void combine_moments(uint64_t* into, const uint64_t* from) {
  double a[3], b[3];
  std::memcpy(a, into, sizeof(a));
  std::memcpy(b, from, sizeof(b));
  if (b[0] == 0) return;
  if (a[0] == 0) {
    std::memcpy(into, b, sizeof(b));
    return;
  }
  const double difference = a[1] / a[0] - b[1] / b[0], count = a[0] + b[0];
  a[2] += b[2] + a[0] * b[0] * difference * difference / count;
  a[0] = count;
  a[1] += b[1];
  std::memcpy(into, a, sizeof(a));
}

// Of intervals: by the span, then by the number of the row.
void combine_intervals(uint64_t* into, const uint64_t* from) {
  const auto order = [](const uint64_t* words) { return std::tuple(words[0], words[1], words[2]); };
  if (from[2] != 0 && (into[2] == 0 || order(into) < order(from))) std::copy_n(from, interval_extreme_words, into);
}

[[noreturn]] void overflow(int32_t position) { raise_kernel_error(DK_NUMERIC_OUT_OF_RANGE, position); }

// The least or greatest value, out of its key.
void store_key(PhysicalType physical, uint64_t key, std::byte* to) {
  const auto store = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
  const uint64_t float_bits = (key & sign_bit) != 0 ? key ^ sign_bit : ~key;
  const auto whole = static_cast<int64_t>(key ^ sign_bit);
  switch (physical) {
    case PhysicalType::Bool: return store(static_cast<uint8_t>(whole));
    case PhysicalType::Int32: return store(static_cast<int32_t>(whole));
    case PhysicalType::Float32: return store(static_cast<float>(as_double(float_bits)));
    case PhysicalType::Float64: return store(as_double(float_bits));
    default: return store(whole);
  }
}

void store_whole(PhysicalType physical, int128_t value, std::byte* to) {
  const auto store = [&](auto narrow) { std::memcpy(to, &narrow, sizeof(narrow)); };
  switch (physical) {
    case PhysicalType::Int32: return store(static_cast<int32_t>(value));
    case PhysicalType::Int64: return store(static_cast<int64_t>(value));
    default: return store(value);
  }
}

}  // namespace

bool StatesLayout::has(StateKind kind) const {
  return std::any_of(aggregates.begin(), aggregates.end(),
                     [&](const StateLayout& state) { return state.kind == kind; });
}

StatesLayout layout_states(const HashTableInfo& table, bool has_extremes) {
  StatesLayout layout;
  if (!table.aggregates.empty()) layout.note_words = note_index(table.aggregates.size() - 1) / 2 + 1;
  layout.words = layout.note_words;
  for (const AggregateInfo& aggregate : table.aggregates) {
    StateLayout state = layout_of(aggregate, has_extremes, layout.unsupported);
    state.first_word = layout.words;
    state.first_part = layout.parts.size();
    layout.aggregates.push_back(state);
    if (state.kind == StateKind::Exact) {
      lay_out_exact(table, layout.aggregates.size() - 1, layout);
      continue;
    }
    layout.words += state.words;
    layout.parts.push_back(state);
  }
  return layout;
}

void clear_states(const StatesLayout& layout, std::span<uint64_t> words) {
  std::fill_n(words.begin(), layout.note_words, 0);
  for (const StateLayout& state : layout.parts) std::copy_n(state.empty, state.words, words.data() + state.first_word);
}

void combine_states(const StatesLayout& layout, std::span<uint64_t> into, std::span<const uint64_t> from) {
  for (size_t i = 0; i < layout.note_words; ++i) into[i] |= from[i];
  for (const StateLayout& state : layout.parts) {
    uint64_t* a = into.data() + state.first_word;
    const uint64_t* b = from.data() + state.first_word;
    switch (state.kind) {
      case StateKind::Count:
      case StateKind::SumI64: *a += *b; break;
      case StateKind::SumI128: add_words(a, b, 2); break;
      case StateKind::Sum192: add_words(a, b, 3); break;
      case StateKind::SumF64: *a = std::bit_cast<uint64_t>(as_double(*a) + as_double(*b)); break;
      case StateKind::Least: *a = std::min(*a, *b); break;
      case StateKind::Greatest: *a = std::max(*a, *b); break;
      case StateKind::LeastI128:
        if (wide_of(b) < wide_of(a)) std::copy_n(b, 2, a);
        break;
      case StateKind::GreatestI128:
        if (wide_of(a) < wide_of(b)) std::copy_n(b, 2, a);
        break;
      case StateKind::Moments: combine_moments(a, b); break;
      case StateKind::Extreme:
        if (state.words == interval_extreme_words) combine_intervals(a, b);
        break;
      case StateKind::Exact: break;  // never a part
    }
  }
}

bool finish_state(const AggregateInfo& aggregate, const StatesLayout& layout, size_t number,
                  std::span<const uint64_t> words, int32_t position, std::byte* to) {
  const StateLayout& state = layout.aggregates[number];
  const uint64_t* value = words.data() + state.first_word;
  const PhysicalType physical = aggregate.result.physical;
  const bool came = has_note(words, note_index(number), came_bit(number)),
             all_finite = !has_note(words, note_index(number), not_finite_bit(number));
  const auto store = [&](auto result) { std::memcpy(to, &result, sizeof(result)); };
  switch (state.kind) {
    case StateKind::Count: store_whole(physical, static_cast<int64_t>(*value), to); return true;
    case StateKind::SumI64: store_whole(physical, static_cast<int64_t>(*value), to); break;
    case StateKind::SumI128: store_whole(physical, wide_of(value), to); break;
    case StateKind::Sum192:
      if (value[2] != ((value[1] & sign_bit) != 0 ? ~uint64_t{0} : 0) || exceeds_38_digits(wide_of(value)))
        overflow(position);
      store_whole(physical, wide_of(value), to);
      break;
    case StateKind::SumF64:
      // As PostgreSQL: a sum of finite numbers that becomes infinite is an error.
      if (std::isinf(as_double(*value)) && all_finite) overflow(position);
      store(as_double(*value));
      break;
    case StateKind::Least:
    case StateKind::Greatest: store_key(physical, *value, to); break;
    case StateKind::LeastI128:
    case StateKind::GreatestI128: store_whole(physical, wide_of(value), to); break;
    case StateKind::Moments: {
      double squares = as_double(value[2]);
      if (!std::isfinite(squares) && all_finite) overflow(position);
      store(all_finite ? squares : std::nan(""));
      break;
    }
    case StateKind::Extreme:
      if (state.words == interval_extreme_words) std::memcpy(to, value + 3, 16);
      break;
    case StateKind::Exact: {
      int128_t result = 0;
      const MomentsResult found = finish_moments(moments_formula(aggregate), moments_of(layout, state, words), result);
      if (found == MomentsResult::Overflow) overflow(position);
      store(result);
      return found == MomentsResult::Value;
    }
  }
  return came;
}

}  // namespace diptych::gpu
