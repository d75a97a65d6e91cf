#include "tablet/encoding/string_numbering.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace diptych {
namespace {

constexpr size_t least_slots = 64;
constexpr size_t block_bytes = 16384;

}  // namespace

uint32_t StringNumbering::number(std::string_view text) {
  if (2 * (strings_.size() + 1) > slots_.size()) grow();
  uint64_t hash = XXH3_64bits(text.data(), text.size());
  uint32_t tag = static_cast<uint32_t>(hash >> 32);
  size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = slots_[i];
    if (slot.number == none) {
      slot = {tag, size()};
      strings_.push_back(keep(text));
      return slot.number;
    }
    if (slot.tag == tag && strings_[slot.number] == text) return slot.number;
  }
}

void StringNumbering::clear() {
  slots_.clear();
  strings_.clear();
  blocks_.clear();
  block_left_ = 0;
  bytes_ = 0;
}

void StringNumbering::grow() {
  std::vector<Slot> grown(std::max(least_slots, 2 * slots_.size()));
  size_t mask = grown.size() - 1;
  for (uint32_t number = 0; number < size(); ++number) {
    uint64_t hash = XXH3_64bits(strings_[number].data(), strings_[number].size());
    size_t i = hash & mask;
    while (grown[i].number != none) i = (i + 1) & mask;
    grown[i] = {static_cast<uint32_t>(hash >> 32), number};
  }
  slots_ = std::move(grown);
}

std::string_view StringNumbering::keep(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > block_left_) {
    size_t bytes = std::max(block_bytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    block_next_ = blocks_.back().get();
    block_left_ = bytes;
    bytes_ += static_cast<int64_t>(bytes);
  }
  char* kept = block_next_;
  std::memcpy(kept, text.data(), text.size());
  block_next_ += text.size();
  block_left_ -= text.size();
  return {kept, text.size()};
}

}  // namespace diptych
