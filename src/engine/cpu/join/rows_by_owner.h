// The rows of an index with their hashes, so that each thread finds those that it puts into its parts of a hash table.
// Blocks are written by any threads; then each owner reads its rows of all blocks, in their order.
//
//   block 0:  |owner 0: rows 3, 17, ...|owner 1: rows 0, 1, ...|        block 1:  |owner 0: ...
//
// Written where rows are read, since all owners that look for theirs among all hashes bring every line of them into
// every core's caches.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/cpu/frame.h"
#include "engine/cpu/join/index_array.h"

namespace diptych::cpu {

class RowsByOwner {
 public:
  // owners: at most 2^16. Errors: 53200.
  RowsByOwner(size_t rows, size_t blocks, size_t owners, const Memory& memory) : owners_(owners), blocks_(blocks) {
    hashes_.allocate(rows, memory);
    rows_.allocate(rows, memory);
    ends_.allocate(blocks * owners, memory);
  }
  static size_t bytes(size_t rows, size_t blocks, size_t owners) {
    return rows * (sizeof(uint64_t) + sizeof(uint16_t)) + blocks * owners * sizeof(uint16_t);
  }

  // The rows of a block that have keys, as numbers in it, and their hashes. owner_of(hash).
  template <typename OwnerOf>
  void put(size_t block, int64_t first_row, const uint16_t* rows, const uint64_t* hashes, size_t count,
           const OwnerOf& owner_of) {
    blocks_[block] = first_row;
    uint16_t* const ends = ends_.begin() + block * owners_;
    std::fill_n(ends, owners_, uint16_t{0});
    for (size_t i = 0; i < count; ++i) ++ends[owner_of(hashes[i])];
    uint16_t begin = 0;
    for (size_t owner = 0; owner < owners_; ++owner) begin += std::exchange(ends[owner], begin);
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(first_row) + ends[owner_of(hashes[i])]++;
      rows_[at] = rows[i];
      hashes_[at] = hashes[i];
    }
  }

  // Calls visit(rows, hashes, count) for all rows of an owner, several at a time.
  template <typename Visit>
  void for_each(size_t owner, const Visit& visit) const {
    constexpr size_t some = 4096;
    uint32_t rows[some];
    uint64_t hashes[some];
    size_t count = 0;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      const uint16_t* const ends = ends_.begin() + block * owners_;
      const auto first = static_cast<size_t>(blocks_[block]);
      const size_t begin = owner == 0 ? 0 : ends[owner - 1], end = ends[owner];
      if (count + (end - begin) > some) visit(rows, hashes, std::exchange(count, 0));
      for (size_t at = first + begin; at < first + end; ++at, ++count) {
        rows[count] = static_cast<uint32_t>(first + rows_[at]);
        hashes[count] = hashes_[at];
      }
    }
    visit(rows, hashes, count);
  }

 private:
  const size_t owners_;
  std::vector<int64_t> blocks_;  // their first rows
  IndexArray<uint64_t> hashes_;
  IndexArray<uint16_t> rows_, ends_;
};

}  // namespace diptych::cpu
