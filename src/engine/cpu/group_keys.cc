#include "engine/cpu/group_keys.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {

namespace {

// Calls read(group, place) for each group, which says false for NULL, and clears the bits of those.
template <typename Read>
bool emit_values(std::span<const uint32_t> groups, size_t width, std::byte* out, uint64_t* valid, Read&& read) {
  bool nulls = false;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (read(groups[i], out + i * width)) continue;
    valid[i / 64] &= ~(uint64_t{1} << (i % 64));
    nulls = true;
  }
  return nulls;
}

}  // namespace

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
  return emit_values(groups, static_cast<size_t>(width_bytes(keys_[key].physical)), out, valid,
                     [&](uint32_t group, std::byte* value) { return read(group, keys_[key], value); });
}

// ---- hashed

HashedKeys::HashedKeys(const std::vector<RegisterInfo>& keys, int64_t expected_groups) : layout_(keys) {
  const auto wanted = static_cast<uint64_t>(std::clamp<int64_t>(expected_groups * 2, 1024, int64_t{1} << 22));
  entries_.resize(std::bit_ceil(wanted));
  block_.resize(block_rows * layout_.words());
  block_hash_.resize(block_rows);
  block_row_.resize(block_rows);
}

// The key rows of a block, their hashes, and which rows they are; returns how many.
size_t HashedKeys::write_block(Frame& frame, int first, const RowMask& rows) {
  const size_t words = layout_.words();
  layout_.write(frame, first, rows, block_.data());
  size_t count = 0;
  for_each_row(rows.words, frame.words(), [&](int row) { block_row_[count++] = static_cast<uint16_t>(row); });
  for (size_t i = 0; i < count; ++i) block_hash_[i] = layout_.hash(block_.data() + i * words);
  return count;
}

// Asks for the memory that rows further on need, so that the misses of several rows overlap. always_inline: g++ 12
// takes a function that only prefetches for one without effect, and drops calls of it.
[[gnu::always_inline]] inline void HashedKeys::prefetch(const uint64_t* hashes, size_t count, size_t at) const {
  constexpr size_t entries_ahead = 16, rows_ahead = 8;
  const size_t mask = entries_.size() - 1;
  if (at + entries_ahead < count) __builtin_prefetch(&entries_[hashes[at + entries_ahead] & mask]);
  if (at + rows_ahead >= count) return;
  const uint32_t group = entries_[hashes[at + rows_ahead] & mask].group;
  if (group != 0) __builtin_prefetch(row(group - 1));
}

void HashedKeys::find(Frame& frame, int first, const RowMask& rows, uint32_t* numbers) {
  const size_t count = write_block(frame, first, rows);
  const size_t words = layout_.words();
  for (size_t i = 0; i < count; ++i) {
    prefetch(block_hash_.data(), count, i);
    const uint32_t before = groups_;
    const uint32_t group = find_or_add(block_.data() + i * words, block_hash_[i]);
    numbers[block_row_[i]] = group;
    if (groups_ != before) layout_.own_texts(rows_.data() + group * words, arena_);
  }
}

void HashedKeys::append(Frame& frame, int first, const RowMask& rows, uint32_t* numbers) {
  const size_t count = write_block(frame, first, rows);
  check_room(count);
  const size_t words = layout_.words();
  for (size_t i = 0; i < count; ++i) {
    layout_.own_texts(block_.data() + i * words, arena_);
    numbers[block_row_[i]] = groups_ + static_cast<uint32_t>(i);
  }
  rows_.insert(rows_.end(), block_.begin(), block_.begin() + static_cast<ptrdiff_t>(count * words));
  hashes_.insert(hashes_.end(), block_hash_.begin(), block_hash_.begin() + static_cast<ptrdiff_t>(count));
  groups_ += static_cast<uint32_t>(count);
}

void HashedKeys::find_rows(const uint64_t* rows, const uint64_t* hashes, size_t count, bool own, uint32_t* numbers) {
  const size_t words = layout_.words();
  for (size_t i = 0; i < count; ++i) {
    prefetch(hashes, count, i);
    const uint32_t before = groups_;
    numbers[i] = find_or_add(rows + i * words, hashes[i]);
    if (own && groups_ != before) layout_.own_texts(rows_.data() + numbers[i] * words, arena_);
  }
}

void HashedKeys::clear() {
  std::fill(entries_.begin(), entries_.end(), Entry{0, 0});
  rows_.clear();
  hashes_.clear();
  groups_ = 0;
  arena_ = TextArena();
}

void HashedKeys::check_room(size_t more) const {
  if (groups_ + more >= UINT32_MAX) throw Error(SqlState::program_limit_exceeded, "more than 4 billion groups");
}

uint32_t HashedKeys::find_or_add(const uint64_t* row, uint64_t hash) {
  const size_t mask = entries_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  size_t at = hash & mask;
  for (;; at = (at + 1) & mask) {
    const Entry entry = entries_[at];
    if (entry.group == 0) break;
    if (entry.tag == tag && layout_.equal(this->row(entry.group - 1), row)) return entry.group - 1;
  }
  check_room(1);
  entries_[at] = {tag, groups_ + 1};
  rows_.insert(rows_.end(), row, row + layout_.words());
  hashes_.push_back(hash);
  ++groups_;
  if (size_t{groups_} * 2 > entries_.size()) grow();
  return groups_ - 1;
}

void HashedKeys::grow() {
  entries_.assign(entries_.size() * 4, Entry{0, 0});
  const size_t mask = entries_.size() - 1;
  for (uint32_t group = 0; group < groups_; ++group) {
    size_t at = hashes_[group] & mask;
    while (entries_[at].group != 0) at = (at + 1) & mask;
    entries_[at] = {static_cast<uint32_t>(hashes_[group] >> 32), group + 1};
  }
}

bool HashedKeys::emit(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const {
  return emit_values(groups, static_cast<size_t>(width_bytes(layout_.physical(key))), out, valid,
                     [&](uint32_t group, std::byte* value) { return layout_.read(row(group), key, value); });
}

size_t HashedKeys::bytes() const {
  return entries_.capacity() * sizeof(Entry) + (rows_.capacity() + hashes_.capacity()) * 8 + arena_.bytes();
}

}  // namespace diptych::cpu
