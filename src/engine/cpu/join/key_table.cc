#include "engine/cpu/join/key_table.h"

#include <algorithm>
#include <cstring>

namespace diptych::cpu {

namespace {

constexpr int least_slot_bits = 10, most_part_bits = 8;
// Misses of several rows overlap.
constexpr size_t slots_ahead = 16, keys_ahead = 8;

bool is_wide(const KeyLayout& layout) { return layout.is_whole() && !layout.is_narrow(); }

// Of the slots, as an exponent of 2: a third to two thirds are taken. Parts have 2048 slots at least where there are
// several thousand, so that none is ever full.
int slot_bits_of(size_t rows) {
  return std::max(least_slot_bits, static_cast<int>(std::bit_width(std::max<size_t>(1, rows + rows / 2) - 1)));
}
int part_bits_of(int slot_bits) { return std::clamp(slot_bits - 11, 1, most_part_bits); }

// Of the filter's bits: 8 to 16 a row; 3 % of the keys that are not there find all of theirs set.
int filter_size_of(size_t rows) { return std::max(least_slot_bits + 2, static_cast<int>(std::bit_width(rows)) + 3); }

}  // namespace

size_t KeyTable::bytes(const std::vector<RegisterInfo>& keys, int64_t rows) {
  const auto count = static_cast<size_t>(rows);
  const KeyLayout layout(keys);
  const size_t words = is_wide(layout) ? 0 : layout.words();
  return count * words * sizeof(uint64_t) + (slot_bytes(is_wide(layout)) << slot_bits_of(count)) +
         (size_t{1} << filter_size_of(count)) / 8;
}

KeyTable::KeyTable(const std::vector<RegisterInfo>& keys, int64_t rows, const Memory& memory)
    : layout_(keys), is_wide_(is_wide(layout_)) {
  constexpr const char* what = "index of a join";
  const auto count = static_cast<size_t>(rows);
  slot_bits_ = slot_bits_of(count);
  part_bits_ = part_bits_of(slot_bits_);
  part_mask_ = (size_t{1} << (slot_bits_ - part_bits_)) - 1;
  if (!is_wide_) words_ = memory.allocate(std::max<size_t>(64, count * layout_.words() * sizeof(uint64_t)), what);
  slots_ = memory.allocate(slot_bytes(is_wide_) << slot_bits_, what);
  filter_ = memory.allocate((size_t{1} << filter_size_of(count)) / 8, what);
  filter_shift_ = 64 - (filter_size_of(count) - 6);
}

void KeyTable::clear_parts(size_t begin, size_t end) {
  const auto clear = [&](Chunk& chunk) {
    const size_t part_bytes = chunk.size() >> part_bits_;
    std::memset(chunk.data() + begin * part_bytes, 0, (end - begin) * part_bytes);
  };
  clear(slots_);
  clear(filter_);
}

template <typename Equal>
[[gnu::always_inline]] inline size_t KeyTable::look_up(const uint64_t* key, uint64_t hash, const Equal& equal) const {
  const uint32_t tag = tag_of(key, hash);
  for (size_t at = slot_of(hash);; at = next(at)) {
    const Entry slot = slots()[at];
    if (slot.row == 0 || (slot.tag == tag && equal(key_of(slot.row - 1), key))) return at;
  }
}

template <typename Equal>
[[gnu::always_inline]] inline uint32_t KeyTable::add_row(uint32_t row, uint64_t hash, const Equal& equal) {
  if (is_wide_) {
    WideEntry& slot = wide_slots()[look_up_wide(hash)];
    if (slot.row == 0) slot = {hash, uint64_t{row} + 1};
    return static_cast<uint32_t>(slot.row - 1);
  }
  const uint64_t* const key = key_of(row);
  Entry& slot = slots()[look_up(key, hash, equal)];
  if (slot.row == 0) slot = {tag_of(key, hash), row + 1};
  return slot.row - 1;
}

bool KeyTable::add(const uint32_t* rows, const uint64_t* hashes, size_t count, uint32_t* firsts) {
  auto* const filter = reinterpret_cast<uint64_t*>(filter_.data());
  bool are_first = true;
  layout_.with_equal([&](const auto& equal) {
    for (size_t i = 0; i < count; ++i) {
      if (i + slots_ahead < count) {
        const uint64_t ahead = hashes[i + slots_ahead];
        __builtin_prefetch(slot_at(ahead), 1);
        __builtin_prefetch(&filter[ahead >> filter_shift_], 1);
      }
      filter[hashes[i] >> filter_shift_] |= filter_bits_of(hashes[i]);
      const uint32_t first = add_row(rows[i], hashes[i], equal);
      if (first == rows[i]) continue;
      firsts[rows[i]] = first;
      are_first = false;
    }
  });
  return are_first;
}

template <typename FindOne>
size_t KeyTable::find_asked(const KeyBlock& block, const FindOne& find_one, RowMask& rows, int64_t* found) const {
  const uint16_t* const asked = block.row.data();
  size_t misses = 0;
  for (size_t k = 0; k < block.count; ++k) {
    if (k + slots_ahead < block.count) __builtin_prefetch(slot_at(block.hashes[asked[k + slots_ahead]]));
    const int at = asked[k];
    const int64_t row = find_one(at, block.hashes[static_cast<size_t>(at)]);
    found[at] = row - 1;
    rows.words[at / 64] &= ~(uint64_t{row == 0} << (at % 64));
    misses += row == 0 ? 1 : 0;
  }
  return block.count - misses;
}

void KeyTable::find_whole(const Slot& key, int words, KeyBlock& block, RowMask& rows, int64_t* found,
                          bool& filters) const {
  const auto all = static_cast<size_t>(rows.count());
  (is_wide_ ? loops().hash_i64 : loops().hash_i32)(rows.words, words, key.values, block.hashes.data());
  if (filters) loops().filter(rows.words, words, block.hashes.data(), filter());
  block.count = 0;
  for_each_row(rows.words, words, [&](int row) { block.row[block.count++] = static_cast<uint16_t>(row); });
  const auto find_wide = [&](int, uint64_t hash) { return static_cast<int64_t>(wide_slots()[look_up_wide(hash)].row); };
  const auto find_narrow = [&](int row, uint64_t hash) {
    const auto word = static_cast<uint64_t>(int64_t{value_at<int32_t>(key.values, row)});
    return int64_t{slots()[look_up(&word, hash, [](const uint64_t*, const uint64_t*) { return true; })].row};
  };
  const size_t met = is_wide_ ? find_asked(block, find_wide, rows, found) : find_asked(block, find_narrow, rows, found);
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
