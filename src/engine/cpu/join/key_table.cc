#include "engine/cpu/join/key_table.h"

#include <algorithm>
#include <cstring>

namespace diptych::cpu {

namespace {

constexpr int least_slot_bits = 10;
// Misses of several rows overlap.
constexpr size_t slots_ahead = 16, keys_ahead = 8;
// As an exponent: 8 to 16 bits a row, of which 3 % of the keys that are not there find all theirs set. Parts have whole
// words of the filter.
constexpr int filter_bits_a_slot = 2;

int slot_bits_of(size_t rows) { return std::max(least_slot_bits, static_cast<int>(std::bit_width(rows)) + 1); }

}  // namespace

size_t KeyTable::bytes(const std::vector<RegisterInfo>& keys, int64_t rows) {
  const auto count = static_cast<size_t>(rows);
  const size_t slots = size_t{1} << slot_bits_of(count);
  return count * (KeyLayout(keys).words() + 1) * sizeof(uint64_t) + slots * sizeof(Entry) +
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
  slots_ = memory.allocate((size_t{1} << slot_bits_) * sizeof(Entry), what);
  std::memset(slots_.data(), 0, slots_.size());
  filter_ = memory.allocate((size_t{1} << (slot_bits_ + filter_bits_a_slot)) / 8, what);
  filter_shift_ = 64 - (slot_bits_ + filter_bits_a_slot - 6);
  std::memset(filter_.data(), 0, filter_.size());
}

template <typename Equal>
[[gnu::always_inline]] inline size_t KeyTable::look_up(const uint64_t* key, uint64_t hash, const Equal& equal) const {
  const uint32_t tag = tag_of(key, hash);
  for (size_t at = slot_of(hash);; at = next(at)) {
    const Entry slot = slots()[at];
    if (slot.row == 0 || (slot.tag == tag && equal(key_of(slot.row - 1), key))) return at;
  }
}

void KeyTable::add(const uint32_t* rows, size_t count, uint32_t* firsts) {
  auto* const filter = reinterpret_cast<uint64_t*>(filter_.data());
  layout_.with_equal([&](const auto& equal) {
    for (size_t i = 0; i < count; ++i) {
      if (i + slots_ahead < count) __builtin_prefetch(&slots()[slot_of(hashes()[rows[i + slots_ahead]])], 1);
      const uint32_t row = rows[i];
      const uint64_t* const key = key_of(row);
      const uint64_t hash = hashes()[row];
      filter[hash >> filter_shift_] |= filter_bits_of(hash);
      Entry& slot = slots()[look_up(key, hash, equal)];
      if (slot.row == 0) slot = {tag_of(key, hash), row + 1};
      firsts[row] = slot.row - 1;
    }
  });
}

template <typename T, typename Equal>
size_t KeyTable::find_asked(const Values& keys, const KeyBlock& block, const Equal& equal, RowMask& rows,
                            int64_t* found) const {
  const uint16_t* const asked = block.row.data();
  size_t misses = 0;
  for (size_t k = 0; k < block.count; ++k) {
    if (k + slots_ahead < block.count) __builtin_prefetch(&slots()[slot_of(block.hashes[asked[k + slots_ahead]])]);
    if (!layout_.is_narrow() && k + keys_ahead < block.count) {
      const uint32_t row = slots()[slot_of(block.hashes[asked[k + keys_ahead]])].row;
      if (row != 0) __builtin_prefetch(key_of(row - 1));
    }
    const int at = asked[k];
    const auto key = static_cast<uint64_t>(int64_t{value_at<T>(keys, at)});
    const uint32_t row = slots()[look_up(&key, block.hashes[static_cast<size_t>(at)], equal)].row;
    found[at] = int64_t{row} - 1;
    rows.words[at / 64] &= ~(uint64_t{row == 0} << (at % 64));
    misses += row == 0 ? 1 : 0;
  }
  return block.count - misses;
}

void KeyTable::find_whole(const Slot& key, int words, KeyBlock& block, RowMask& rows, int64_t* found,
                          bool& filters) const {
  const bool is_short = key.physical == PhysicalType::Int32;
  const auto all = static_cast<size_t>(rows.count());
  (is_short ? loops().hash_i32 : loops().hash_i64)(rows.words, words, key.values, block.hashes.data());
  if (filters) loops().filter(rows.words, words, block.hashes.data(), filter());
  block.count = 0;
  for_each_row(rows.words, words, [&](int row) { block.row[block.count++] = static_cast<uint16_t>(row); });
  const auto find_all = [&](const auto& equal) {
    return is_short ? find_asked<int32_t>(key.values, block, equal, rows, found)
                    : find_asked<int64_t>(key.values, block, equal, rows, found);
  };
  const size_t met = layout_.is_narrow() ? find_all([](const uint64_t*, const uint64_t*) { return true; })
                                         : find_all([](const uint64_t* a, const uint64_t* b) { return *a == *b; });
  filters = met * 2 < all;
}

void KeyTable::find(const KeyBlock& block, int64_t* rows, bool& filters) const {
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
