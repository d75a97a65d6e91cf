// Which rows of a block something holds for: one bit a row, in words of 64 rows.
//
//   block of 2048 rows   word 0: rows 0..63   word 1: rows 64..127   ...   word 31
//
// The engine works block by block, and inside a block word by word: a word without a wanted row is skipped, and a word
// is what the SIMD loops take at once. Bits past the block's rows are 0 in masks of active rows and mean nothing
// elsewhere.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace diptych {

// Registers of a typical query (20 of 4 to 8 bytes a row) then fit the second-level cache, while what is done once a
// block costs little.
inline constexpr int block_rows = 2048;
inline constexpr int block_words = block_rows / 64;

constexpr int words_for(int64_t rows) { return static_cast<int>((rows + 63) / 64); }

struct alignas(64) RowMask {
  uint64_t words[block_words];

  void clear() { std::memset(words, 0, sizeof(words)); }
  // The first `rows` rows.
  void fill(int rows) {
    clear();
    for (int w = 0; w < rows / 64; ++w) words[w] = ~uint64_t{0};
    if (rows % 64 != 0) words[rows / 64] = (uint64_t{1} << (rows % 64)) - 1;
  }
  bool any() const {
    uint64_t seen = 0;
    for (uint64_t word : words) seen |= word;
    return seen != 0;
  }
  int count() const {
    int total = 0;
    for (uint64_t word : words) total += std::popcount(word);
    return total;
  }
  RowMask& operator&=(const RowMask& other) {
    for (int w = 0; w < block_words; ++w) words[w] &= other.words[w];
    return *this;
  }
  RowMask& operator|=(const RowMask& other) {
    for (int w = 0; w < block_words; ++w) words[w] |= other.words[w];
    return *this;
  }
  void remove(const RowMask& other) {
    for (int w = 0; w < block_words; ++w) words[w] &= ~other.words[w];
  }
  bool has(int row) const { return words[row / 64] >> (row % 64) & 1; }
};

// Calls visit(row) for every row of the mask, in order.
template <typename Visit>
inline void for_each_row(const uint64_t* words, int word_count, Visit&& visit) {
  for (int w = 0; w < word_count; ++w) {
    for (uint64_t left = words[w]; left != 0; left &= left - 1) visit(w * 64 + std::countr_zero(left));
  }
}

// The same where most words have all their rows, and visit() is short: it is then compiled twice.
template <typename Visit>
inline void for_each_row_of_most(const uint64_t* words, int word_count, Visit&& visit) {
  for (int w = 0; w < word_count; ++w) {
    if (words[w] == ~uint64_t{0})
      for (int bit = 0; bit < 64; ++bit) visit(w * 64 + bit);
    else
      for (uint64_t left = words[w]; left != 0; left &= left - 1) visit(w * 64 + std::countr_zero(left));
  }
}

// The numbers of a mask's rows, in order: for several passes over them.
class RowNumbers {
 public:
  RowNumbers(const RowMask& rows, int word_count) {
    for_each_row_of_most(rows.words, word_count, [&](int row) { numbers_[count_++] = static_cast<uint16_t>(row); });
  }
  std::span<const uint16_t> all() const { return {numbers_, count_}; }

 private:
  uint16_t numbers_[block_rows];
  size_t count_ = 0;
};

}  // namespace diptych
