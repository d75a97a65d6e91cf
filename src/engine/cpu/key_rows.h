// Keys of several columns as rows of 64-bit words, so that equal keys (in the sense of GROUP BY) have equal words.
//
//   |null bits|key 0|key 1: low, high|...|text: address, length|...|what is not compared|
//
// NULL: its bit set and the key's words 0. Floats: -0 as 0, one NaN. Intervals compare by their span; the interval
// itself is carried behind. Strings compare by content.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/frame.h"

namespace diptych::cpu {

class KeyLayout {
 public:
  explicit KeyLayout(const std::vector<RegisterInfo>& keys);

  size_t words() const { return words_; }
  // Writes the key rows of the wanted rows of the block one after the other at `out`; the keys' registers start at
  // `first`.
  void write(Frame& frame, int first, const RowMask& rows, uint64_t* out) const;
  uint64_t hash(const uint64_t* row) const;
  bool equal(const uint64_t* a, const uint64_t* b) const {
    for (size_t i = 0; i < fixed_words_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return fixed_words_ == text_end_ || equal_texts(a, b);
  }
  bool has_texts() const { return fixed_words_ != text_end_; }
  // Calls action(address word, length) for each string of a row.
  template <typename Action>
  void for_each_text(uint64_t* row, Action&& action) const {
    for (size_t i = fixed_words_; i < text_end_; i += 2) action(row[i], row[i + 1]);
  }
  // Replaces the addresses of strings by copies in the arena.
  void own_texts(uint64_t* row, TextArena& arena) const;
  // Key `number` of a row in register form at `out`; false when it is NULL.
  bool read(const uint64_t* row, size_t number, std::byte* out) const;
  PhysicalType physical(size_t number) const { return keys_[number].physical; }
  size_t keys() const { return keys_.size(); }

 private:
  bool equal_texts(const uint64_t* a, const uint64_t* b) const;
  struct Key {
    PhysicalType physical;
    size_t at;       // first word
    size_t carried;  // Interval: first word of the interval itself
  };
  template <typename T>
  void write_key(Frame& frame, int number, const Key& key, size_t bit, const RowMask& rows, uint64_t* out) const;

  std::vector<Key> keys_;
  size_t null_words_ = 0;   // in front, 64 keys each; 0: no key can be NULL
  size_t fixed_words_ = 0;  // compared word by word
  size_t text_end_ = 0;     // fixed_words_ .. text_end_: pairs of address and length
  size_t words_ = 0;
};

}  // namespace diptych::cpu
