// An array of an index in memory that is accounted for.
#pragma once

#include <algorithm>

#include "engine/rows/memory.h"

namespace diptych::cpu {

template <typename T>
class IndexArray {
 public:
  // Not initialised: whoever writes it first also waits for its pages. Errors: 53200.
  void allocate(size_t count, const Memory& memory) {
    clear();
    chunk_ = memory.allocate(std::max<size_t>(64, count * sizeof(T)), "index of a join");
    count_ = count;
  }
  void assign(size_t count, T value, const Memory& memory) {
    allocate(count, memory);
    std::fill_n(begin(), count, value);
  }
  void clear() {
    chunk_ = Chunk();
    count_ = 0;
  }
  size_t size() const { return count_; }
  size_t bytes() const { return chunk_.size(); }
  bool empty() const { return count_ == 0; }
  T* begin() const { return reinterpret_cast<T*>(chunk_.data()); }
  T* end() const { return begin() + count_; }
  T& operator[](size_t at) const { return begin()[at]; }

 private:
  Chunk chunk_;
  size_t count_ = 0;
};

}  // namespace diptych::cpu
