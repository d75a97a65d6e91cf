#include "engine/cpu/join/key_table.h"

#include <algorithm>
#include <cstring>

namespace diptych::cpu {

namespace {

constexpr int least_slot_bits = 10;
constexpr int filter_bits_a_slot = 2;  // as an exponent; parts have whole words of the filter

int slot_bits_of(size_t rows) { return std::max(least_slot_bits, static_cast<int>(std::bit_width(rows)) + 1); }

}  // namespace

size_t KeyTable::bytes(const std::vector<RegisterInfo>& keys, int64_t rows) {
  const auto count = static_cast<size_t>(rows);
  const size_t slots = size_t{1} << slot_bits_of(count);
  return count * (KeyLayout(keys).words() + 1) * sizeof(uint64_t) + slots * sizeof(Slot) +
         (slots << filter_bits_a_slot) / 8;
}

KeyTable::KeyTable(const std::vector<RegisterInfo>& keys, int64_t rows, const Memory& memory) : layout_(keys) {
  constexpr const char* what = "index of a join";
  const auto count = static_cast<size_t>(rows);
  slot_bits_ = slot_bits_of(count);
  part_bits_ = std::min(most_part_bits, slot_bits_ - least_slot_bits + 1);
  part_mask_ = (size_t{1} << (slot_bits_ - part_bits_)) - 1;
  words_ = memory.allocate(std::max<size_t>(64, count * layout_.words() * sizeof(uint64_t)), what);
  hashes_ = memory.allocate(std::max<size_t>(64, count * sizeof(uint64_t)), what);
  slots_ = memory.allocate((size_t{1} << slot_bits_) * sizeof(Slot), what);
  std::memset(slots_.data(), 0, slots_.size());
  filter_bits_ = slot_bits_ + filter_bits_a_slot;
  filter_ = memory.allocate((size_t{1} << filter_bits_) / 8, what);
  std::memset(filter_.data(), 0, filter_.size());
}

template <typename Equal>
[[gnu::always_inline]] inline size_t KeyTable::look_up(const uint64_t* key, uint64_t hash, const Equal& equal) const {
  const uint32_t tag = tag_of(key, hash);
  for (size_t at = slot_of(hash);; at = next(at)) {
    const Slot slot = slots()[at];
    if (slot.row == 0 || (slot.tag == tag && equal(key_of(slot.row - 1), key))) return at;
  }
}

uint32_t KeyTable::add(uint32_t row) {
  const uint64_t* const key = key_of(row);
  const uint64_t hash = hashes()[row];
  uint32_t first = row;
  const uint64_t bit = hash >> (64 - filter_bits_);
  filter()[bit / 64] |= uint64_t{1} << (bit % 64);
  layout_.with_equal([&](const auto& equal) {
    Slot& slot = slots()[look_up(key, hash, equal)];
    if (slot.row == 0)
      slot = {tag_of(key, hash), row + 1};
    else
      first = slot.row - 1;
  });
  return first;
}

void KeyTable::find(const KeyBlock& block, int64_t* rows, bool& filters) const {
  // Misses of several rows overlap.
  constexpr size_t slots_ahead = 16, keys_ahead = 8;
  const size_t words = layout_.words();
  uint16_t asked[block_rows];  // numbers in the block
  size_t count = 0;
  for (size_t i = 0; i < block.count; ++i) {
    rows[block.row[i]] = -1;
    asked[count] = static_cast<uint16_t>(i);
    count += !filters || may_have(block.hashes[i]) ? 1 : 0;
  }
  size_t found = 0;
  const auto find_all = [&](const auto& equal, bool reads_keys) {
    for (size_t k = 0; k < count; ++k) {
      if (k + slots_ahead < count) __builtin_prefetch(&slots()[slot_of(block.hashes[asked[k + slots_ahead]])]);
      if (reads_keys && k + keys_ahead < count) {
        const uint32_t row = slots()[slot_of(block.hashes[asked[k + keys_ahead]])].row;
        if (row != 0) __builtin_prefetch(key_of(row - 1));
      }
      const size_t i = asked[k];
      const uint32_t row = slots()[look_up(block.rows.data() + i * words, block.hashes[i], equal)].row;
      rows[block.row[i]] = int64_t{row} - 1;
      found += row != 0 ? 1 : 0;
    }
  };
  if (layout_.is_narrow())
    find_all([](const uint64_t*, const uint64_t*) { return true; }, false);
  else
    layout_.with_equal([&](const auto& equal) { find_all(equal, true); });
  filters = found * 2 < block.count;
}

}  // namespace diptych::cpu
