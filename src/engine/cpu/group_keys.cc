#include "engine/cpu/group_keys.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {

// ---- dense

namespace {

bool is_dense_key(const RegisterInfo& key) {
  if (key.physical == PhysicalType::Bool) return true;
  return (key.physical == PhysicalType::Int32 || key.physical == PhysicalType::Int64) && key.has_range &&
         key.low <= key.high;
}

int128_t span_of(const RegisterInfo& key) { return key.physical == PhysicalType::Bool ? 2 : key.high - key.low + 1; }

}  // namespace

bool DenseKeys::possible(const std::vector<RegisterInfo>& keys) {
  int128_t groups = 1;
  for (const RegisterInfo& key : keys) {
    if (!is_dense_key(key)) return false;
    if (span_of(key) > most_groups) return false;
    groups *= span_of(key) + (key.nullable ? 1 : 0);
    if (groups > most_groups) return false;
  }
  return true;
}

DenseKeys::DenseKeys(const std::vector<RegisterInfo>& keys) {
  for (const RegisterInfo& info : keys) {
    const int64_t low = info.physical == PhysicalType::Bool ? 0 : static_cast<int64_t>(info.low);
    keys_.push_back({info.physical, low, static_cast<uint32_t>(span_of(info)), 0, info.nullable});
  }
  // The last key varies fastest, so that groups come out in the order of their keys.
  for (auto key = keys_.rbegin(); key != keys_.rend(); ++key) {
    key->stride = groups_;
    groups_ *= key->span + (key->nullable ? 1 : 0);
  }
}

void DenseKeys::find(Frame& frame, int first, const RowMask& rows, uint32_t* numbers) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Key& key = keys_[i];
    const Slot& slot = frame.read(first + static_cast<int>(i));
    const IndexLoop loop = key.physical == PhysicalType::Bool    ? loops().index_bool
                           : key.physical == PhysicalType::Int32 ? loops().index_i32
                                                                 : loops().index_i64;
    loop(rows.words, frame.words(), slot.values, key.low, key.stride, i == 0, numbers);
    if (slot.valid == nullptr) continue;
    for (int w = 0; w < frame.words(); ++w) {
      for (uint64_t left = rows.words[w] & ~slot.valid[w]; left != 0; left &= left - 1) {
        const int row = w * 64 + std::countr_zero(left);
        // Takes back what the loop added for whatever value stands in a null row.
        const auto added = static_cast<uint32_t>(whole_at<int64_t>(slot, row)) - static_cast<uint32_t>(key.low);
        numbers[row] += (key.span - added) * key.stride;
      }
    }
  }
}

bool DenseKeys::read(uint32_t group, const Key& key, std::byte* out) const {
  const uint32_t place = group / key.stride % (key.span + (key.nullable ? 1 : 0));
  const int64_t value = place == key.span ? 0 : key.low + place;
  if (key.physical == PhysicalType::Bool) {
    *reinterpret_cast<uint8_t*>(out) = static_cast<uint8_t>(value);
  } else if (key.physical == PhysicalType::Int32) {
    const auto narrow = static_cast<int32_t>(value);
    std::memcpy(out, &narrow, 4);
  } else {
    std::memcpy(out, &value, 8);
  }
  return place != key.span;
}

bool DenseKeys::emit(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const {
  const auto width = static_cast<size_t>(width_bytes(keys_[key].physical));
  bool nulls = false;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (read(groups[i], keys_[key], out + i * width)) continue;
    valid[i / 64] &= ~(uint64_t{1} << (i % 64));
    nulls = true;
  }
  return nulls;
}

// ---- hashed

KeyBlock::KeyBlock(const KeyLayout& layout) : rows(block_rows * layout.words()), hashes(block_rows), row(block_rows) {}

void KeyBlock::write(const KeyLayout& layout, Frame& frame, int first, const RowMask& wanted) {
  layout.write(frame, first, wanted, rows.data());
  count = 0;
  for_each_row(wanted.words, frame.words(), [&](int number) { row[count++] = static_cast<uint16_t>(number); });
  layout.hash_rows(rows.data(), count, hashes.data());
}

HashedKeys::HashedKeys(const std::vector<RegisterInfo>& keys, int64_t expected_groups) : layout_(keys) {
  const auto wanted = static_cast<uint64_t>(std::clamp(expected_groups * 2, least_places, most_first_places));
  entries_.resize(std::bit_ceil(wanted));
}

template <typename Action>
void HashedKeys::with_way(Action&& action) const {
  if (layout_.is_narrow()) return action(ByKey());
  layout_.with_equal([&]<typename Equal>(Equal equal) { action(ByHash<Equal>{equal}); });
}

