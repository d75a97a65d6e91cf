// Which whole numbers are keys, a bit each, and how many keys come before each word of 64 of them:
//
//   key - low   0 1 2 3 ... 63 | 64 65 ...
//   bits        1 0 1 1 ...  0 |  1  0 ...
//   before      0              | 40
//   rank        0 - 1 2 ...  - | 40  - ...        of a key among all: what an array with an entry a key is read by
//
// Filled by any number of threads, each with bits of its own while these are few: two cores that set bits of one line
// of the cache pass it to and fro, 30 ns a key, in which a core of its own sets ten. Then any number may read it.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/cpu/join/index_array.h"
#include "engine/cpu/loops/loops.h"

namespace diptych::cpu {

class KeyBits {
 public:
  // Of a span of so many numbers.
  static size_t bytes(uint64_t span) { return words_of(span) * (sizeof(uint64_t) + sizeof(uint32_t)); }

  // Of the bits alone.
  static size_t bit_bytes(uint64_t span) { return words_of(span) * sizeof(uint64_t); }

  // No number from low on is a key yet. span: fewer than 2^31. workers: that add keys at once; own_bits: each with bits
  // of its own. Errors: 53200.
  void open(int64_t low, uint64_t span, size_t workers, bool own_bits, const Memory& memory);
  bool is_open() const { return !bits_.empty(); }
  size_t words() const { return bits_.size(); }
  size_t bytes() const { return bits_.bytes() + before_.bytes(); }
  uint64_t number_of(int64_t key) const { return static_cast<uint64_t>(key) - static_cast<uint64_t>(low_); }
  // Before a worker adds its first key, and as often as it likes.
  void begin(size_t worker) {
    if (worker == 0 || own_.empty() || !own_[worker - 1].empty()) return;
    own_[worker - 1].assign(words(), 0, memory_);
  }
  // Whether the key of this number was there already, among those that the worker sees.
  bool add(size_t worker, uint64_t number) {
    const uint64_t bit = uint64_t{1} << (number % 64);
    if (is_shared_) return (std::atomic_ref(bits_[number / 64]).fetch_or(bit, std::memory_order_relaxed) & bit) != 0;
    uint64_t& word = own_.empty() || worker == 0 ? bits_[number / 64] : own_[worker - 1][number / 64];
    const bool was_there = (word & bit) != 0;
    word |= bit;
    return was_there;
  }
  // Puts what workers have added together, in the words from begin to end. Whether two had the same key. By several
  // threads at once, each for its own words; then, by one, end().
  bool merge(size_t begin, size_t end);
  void end() { own_.clear(); }
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
  bool is_shared_ = false;  // several workers set the same bits
  Memory memory_;
  std::vector<IndexArray<uint64_t>> own_;  // of workers but the first, from their first key on
  IndexArray<uint64_t> bits_;
  IndexArray<uint32_t> before_;
  PlaceFrame frame_;
};

}  // namespace diptych::cpu
