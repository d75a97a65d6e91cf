#include "engine/cpu/groups/merge_table.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/cpu/groups/group_runs.h"
#include "engine/cpu/row_mask.h"

namespace diptych::cpu {

MergeTable::MergeTable(const HashTableInfo& info, const Memory& memory)
    : info_(info), memory_(memory), keys_(info.keys, 0), reservation_(memory.budget(), "groups") {
  for (const AggregateInfo& aggregate : info.aggregates) aggregates_.push_back(make_aggregate_column(aggregate));
  numbers_.resize(block_rows);
}

size_t MergeTable::group_bytes() const { return bytes_of_group(keys_.layout(), aggregates_); }

void MergeTable::find_part(const GroupSlice& slice, HashPart part, size_t first, size_t last) {
  from_.clear();
  hashes_.clear();
  for (size_t i = first; i < last; ++i) {
    if (!part.has(slice.hashes[i])) continue;
    from_.push_back(static_cast<uint32_t>(i));
    hashes_.push_back(slice.hashes[i]);
  }
}

const uint64_t* MergeTable::keys_of(const GroupSlice& slice) {
  const KeyLayout& layout = keys_.layout();
  const size_t words = layout.words();
  const bool are_together = from_.back() - from_.front() + 1 == from_.size();
  if (are_together && !layout.has_texts()) return slice.keys + from_.front() * words;
  rows_.resize(from_.size() * words);
  for (size_t i = 0; i < from_.size(); ++i) {
    uint64_t* row = rows_.data() + i * words;
    std::memcpy(row, slice.keys + from_[i] * words, words * 8);
    layout.for_each_text(row, [&](uint64_t& place, uint64_t length) {
      place = length == 0 ? 0 : reinterpret_cast<uint64_t>(slice.strings + place);
    });
  }
  return rows_.data();
}

void MergeTable::add(const GroupSlice& slice, HashPart part) {
  for (size_t first = 0; first < slice.count; first += block_rows) {
    find_part(slice, part, first, std::min<size_t>(first + block_rows, slice.count));
    if (from_.empty()) continue;
    keys_.find_rows(keys_of(slice), hashes_.data(), from_.size(), !slice.stays, numbers_.data());
    if (keys_.groups() > states_) {
      states_ = std::max<size_t>(keys_.groups(), states_ * 2);
      for (auto& aggregate : aggregates_) aggregate->resize(states_);
    }
    add_states(slice);
  }
  size_t bytes = keys_.bytes();
  for (const auto& aggregate : aggregates_) bytes += aggregate->bytes();
  reservation_.follow(bytes);
}

void MergeTable::add_states(const GroupSlice& slice) {
  const std::span<const uint32_t> to(numbers_.data(), from_.size());
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    if (aggregates_[i]->holds_texts())
      add_texts(slice, i, to);
    else
      aggregates_[i]->read(slice.columns[i].states, slice.columns[i].has, from_, to);
  }
}

void MergeTable::add_texts(const GroupSlice& slice, size_t aggregate, std::span<const uint32_t> to) {
  const auto* states = reinterpret_cast<const dk_text*>(slice.columns[aggregate].states);
  texts_.resize(from_.back() + size_t{1} - from_.front());
  for (uint32_t from : from_) {
    dk_text text = states[from];
    text.data = slice.strings + reinterpret_cast<uint64_t>(text.data);
    texts_[from - from_.front()] = text;
  }
  std::vector<uint32_t> from(from_.size());
  std::transform(from_.begin(), from_.end(), from.begin(), [&](uint32_t at) { return at - from_.front(); });
  aggregates_[aggregate]->read(reinterpret_cast<const std::byte*>(texts_.data()),
                               slice.columns[aggregate].has + from_.front(), from, to);
}

std::vector<GroupRows> MergeTable::rows() const {
  std::vector<uint32_t> groups(keys_.groups());
  std::iota(groups.begin(), groups.end(), 0U);
  const auto emit_key = [this](size_t key, std::span<const uint32_t> some, std::byte* out, uint64_t* valid) {
    return keys_.emit(key, some, out, valid);
  };
  return make_group_rows(info_, groups, emit_key, aggregates_, memory_);
}

void MergeTable::clear() {
  keys_.clear();
  for (auto& aggregate : aggregates_) aggregate->clear();
}

}  // namespace diptych::cpu
