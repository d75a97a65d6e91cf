#include "engine/cpu/groups/loose_rows.h"

#include <algorithm>
#include <utility>

namespace diptych::cpu {

void LooseRows::add(KeyBlock& block, uint32_t* numbers, std::shared_ptr<const PinnedTablet> keeper) {
  const size_t words = layout_.words();
  const auto first = static_cast<uint32_t>(count());
  for (size_t i = 0; i < block.count; ++i) numbers[block.row[i]] = first + static_cast<uint32_t>(i);
  if (keeper == nullptr && layout_.has_texts()) {
    for (size_t i = 0; i < block.count; ++i) layout_.own_texts(block.rows.data() + i * words, arena_);
    has_copies_ = true;
  } else if (layout_.has_texts() && (keepers_.empty() || keepers_.back() != keeper)) {
    keepers_.push_back(std::move(keeper));
  }
  rows_.insert(rows_.end(), block.rows.begin(), block.rows.begin() + static_cast<ptrdiff_t>(block.count * words));
  const auto hashes_end = block.hashes.begin() + static_cast<ptrdiff_t>(block.count);
  if (layout_.keeps_hashes()) hashes_.insert(hashes_.end(), block.hashes.begin(), hashes_end);
  partitions_.resize(first + block.count);
  std::transform(block.hashes.begin(), hashes_end, partitions_.begin() + first, partition_of);
  arguments_.grow_to(count());
}

void LooseRows::clear() {
  arguments_.clear(count());
  rows_.clear();
  hashes_.clear();
  partitions_.clear();
  arena_ = TextArena();
  keepers_.clear();
  has_copies_ = false;
}

size_t LooseRows::bytes() const {
  return (rows_.capacity() + hashes_.capacity()) * 8 + partitions_.capacity() + arguments_.bytes() + arena_.bytes();
}

}  // namespace diptych::cpu