// Asks for the memory that rows further on need, so that the misses of several rows overlap. always_inline: g++ 12
// takes a function that only prefetches for one without effect, and drops calls of it.
template <typename Way>
[[gnu::always_inline]] inline void HashedKeys::prefetch(const KeyRows& keys, size_t at, const Way& way) const {
  constexpr size_t entries_ahead = 16, rows_ahead = 8;
  const size_t mask = entries_.size() - 1;
  if (at + entries_ahead < keys.count) __builtin_prefetch(&entries_[keys.hashes[at + entries_ahead] & mask]);
  const size_t ahead = at + rows_ahead;
  if (!Way::reads_rows || ahead >= keys.count) return;
  const Entry entry = entries_[keys.hashes[ahead] & mask];
  if (entry.group == 0) return;
  __builtin_prefetch(row(entry.group - 1));
  const uint64_t* const words = keys.rows + ahead * layout_.words();
  if (layout_.has_texts() && entry.tag == way.tag(words, keys.hashes[ahead])) layout_.prefetch_texts(words);
}

template <typename Way>
[[gnu::always_inline]] inline uint32_t HashedKeys::find_one(const uint64_t* row, uint64_t hash, const Way& way) const {
  const size_t mask = entries_.size() - 1;
  const uint32_t tag = way.tag(row, hash);
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Entry entry = entries_[at];
    if (entry.group == 0) return no_group;
    if (entry.tag == tag && way.equal(this->row(entry.group - 1), row)) return entry.group - 1;
  }
}

template <typename Way>
[[gnu::always_inline]] inline uint32_t HashedKeys::find_or_add(const uint64_t* row, uint64_t hash, bool own,
                                                               const Way& way) {
  const uint32_t group = find_one(row, hash, way);
  return group != no_group ? group : add(row, hash, way.tag(row, hash), own);
}

uint32_t HashedKeys::add(const uint64_t* row, uint64_t hash, uint32_t tag, bool own) {
  if (groups_ + size_t{1} >= UINT32_MAX) throw Error(SqlState::program_limit_exceeded, "more than 4 billion groups");
  const size_t mask = entries_.size() - 1;
  size_t at = hash & mask;
  while (entries_[at].group != 0) at = (at + 1) & mask;
  entries_[at] = {tag, groups_ + 1};
  rows_.insert(rows_.end(), row, row + layout_.words());
  hashes_.push_back(hash);
  if (own && layout_.has_texts()) layout_.own_texts(rows_.data() + groups_ * layout_.words(), arena_);
  ++groups_;
  if (size_t{groups_} * 2 > entries_.size()) grow();
  return groups_ - 1;
}

void HashedKeys::find(const KeyBlock& block, uint32_t* numbers) {
  with_way([&](const auto& way) {
    for (size_t i = 0; i < block.count; ++i) {
      prefetch(block.keys(), i, way);
      numbers[block.row[i]] = find_or_add(block.rows.data() + i * layout_.words(), block.hashes[i], true, way);
    }
  });
}

void HashedKeys::find_known(KeyBlock& block, uint32_t* numbers, RowMask& unknown) const {
  unknown.clear();
  const KeyRows all = block.keys();
  const size_t words = layout_.words();
  size_t left = 0;
  with_way([&](const auto& way) {
    for (size_t i = 0; i < block.count; ++i) {
      prefetch(all, i, way);
      const uint64_t* const row = block.rows.data() + i * words;
      const uint16_t number = block.row[i];
      const uint32_t group = find_one(row, block.hashes[i], way);
      numbers[number] = group;
      // Without a branch: which rows are known is what nobody can guess.
      std::copy_n(row, words, block.rows.data() + left * words);
      block.hashes[left] = block.hashes[i];
      block.row[left] = number;
      left += group == no_group ? 1 : 0;
      unknown.words[number / 64] |= uint64_t{group == no_group} << (number % 64);
    }
  });
  block.count = left;
}

void HashedKeys::find_rows(const KeyRows& keys, bool own, uint32_t* numbers) {
  with_way([&](const auto& way) {
    for (size_t i = 0; i < keys.count; ++i) {
      prefetch(keys, i, way);
      numbers[i] = find_or_add(keys.rows + i * layout_.words(), keys.hashes[i], own, way);
    }
  });
}

void HashedKeys::clear() {
  std::fill(entries_.begin(), entries_.end(), Entry{0, 0});
  rows_.clear();
  hashes_.clear();
  groups_ = 0;
  arena_ = TextArena();
}

void HashedKeys::shrink() { entries_.assign(static_cast<size_t>(least_places), Entry{0, 0}); }

void HashedKeys::grow() {
  // Fewer rounds while it is small; a large one is to stay in the cache.
  entries_.assign(entries_.size() * (entries_.size() < size_t{1} << 16 ? 4 : 2), Entry{0, 0});
  const size_t mask = entries_.size() - 1;
  with_way([&](const auto& way) {
    for (uint32_t group = 0; group < groups_; ++group) {
      size_t at = hashes_[group] & mask;
      while (entries_[at].group != 0) at = (at + 1) & mask;
      entries_[at] = {way.tag(row(group), hashes_[group]), group + 1};
    }
  });
}

bool HashedKeys::emit(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const {
  return layout_.read_column(rows_.data(), groups, key, out, valid);
}

size_t HashedKeys::bytes() const {
  return entries_.capacity() * sizeof(Entry) + (rows_.capacity() + hashes_.capacity()) * 8 + arena_.bytes();
}

}  // namespace diptych::cpu
