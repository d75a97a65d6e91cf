// A set of 64-bit integers: open addressing with linear probing, at most half full, 16 bytes a key.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace diptych {

class IntegerSet {
 public:
  // False when it is there already.
  bool insert(int64_t key) {
    if (key == empty) return !std::exchange(has_empty_, true);
    if (size_ * 2 >= slots_.size()) grow();
    int64_t& slot = find(key);
    if (slot == key) return false;
    slot = key;
    ++size_;
    return true;
  }

  bool contains(int64_t key) const {
    if (key == empty) return has_empty_;
    return size_ > 0 && const_cast<IntegerSet*>(this)->find(key) == key;
  }

  size_t size() const { return size_ + has_empty_; }
  // Of memory once the next key has been inserted.
  int64_t bytes_after_insert() const {
    size_t slots = size_ * 2 >= slots_.size() ? next_slots() : slots_.size();
    return static_cast<int64_t>(slots * sizeof(int64_t));
  }
  void clear() { *this = IntegerSet(); }

 private:
  static constexpr int64_t empty =
      std::numeric_limits<int64_t>::min();  // marks a free slot; kept in has_empty_ as a key

  size_t next_slots() const { return std::max<size_t>(64, slots_.size() * 2); }

  int64_t& find(int64_t key) {
    size_t mask = slots_.size() - 1;
    // Fibonacci hashing; the high bits are the good ones.
    size_t at =
        static_cast<size_t>(static_cast<uint64_t>(key) * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(slots_.size())));
    while (slots_[at] != empty && slots_[at] != key) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    std::vector<int64_t> old(next_slots(), empty);
    old.swap(slots_);
    for (int64_t key : old) {
      if (key != empty) find(key) = key;
    }
  }

  std::vector<int64_t> slots_;
  size_t size_ = 0;
  bool has_empty_ = false;
};

}  // namespace diptych
