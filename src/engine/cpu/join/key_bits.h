// Which whole numbers are keys, a bit each, and how many keys come before each word of 64 of them:
//
//   key - low   0 1 2 3 ... 63 | 64 65 ...
//   bits        1 0 1 1 ...  0 |  1  0 ...
//   before      0              | 40
//   rank        0 - 1 2 ...  - | 40  - ...        of a key among all: what an array with an entry a key is read by
//
// Filled by any number of threads; then any number may read it.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "engine/cpu/join/index_array.h"
#include "engine/cpu/loops/loops.h"

namespace diptych::cpu {

class KeyBits {
 public:
  // Of a span of so many numbers.
  static size_t bytes(uint64_t span) { return words_of(span) * (sizeof(uint64_t) + sizeof(uint32_t)); }

  // No number from low on is a key yet. span: fewer than 2^31. Errors: 53200.
  void open(int64_t low, uint64_t span, const Memory& memory);
  bool is_open() const { return !bits_.empty(); }
  size_t bytes() const { return bits_.bytes() + before_.bytes(); }
  uint64_t number_of(int64_t key) const { return static_cast<uint64_t>(key) - static_cast<uint64_t>(low_); }
  // Whether the key of this number was there.
  bool add(uint64_t number) {
    const uint64_t bit = uint64_t{1} << (number % 64);
    return (std::atomic_ref(bits_[number / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) != 0;
  }
  // All keys are there: what is found for one is its number, ...
  void find_numbers();
  // ... or its rank. Returns how many keys there are. Errors: 53200.
  uint32_t find_ranks(const Memory& memory);
  uint32_t rank_of(uint64_t number) const {
    const uint64_t below = bits_[number / 64] & ((uint64_t{1} << (number % 64)) - 1);
    return before_[number / 64] + static_cast<uint32_t>(std::popcount(below));
  }
  bool finds_ranks() const { return !before_.empty(); }

  // For the loops that look keys up.
  const PlaceFrame& frame() const { return frame_; }
  // False only when none of the keys from low to high is there, which lie in the span.
  bool has_any(int64_t low, int64_t high) const;

 private:
  static size_t words_of(uint64_t span) { return span / 64 + 1; }

  int64_t low_ = 0;
  uint64_t span_ = 0;
  IndexArray<uint64_t> bits_;
  IndexArray<uint32_t> before_;
  PlaceFrame frame_;
};

}  // namespace diptych::cpu
