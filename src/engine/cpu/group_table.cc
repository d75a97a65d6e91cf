#include "engine/cpu/group_table.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

// Dense tables of all threads together take at most this part of the memory limit: they can't give way.
constexpr int64_t dense_memory_part = 4;

// More numbered groups than that are worth an array where a second-level cache has their states and, by the estimate,
// every fourth one is there: the threads' arrays are cleared and put together group by group.
constexpr size_t most_sparse_groups = 65536, most_cached_bytes = size_t{4} << 20;
constexpr int64_t possible_a_group = 4;

bool can_be_dense(const HashTableInfo& info, const Memory& memory) {
  if (!DenseKeys::possible(info.keys)) return false;
  if (info.keys.empty()) return true;
  const size_t groups = DenseKeys(info.keys).groups();
  const size_t bytes = groups * AggregateStates(info.aggregates).row_bytes();
  if (groups > most_sparse_groups &&
      (bytes > most_cached_bytes || info.expected_groups * possible_a_group < static_cast<int64_t>(groups)))
    return false;
  return bytes <= memory.thread_share(dense_memory_part);
}

}  // namespace

GroupTable::GroupTable(const HashTableInfo& info, const Memory& memory)
    : info_(info),
      memory_(memory),
      dense_(can_be_dense(info, memory) ? std::optional<DenseKeys>(info.keys) : std::nullopt),
      states_(dense_ ? AggregateStates(info.aggregates, dense_->groups(), memory) : AggregateStates(info.aggregates)),
      reservation_(memory.budget(), "hash table") {
  if (!dense_) hashed_.emplace(info.keys, info.expected_groups);
  numbers_.resize(block_rows);
  if (dense_) {
    seen_.resize(dense_->groups());
    masked_ = dense_->groups() <= most_masks;
    if (masked_) masks_.resize(dense_->groups());
  }
  if (info.keys.empty()) seen_[0] = 1;
  if (hashed_) {
    loose_.emplace(info);
    runs_.emplace(*hashed_, states_, *loose_, memory);
    block_.emplace(hashed_->layout());
  }
  account();
}

void GroupTable::account() {
  size_t bytes = seen_.capacity() + numbers_.capacity() * 4 + masks_.capacity() * sizeof(GroupMask);
  if (hashed_) bytes += hashed_->bytes() + loose_->bytes() + runs_->bytes();
  bytes += states_.bytes();
  try {
    reservation_.follow(bytes);
  } catch (const Error& error) {
    // The block's aggregates are still to come, so that the groups can't go now.
    if (error.state() != SqlState::out_of_memory || !runs_ || !runs_->give_way()) throw;
  }
}

void GroupTable::move_to_file() {
  if (!runs_) return;
  runs_->move_all_to_file();
  account();
}

void GroupTable::group(Frame& frame, int first_key) {
  const RowMask rows = frame.sinking();
  if (dense_) {
    dense_->find(frame, first_key, rows, numbers_.data());
    if (masked_) return split(rows, frame.words());
    for_each_row(rows.words, frame.words(), [&](int row) { seen_[numbers_[static_cast<size_t>(row)]] = 1; });
    return;
  }
  group_hashed(frame, first_key, rows);
}

void GroupTable::group_hashed(Frame& frame, int first_key, const RowMask& rows) {
  lookup_ = runs_->before_block();
  block_->write(hashed_->layout(), frame, first_key, rows);
  const auto count = static_cast<int64_t>(block_->count);
  if (lookup_ == Lookup::Adds) {
    hashed_->find(*block_, numbers_.data());
    states_.grow_to(hashed_->groups());
    runs_->count(count, 0);
  } else {
    loose_mask_ = rows;
    if (lookup_ == Lookup::Known) hashed_->find_known(*block_, numbers_.data(), loose_mask_);
    loose_->add(*block_, numbers_.data(), frame.keeper_of_texts(first_key, info_.keys.size()));
    runs_->count(count, static_cast<int64_t>(block_->count));
    if (lookup_ == Lookup::Known) {
      RowMask known = rows;
      known.remove(loose_mask_);
      runs_->count_known(known, frame.words(), numbers_.data());
    }
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

void GroupTable::aggregate(Frame& frame, int number, int argument, bool grouped) {
  AggregateColumn& column = states_[static_cast<size_t>(number)];
  RowMask rows = frame.sinking();
  const Slot* slot = nullptr;
  if (argument >= 0) {
    slot = needs_values(static_cast<size_t>(number)) ? &frame.read(argument) : &frame.slot(argument);
    if (slot->valid != nullptr) {
      for (int w = 0; w < frame.words(); ++w) rows.words[w] &= slot->valid[w];
    }
  }
  const AggregateInput input{slot, frame.words()};
  const auto add = [&](const RowMask& some, uint32_t group) {
    uint64_t any = 0;
    for (int w = 0; w < frame.words(); ++w) any |= some.words[w];
    if (any != 0) column.add(input, some, group);
  };
  if (!grouped) return add(rows, 0);
  if (hashed_) return aggregate_hashed(input, rows, static_cast<size_t>(number));
  if (!masked_) return column.scatter(input, rows, numbers_.data());
  for (size_t i = 0; i < mask_count_; ++i) {
    RowMask some;
    for (int w = 0; w < frame.words(); ++w) some.words[w] = masks_[i].rows.words[w] & rows.words[w];
    add(some, masks_[i].group);
  }
}

// Counting needs none, unless they are kept for another aggregate, too.
bool GroupTable::needs_values(size_t number) const {
  if (info_.aggregates[number].state != AggregateState::Count) return true;
  if (lookup_ == Lookup::Adds) return false;
  const ArgumentLayout& layout = loose_->arguments().layout();
  return layout.columns()[layout.column_of(number)].width > 0;
}

void GroupTable::aggregate_hashed(const AggregateInput& input, const RowMask& rows, size_t number) {
  if (lookup_ == Lookup::Adds) return states_[number].scatter(input, rows, numbers_.data());
  if (info_.aggregates[number].same_argument < 0) {
    RowMask loose = rows;
    loose &= loose_mask_;
    ArgumentColumns& columns = loose_->arguments();
    columns.add(columns.layout().column_of(number), input, loose, numbers_.data());
  }
  if (lookup_ == Lookup::None) return;
  RowMask known = rows;
  known.remove(loose_mask_);
  states_[number].scatter(input, known, numbers_.data());
}

void GroupTable::merge(const GroupTable& other, size_t first, size_t last) {
  for (size_t group = first; group < last; ++group) seen_[group] = seen_[group] | other.seen_[group];
  states_.merge(other.states_, first, last);
}

std::vector<HostPiece> GroupTable::rows() const { return rows(0, dense_ ? dense_->groups() : hashed_->groups()); }

std::vector<HostPiece> GroupTable::rows(size_t first, size_t last) const {
  std::vector<uint32_t> groups;
  for (size_t group = first; group < last; ++group) {
    if (hashed_ || seen_[group] != 0) groups.push_back(static_cast<uint32_t>(group));
  }
  const auto emit_key = [this](size_t key, std::span<const uint32_t> some, std::byte* out, uint64_t* valid) {
    return dense_ ? dense_->emit(key, some, out, valid) : hashed_->emit(key, some, out, valid);
  };
  return make_group_pieces(info_, groups, emit_key, states_, memory_);
}

}  // namespace diptych::cpu
