#include "engine/gpu/groups/partitioned_groups.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "engine/cpu/kernel_error.h"
#include "engine/gpu/groups/group_launch.h"
#include "engine/gpu/groups/group_strings.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

// Chains of full slots are short up to this.
constexpr int64_t slots_per_group = 2;
constexpr int64_t least_slots = 1024;

}  // namespace

void PartitionedGroups::check(const GroupControl& control) const {
  if (control.failure == 0) return;
  const auto aggregate = static_cast<size_t>((control.failure >> 32) - 1);
  cpu::raise_kernel_error(static_cast<int32_t>(control.failure & 0xFFFFFFFF), table_.aggregates[aggregate].position);
}

void PartitionedGroups::add(PartitionBatch& batch) {
  check(batch.control());
  if (GroupColumns result = batch.take_result(); result.rows > 0) pieces_.push_back(std::move(result));
  const auto count = static_cast<int64_t>(batch.control().state_rows);
  if (count > 0) states_.push_back({batch.take_states(), count, batch.take_strings()});
  state_rows_ += count;
  rows_ += batch.rows();
  launches_ += batch.launches();
}

void PartitionedGroups::add(PartitionedGroups&& other) {
  std::move(other.pieces_.begin(), other.pieces_.end(), std::back_inserter(pieces_));
  std::move(other.states_.begin(), other.states_.end(), std::back_inserter(states_));
  state_rows_ += other.state_rows_;
  rows_ += other.rows_;
  launches_ += other.launches_;
}

std::vector<GroupColumns> PartitionedGroups::finish(Queue& queue) {
  if (state_rows_ == 0) return std::move(pieces_);
  Device& device = engine_.device();
  const auto slots =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(slots_per_group * state_rows_, least_slots))));
  const int64_t keys_at = padded(slots * 4),
                states_at = keys_at + padded(slots * static_cast<int64_t>(plan_.key_words) * 8),
                control_at = states_at + padded(slots * static_cast<int64_t>(plan_.state_words) * 8);
  const DeviceBuffer table = device.allocate(control_at + static_cast<int64_t>(sizeof(GroupControl)), "groups");
  const PinnedBuffer report = device.allocate_pinned(sizeof(GroupControl), "control words of groups");
  GroupColumns result = allocate_group_columns(device, queue, plan_, table_, state_rows_);
  const WhenDone when_done{queue};
  // Keys are written before they are read.
  queue.fill(table.address(), 0, slots * 4);
  queue.fill(table.address() + states_at, 0, control_at - states_at + static_cast<int64_t>(sizeof(GroupControl)));
  GroupParameters words(*plan_.kernels);
  words.set(GroupWord::Control, table.address() + control_at);
  words.set(GroupWord::Slots, table.address());
  words.set(GroupWord::SlotBits, static_cast<uint64_t>(std::countr_zero(static_cast<uint64_t>(slots))));
  // By the upper bits, those of partitions, what is merged together lies together, and in the cache. But groups of few
  // partitions would be crowded there.
  const bool is_of_all = state_rows_ > rows_ / 8;
  words.set(GroupWord::SlotShift, is_of_all ? 0 : most_partition_bits);
  words.set(GroupWord::Keys, table.address() + keys_at);
  words.set(GroupWord::TableStates, table.address() + states_at);
  words.set(result);
  for (const States& states : states_) {
    words.set(GroupWord::States, states.rows.address());
    words.set(GroupWord::StateRows, static_cast<uint64_t>(states.count));
    launch_group_kernel(engine_, queue, plan_.kernels->merge, words,
                        {.groups = (states.count + group_size - 1) / group_size});
  }
  launch_group_kernel(engine_, queue, plan_.kernels->show, words, {.groups = slots / group_size});
  launches_ += static_cast<int>(states_.size()) + 1;
  queue.copy_to_host(report.data(), table.address() + control_at, sizeof(GroupControl));
  queue.synchronize();
  const GroupControl control = *reinterpret_cast<const GroupControl*>(report.data());
  check(control);
  result.rows = static_cast<int64_t>(control.groups);
  own_strings(engine_, queue, result);
  pieces_.push_back(std::move(result));
  return std::move(pieces_);
}

}  // namespace diptych::gpu
