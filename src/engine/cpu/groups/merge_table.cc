#include "engine/cpu/groups/merge_table.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/cpu/groups/group_runs.h"
#include "engine/cpu/row_mask.h"

namespace diptych::cpu {

MergeTable::MergeTable(const HashTableInfo& info, const Memory& memory)
    : info_(info),
      memory_(memory),
      keys_(info.keys, 0),
      states_(info.aggregates, 0),
      reservation_(memory.budget(), "groups") {
  numbers_.resize(block_rows);
}

size_t MergeTable::group_bytes() const { return bytes_of_group(keys_.layout(), states_); }

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
    states_.grow_to(keys_.groups());
    states_.merge_rows(slice.states, slice.strings, from_, {numbers_.data(), from_.size()});
  }
  reservation_.follow(keys_.bytes() + states_.bytes());
}

std::vector<GroupRows> MergeTable::rows() const {
  std::vector<uint32_t> groups(keys_.groups());
  std::iota(groups.begin(), groups.end(), 0U);
  const auto emit_key = [this](size_t key, std::span<const uint32_t> some, std::byte* out, uint64_t* valid) {
    return keys_.emit(key, some, out, valid);
  };
  return make_group_rows(info_, groups, emit_key, states_, memory_);
}

void MergeTable::clear() {
  states_.clear(keys_.groups());
  keys_.clear();
}

}  // namespace diptych::cpu
