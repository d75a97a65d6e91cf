// The states of aggregates as words of 64 bits: what kernels keep for a group (kernel/device/aggregate.h), and how the
// host combines and reads them.
//
//   group   |notes|count|sum lo|sum mid|sum hi|least key| ...       notes: two bits an aggregate, a value came; a value
//                                                                  was not finite
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "program/program.h"

namespace diptych::gpu {

enum class StateKind : uint8_t {
  Count,
  SumI64,
  SumI128,  // two words; of arguments of at most 64 bits: so many rows that it overflows can't be
  Sum192,   // three words; overflow of 128 bits shows at the end
  SumF64,
  Least,  // of 64-bit keys in the order of the values
  Greatest,
  LeastI128,
  GreatestI128,
  Moments,
  Extreme,  // the least or greatest string or interval (kernel/device/group_extremes.h); of totals and partitioned
            // groups
  Exact     // parts (below) of exact averages and deviations
};

// Of the kind Extreme.
inline constexpr size_t text_extreme_words = 4, interval_extreme_words = 5;

struct StateLayout {
  StateKind kind = StateKind::Count;
  size_t first_word = 0, words = 1;
  uint64_t empty[5] = {0, 0, 0, 0, 0};
  bool is_least = false;  // Extreme
  size_t first_part = 0, part_count = 1;
  bool is_repeated = false;  // Exact: the parts are those of an aggregate before, of the same values
};

// Of all aggregates of a hash table, with the words of notes before them. A state is added up part by part; one that is
// not Exact is its own part. The parts of Exact, all of which are sums, so that no number of rows overflows them:
//
//   argument   Int32       Int64       Int128
//   |count   | Count       Count       Count
//   |sum     | SumI128     SumI128     Sum192
//   |squares | SumI128     Sum192      Sum192 of their lower 128 bits
//   |squares |                         Sum192 of their upper 128 bits
//
// Of the first two, what is proven to fit 64 bits is SumI64. Averages have no squares, unless a deviation of the same
// values shares the parts.
struct StatesLayout {
  std::vector<StateLayout> aggregates, parts;
  size_t note_words = 1, words = 1;
  std::string unsupported;  // why a device has no such state; empty: it has all

  bool has(StateKind kind) const;  // among the aggregates
};

// has_extremes: whether states of the kind Extreme are possible. Strings of theirs are not combined here.
StatesLayout layout_states(const HashTableInfo& table, bool has_extremes = false);

// Notes are words of 32 bits, for 16 aggregates each. The second one is not an aggregate's: its first bit says that the
// group is there.
inline constexpr size_t aggregates_noted = 16;
inline constexpr size_t note_index(size_t aggregate) {
  return aggregate < aggregates_noted ? 0 : aggregate / aggregates_noted + 1;
}
inline constexpr uint32_t came_bit(size_t aggregate) { return uint32_t{1} << (2 * (aggregate % aggregates_noted)); }
inline constexpr uint32_t not_finite_bit(size_t aggregate) { return 2 * came_bit(aggregate); }
// Of the notes in words of 64 bits.
inline bool has_note(std::span<const uint64_t> words, size_t index, uint32_t bit) {
  return (words[index / 2] >> (index % 2 * 32) & bit) != 0;
}

// The words of a group that no row has reached.
void clear_states(const StatesLayout& layout, std::span<uint64_t> words);
// Adds the words of the same group from elsewhere.
void combine_states(const StatesLayout& layout, std::span<uint64_t> into, std::span<const uint64_t> from);

// The value of an aggregate, in the form of its result, at `to`; returns false for NULL. Errors: 22003 at `position` of
// the statement.
bool finish_state(const AggregateInfo& aggregate, const StatesLayout& layout, size_t number,
                  std::span<const uint64_t> words, int32_t position, std::byte* to);

}  // namespace diptych::gpu
