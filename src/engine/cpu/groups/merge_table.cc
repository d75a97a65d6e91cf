#include "engine/cpu/groups/merge_table.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/cpu/groups/group_runs.h"
#include "engine/rows/row_mask.h"

namespace diptych::cpu {

MergeTable::MergeTable(const HashTableInfo& info, const Memory& memory)
    : info_(info),
      memory_(memory),
      keys_(info.keys, 0),
      states_(info.aggregates),
      arguments_(info.aggregates),
      reservation_(memory.budget(), "groups") {
  numbers_.resize(block_rows);
  number_of_row_.resize(block_rows);
  texts_.resize(block_rows);
}

size_t MergeTable::group_bytes() const { return bytes_of_group(keys_.layout(), states_); }

const uint64_t* MergeTable::find_part(const GroupSlice& slice, HashPart part, size_t first, size_t last) {
  const uint64_t* const hashes = slice.hashes_of(keys_.layout(), first, last - first, block_hashes_);
  if (part.bits == 0) {
    from_.resize(last - first);
    std::iota(from_.begin(), from_.end(), static_cast<uint32_t>(first));
    return hashes;
  }
  from_.clear();
  hashes_.clear();
  for (size_t i = first; i < last; ++i) {
    if (!part.has(hashes[i - first])) continue;
    from_.push_back(static_cast<uint32_t>(i));
    hashes_.push_back(hashes[i - first]);
  }
  return hashes_.data();
}

const uint64_t* MergeTable::keys_of(const GroupSlice& slice) {
  const KeyLayout& layout = keys_.layout();
  const size_t words = layout.words();
  const bool are_together = from_.back() - from_.front() + 1 == from_.size();
  if (are_together && (!layout.has_texts() || slice.strings == nullptr)) return slice.keys + from_.front() * words;
  rows_.resize(from_.size() * words);
  for (size_t i = 0; i < from_.size(); ++i) {
    uint64_t* row = rows_.data() + i * words;
    std::memcpy(row, slice.keys + from_[i] * words, words * 8);
    layout.for_each_text(row, [&](uint64_t& place, uint64_t) { place += reinterpret_cast<uint64_t>(slice.strings); });
  }
  return rows_.data();
}

void MergeTable::add(const GroupSlice& slice, HashPart part) {
  for (size_t first = 0; first < slice.count; first += block_rows) {
    const uint64_t* const hashes = find_part(slice, part, first, std::min<size_t>(first + block_rows, slice.count));
    if (from_.empty()) continue;
    keys_.find_rows({keys_of(slice), hashes, from_.size()}, !slice.stays, numbers_.data());
    states_.grow_to(keys_.groups());
    if (slice.is_loose)
      take_arguments(slice, first);
    else
      states_.merge_rows(slice.states, slice.strings, from_, {numbers_.data(), from_.size()});
  }
  reservation_.follow(keys_.bytes() + states_.bytes());
}

void MergeTable::take_arguments(const GroupSlice& slice, size_t first) {
  RowMask wanted;
  wanted.clear();
  for (size_t i = 0; i < from_.size(); ++i) {
    const size_t row = from_[i] - first;
    wanted.words[row / 64] |= uint64_t{1} << (row % 64);
    number_of_row_[row] = numbers_[i];
  }
  const int words = words_for(static_cast<int64_t>(from_.back() - first + 1));
  for (size_t i = 0; i < states_.count(); ++i) {
    const size_t number = arguments_.column_of(i);
    const ArgumentSlice& argument = slice.arguments[number];
    if (!argument.any) continue;
    RowMask rows = wanted;
    if (argument.has != nullptr) {
      for_each_row(wanted.words, words, [&](int row) {
        if (argument.has[first + static_cast<size_t>(row)] == std::byte{0})
          rows.words[row / 64] &= ~(uint64_t{1} << (row % 64));
      });
    }
    const ArgumentLayout::Column& column = arguments_.columns()[number];
    Slot slot;
    slot.values = {argument.values + first * column.width, 64 * column.width};
    if (column.is_text()) {
      for_each_row(rows.words, words, [&](int row) {
        dk_text text = value_at<dk_text>(slot.values, row);
        text.data = slice.strings + reinterpret_cast<uint64_t>(text.data);
        texts_[static_cast<size_t>(row)] = text;
      });
      slot.values = {texts_.data(), 64 * sizeof(dk_text)};
    }
    states_[i].scatter({&slot, words}, rows, number_of_row_.data());
  }
}

std::vector<HostPiece> MergeTable::rows() const {
  std::vector<uint32_t> groups(keys_.groups());
  std::iota(groups.begin(), groups.end(), 0U);
  const auto emit_key = [this](size_t key, std::span<const uint32_t> some, std::byte* out, uint64_t* valid) {
    return keys_.emit(key, some, out, valid);
  };
  return make_group_pieces(info_, groups, emit_key, states_, memory_);
}

void MergeTable::clear() {
  states_.clear(keys_.groups());
  keys_.clear();
}

}  // namespace diptych::cpu
