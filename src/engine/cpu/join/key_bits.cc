#include "engine/cpu/join/key_bits.h"

namespace diptych::cpu {

void KeyBits::open(int64_t low, uint64_t span, size_t workers, bool own_bits, const Memory& memory) {
  low_ = low;
  span_ = span;
  memory_ = memory;
  is_shared_ = workers > 1 && !own_bits;
  own_ = std::vector<IndexArray<uint64_t>>(own_bits ? workers - 1 : 0);
  bits_.assign(words_of(span), 0, memory);
}

bool KeyBits::merge(size_t begin, size_t end) {
  uint64_t in_two = 0;
  for (const IndexArray<uint64_t>& own : own_) {
    if (own.empty()) continue;
    for (size_t w = begin; w < end; ++w) {
      in_two |= bits_[w] & own[w];
      bits_[w] |= own[w];
    }
  }
  return in_two != 0;
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
