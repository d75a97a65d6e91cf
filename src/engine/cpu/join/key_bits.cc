#include "engine/cpu/join/key_bits.h"

namespace diptych::cpu {

void KeyBits::open(int64_t low, uint64_t span, const Memory& memory) {
  low_ = low;
  span_ = span;
  bits_.assign(words_of(span), 0, memory);
}

void KeyBits::find_numbers() {
  uint64_t keys = 0;
  for (const uint64_t word : bits_) keys += static_cast<uint64_t>(std::popcount(word));
  // Where every number is a key no bit needs to be read.
  frame_ = {low_, span_, keys == span_ ? nullptr : bits_.begin(), nullptr};
}

uint32_t KeyBits::find_ranks(const Memory& memory) {
  before_.assign(bits_.size(), 0, memory);
  uint32_t keys = 0;
  for (size_t w = 0; w < bits_.size(); ++w) {
    before_[w] = keys;
    keys += static_cast<uint32_t>(std::popcount(bits_[w]));
  }
  frame_ = {low_, span_, bits_.begin(), before_.begin()};
  return keys;
}

bool KeyBits::has_any(int64_t low, int64_t high) const {
  // So many words are looked at: what is behind gaps as long is taken to be there.
  constexpr uint64_t most_words = 4096;
  const uint64_t first = number_of(low), last = number_of(high);
  const uint64_t begin = first / 64, end = last / 64;
  if (end - begin >= most_words) return true;
  for (uint64_t w = begin; w <= end; ++w) {
    uint64_t word = bits_[w];
    if (w == begin) word &= ~uint64_t{0} << (first % 64);
    if (w == end) word &= ~uint64_t{0} >> (63 - last % 64);
    if (word != 0) return true;
  }
  return false;
}

}  // namespace diptych::cpu
