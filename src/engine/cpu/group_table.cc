#include "engine/cpu/group_table.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/cpu/row_function.h"

namespace diptych::cpu {

GroupTable::GroupTable(const HashTableInfo& info, const Memory& memory)
    : info_(info), reservation_(memory.budget(), "hash table") {
  if (DenseKeys::possible(info.keys))
    dense_.emplace(info.keys);
  else
    hashed_.emplace(info.keys, info.expected_groups);
  for (const AggregateInfo& aggregate : info.aggregates) aggregates_.push_back(make_aggregate_column(aggregate));
  numbers_.resize(block_rows);
  if (dense_) {
    seen_.resize(dense_->groups());
    states_ = dense_->groups();
    for (auto& aggregate : aggregates_) aggregate->resize(states_);
    masked_ = dense_->groups() <= most_masks;
    if (masked_) masks_.resize(dense_->groups());
  }
  if (info.keys.empty()) seen_[0] = 1;
  account();
}

size_t GroupTable::group_count() const { return dense_ ? dense_->groups() : hashed_->groups(); }

void GroupTable::account() {
  size_t bytes = seen_.capacity() + numbers_.capacity() * 4 + masks_.capacity() * sizeof(GroupMask);
  if (hashed_) bytes += hashed_->bytes();
  for (const auto& aggregate : aggregates_) bytes += aggregate->bytes();
  reservation_.follow(bytes);
}

void GroupTable::group(Frame& frame, int first_key) {
  const RowMask rows = frame.sinking();
  if (dense_) {
    dense_->find(frame, first_key, rows, numbers_.data());
    if (masked_) return split(rows, frame.words());
    for_each_row(rows.words, frame.words(), [&](int row) { seen_[numbers_[static_cast<size_t>(row)]] = 1; });
    return;
  }
  hashed_->find(frame, first_key, rows, numbers_.data());
  if (hashed_->groups() > states_) {
    states_ = std::max<size_t>(hashed_->groups(), states_ * 2);
    for (auto& aggregate : aggregates_) aggregate->resize(states_);
  }
  account();
}

// One mask for each group that has rows in the block.
void GroupTable::split(const RowMask& rows, int words) {
  mask_count_ = 0;
  for (uint32_t group = 0; group < dense_->groups(); ++group) {
    alignas(64) uint32_t same[64];
    std::fill(std::begin(same), std::end(same), group);
    GroupMask& mask = masks_[mask_count_];
    loops().equal[static_cast<size_t>(Lane::U32)](rows.words, words, {numbers_.data(), 256}, {same, 0},
                                                  mask.rows.words);
    uint64_t any = 0;
    for (int w = 0; w < words; ++w) any |= mask.rows.words[w] &= rows.words[w];
    if (any == 0) continue;
    mask.group = group;
    seen_[group] = 1;
    ++mask_count_;
  }
}

void GroupTable::aggregate(Frame& frame, int number, int argument, bool grouped, int position) {
  AggregateColumn& column = *aggregates_[static_cast<size_t>(number)];
  RowMask rows = frame.sinking();
  const Slot* slot = nullptr;
  if (argument >= 0) {
    // Counting needs no values.
    const bool counts = info_.aggregates[static_cast<size_t>(number)].state == AggregateState::Count;
    slot = counts ? &frame.slot(argument) : &frame.read(argument);
    if (slot->valid != nullptr) {
      for (int w = 0; w < frame.words(); ++w) rows.words[w] &= slot->valid[w];
    }
  }
  const AggregateInput input{slot, frame.words(), position};
  const auto add = [&](const RowMask& some, uint32_t group) {
    uint64_t any = 0;
    for (int w = 0; w < frame.words(); ++w) any |= some.words[w];
    if (any != 0) column.add(input, some, group);
  };
  if (!grouped) return add(rows, 0);
  if (!masked_) return column.scatter(input, rows, numbers_.data());
  for (size_t i = 0; i < mask_count_; ++i) {
    RowMask some;
    for (int w = 0; w < frame.words(); ++w) some.words[w] = masks_[i].rows.words[w] & rows.words[w];
    add(some, masks_[i].group);
  }
}

void GroupTable::merge(const GroupTable& other) {
  std::vector<uint32_t> from(other.group_count());
  std::iota(from.begin(), from.end(), 0U);
  merge_groups(other, from);
}

void GroupTable::merge_part(const GroupTable& other, uint32_t part, uint32_t parts) {
  std::vector<uint32_t> from;
  for (uint32_t group = 0; group < other.hashed_->groups(); ++group) {
    // The upper bits: the lower ones choose the place in a table.
    if ((other.hashed_->hash(group) >> 40) % parts == part) from.push_back(group);
  }
  merge_groups(other, from);
}

void GroupTable::merge_groups(const GroupTable& other, const std::vector<uint32_t>& from) {
  std::vector<uint32_t> to = from;
  if (hashed_) {
    for (size_t i = 0; i < from.size(); ++i)
      to[i] = hashed_->find_or_add(other.hashed_->row(from[i]), other.hashed_->hash(from[i]));
    states_ = std::max<size_t>(states_, hashed_->groups());
    for (auto& aggregate : aggregates_) aggregate->resize(states_);
  } else {
    for (uint32_t group : from) seen_[group] = seen_[group] | other.seen_[group];
  }
  for (size_t i = 0; i < aggregates_.size(); ++i) aggregates_[i]->merge(*other.aggregates_[i], from, to);
  account();
}

std::vector<uint32_t> GroupTable::present_groups() const {
  std::vector<uint32_t> groups;
  groups.reserve(group_count());
  for (uint32_t group = 0; group < group_count(); ++group) {
    if (hashed_ || seen_[group] != 0) groups.push_back(group);
  }
  return groups;
}

bool GroupTable::emit_key(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const {
  const auto width = static_cast<size_t>(width_bytes(info_.keys[key].physical));
  bool nulls = false;
  for (size_t i = 0; i < groups.size(); ++i) {
    const bool has = dense_ ? dense_->read(groups[i], key, out + i * width)
                            : hashed_->layout().read(hashed_->row(groups[i]), key, out + i * width);
    if (has) continue;
    valid[i / 64] &= ~(uint64_t{1} << (i % 64));
    nulls = true;
  }
  return nulls;
}

void GroupTable::append_rows(BlockSource& source, const Memory& memory) const {
  constexpr size_t tablet_rows = 65536;
  const std::vector<uint32_t> groups = present_groups();
  for (size_t first = 0; first < groups.size(); first += tablet_rows) {
    const std::span<const uint32_t> some(groups.data() + first, std::min(tablet_rows, groups.size() - first));
    const size_t valid_words = static_cast<size_t>(words_for(static_cast<int64_t>(some.size())));
    std::vector<ColumnView> views;
    std::vector<Chunk> chunks;
    for (size_t i = 0; i < info_.keys.size() + aggregates_.size(); ++i) {
      const bool is_key = i < info_.keys.size();
      const size_t number = is_key ? i : i - info_.keys.size();
      ColumnView view;
      view.encoding = Encoding::Plain;
      view.physical = is_key ? info_.keys[number].physical : info_.aggregates[number].result.physical;
      const size_t data_bytes = valid_words * 64 * static_cast<size_t>(width_bytes(view.physical));
      Chunk chunk = memory.allocate(data_bytes + valid_words * 8 + 64, "groups");
      auto* valid = reinterpret_cast<uint64_t*>(chunk.data() + data_bytes);
      std::memset(valid, 0xFF, valid_words * 8);
      const bool nulls =
          is_key ? emit_key(number, some, chunk.data(), valid) : aggregates_[number]->emit(some, chunk.data(), valid);
      view.data = chunk.data();
      if (nulls) view.validity = reinterpret_cast<const uint8_t*>(valid);
      views.push_back(view);
      chunks.push_back(std::move(chunk));
    }
    source.add(static_cast<int64_t>(some.size()), std::move(views), std::move(chunks));
  }
}

}  // namespace diptych::cpu
