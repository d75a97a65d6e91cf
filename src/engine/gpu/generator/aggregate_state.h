// The states of aggregates as words of 64 bits: what kernels keep for a group (kernel/device/aggregate.h), and how the
// host combines and reads them.
//
//   group   |came|count|sum lo|sum mid|sum hi|least key| ...       the first word has two bits an aggregate:
//                                                                  a value came; a value was not finite
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
  Moments
};

struct StateLayout {
  StateKind kind = StateKind::Count;
  size_t first_word = 0, words = 1;
  uint64_t empty[3] = {0, 0, 0};
};

// Of all aggregates of a hash table, with the word of bits before them.
struct StatesLayout {
  std::vector<StateLayout> aggregates;
  size_t words = 1;
  std::string unsupported;  // why a device has no such state; empty: it has all
};

StatesLayout layout_states(const HashTableInfo& table);

inline constexpr uint64_t came_bit(size_t aggregate) { return uint64_t{1} << (2 * aggregate); }
inline constexpr uint64_t not_finite_bit(size_t aggregate) { return uint64_t{2} << (2 * aggregate); }
inline constexpr size_t most_aggregates = 16;  // 32 bits, which kernels keep in a register

// The words of a group that no row has reached.
void clear_states(const StatesLayout& layout, std::span<uint64_t> words);
// Adds the words of the same group from elsewhere.
void combine_states(const StatesLayout& layout, std::span<uint64_t> into, std::span<const uint64_t> from);

// The value of an aggregate, in the form of its result, at `to`; returns false for NULL. Errors: 22003 at `position` of
// the statement.
bool finish_state(const AggregateInfo& aggregate, const StatesLayout& layout, size_t number,
                  std::span<const uint64_t> words, int32_t position, std::byte* to);

}  // namespace diptych::gpu
