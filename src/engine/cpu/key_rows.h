// Keys of several columns as rows of 64-bit words, so that equal keys (in the sense of GROUP BY) have equal words.
//
//   |null bits|key 0|key 1: low, high|...|key 2, key 3: 32 bits each|...|text|...|what is not compared|
//
//   whole numbers of 32 bits and truths   two to a word, where there are several: less to hash, to compare and to move
//   text of up to 12 bytes   |length, bytes 0 .. 3|bytes 4 .. 11|     0 behind its end
//   longer                   |length, bytes 0 .. 3|address|
//
// NULL: its bit set and the key's words 0. Floats: -0 as 0, one NaN. Intervals compare by their span; the interval
// itself is carried behind. Strings compare by content.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/frame.h"

namespace diptych::cpu {

// Values of a block, one behind the other, and which of them are there.
struct KeyColumn {
  Values values;
  const uint64_t* valid = nullptr;  // nullptr: no NULL
};

class KeyLayout {
 public:
  // Strings of up to so many bytes are in the row itself.
  static constexpr uint64_t most_short_bytes = 12;

  explicit KeyLayout(const std::vector<RegisterInfo>& keys);

  size_t words() const { return words_; }
  // Writes the key rows of the wanted rows of the block one after the other at `out`; the keys' registers start at
  // `first`.
  void write(Frame& frame, int first, const RowMask& rows, uint64_t* out) const;
  // The same of a block of so many words that is in no frame; one column a key.
  void write(std::span<const KeyColumn> columns, int words, const RowMask& rows, uint64_t* out) const;
  // The hashes of so many rows.
  void hash_rows(const uint64_t* rows, size_t count, uint64_t* hashes) const;
  // Whether hashes are kept with rows that wait: else they are computed again, which takes less time than moving them.
  bool keeps_hashes() const { return has_texts(); }
  // Whether a row is one word of which 32 bits tell all: a whole number or truth that is never NULL.
  bool is_narrow() const { return is_narrow_; }
  // Whether it is one word that is a whole number which is never NULL.
  bool is_whole() const {
    return words_ == 1 && keys_.size() == 1 &&
           (keys_[0].physical == PhysicalType::Int32 || keys_[0].physical == PhysicalType::Int64);
  }
  // Calls action(equal), equal(a, b) says whether rows are equal: compiled for the commonest rows.
  template <typename Action>
  void with_equal(Action&& action) const {
    if (has_texts())
      action([this](const uint64_t* a, const uint64_t* b) { return equal_words(a, b) && equal_texts(a, b); });
    else if (fixed_words_ == 1)
      action([](const uint64_t* a, const uint64_t* b) { return a[0] == b[0]; });
    else if (fixed_words_ == 2)
      action([](const uint64_t* a, const uint64_t* b) { return a[0] == b[0] && a[1] == b[1]; });
    else
      action([this](const uint64_t* a, const uint64_t* b) { return equal_words(a, b); });
  }
  bool has_texts() const { return fixed_words_ != text_end_; }
  // Calls action(address word, length) for each string of a row that is not in the row itself.
  template <typename Action>
  void for_each_text(uint64_t* row, Action&& action) const {
    for (size_t i = fixed_words_; i < text_end_; i += 2)
      if (const uint64_t length = text_length(row[i]); length > most_short_bytes) action(row[i + 1], length);
  }
  // Asks for the memory of a row's strings that are not in the row itself. always_inline: g++ 12 takes a function that
  // only prefetches for one without effect, and drops calls of it.
  [[gnu::always_inline]] void prefetch_texts(const uint64_t* row) const {
    for (size_t i = fixed_words_; i < text_end_; i += 2) {
      const uint64_t length = text_length(row[i]);
      if (length <= most_short_bytes) continue;
      __builtin_prefetch(reinterpret_cast<const char*>(row[i + 1]));
      __builtin_prefetch(reinterpret_cast<const char*>(row[i + 1] + length - 1));
    }
  }
  // Replaces the addresses of strings by those of copies in the arena.
  void own_texts(uint64_t* row, TextArena& arena) const;
  // Key `number` of the wanted ones of the rows, in register form; clears the bits of those that are NULL, and tells
  // whether there are any. A string may be in the row itself.
  bool read_column(const uint64_t* rows, std::span<const uint32_t> wanted, size_t number, std::byte* out,
                   uint64_t* valid) const;
  PhysicalType physical(size_t number) const { return keys_[number].physical; }

 private:
  bool equal_words(const uint64_t* a, const uint64_t* b) const {
    for (size_t i = 0; i < fixed_words_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }
  static uint64_t text_length(uint64_t first_word) { return first_word & UINT32_MAX; }
  bool equal_texts(const uint64_t* a, const uint64_t* b) const {
    for (size_t i = fixed_words_; i < text_end_; i += 2) {
      if (a[i] != b[i]) return false;
      if (a[i + 1] == b[i + 1]) continue;
      if (text_length(a[i]) <= most_short_bytes || !equal_long_texts(a + i, b + i)) return false;
    }
    return true;
  }
  static bool equal_long_texts(const uint64_t* a, const uint64_t* b);
  uint64_t hash(const uint64_t* row) const;
  struct Key {
    PhysicalType physical;
    size_t at;             // first word
    size_t carried;        // Interval: first word of the interval itself
    bool is_half = false;  // shares its word with another one ...
    bool is_high = false;  // ... and has the upper half
  };
  void pair_halves();
  void clear_nulls(const RowMask& rows, uint64_t* out) const;
  void write_key(const KeyColumn& column, int words, size_t number, const RowMask& rows, uint64_t* out) const;

  std::vector<Key> keys_;
  size_t null_words_ = 0;   // in front, 64 keys each; 0: no key can be NULL
  size_t fixed_words_ = 0;  // compared word by word
  size_t text_end_ = 0;     // fixed_words_ .. text_end_: two words each
  size_t words_ = 0;
  bool is_narrow_ = false;
};

}  // namespace diptych::cpu
