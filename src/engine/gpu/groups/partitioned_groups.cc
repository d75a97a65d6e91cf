#include "engine/gpu/groups/partitioned_groups.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/error.h"
#include "engine/gpu/groups/group_launch.h"
#include "engine/gpu/groups/group_strings.h"
#include "engine/gpu/when_done.h"
#include "engine/run/kernel_error.h"

namespace diptych::gpu {
namespace {

// Chains of full slots are short up to this.
constexpr int64_t table_slots_per_group = 2;
constexpr int64_t least_slots = 1024;

// Of the memory to plan with, what rows of states may take before they wait in host memory.
constexpr int64_t most_held_part = 8;
// Of these, what goes back to the device at a time.
int64_t part_bytes(int64_t room) { return std::min(int64_t{16} << 20, room / 16); }
constexpr int most_pass_bits = 10;

}  // namespace

void PartitionedGroups::check(const GroupControl& control) const {
  if (control.failure == 0) return;
  const auto aggregate = static_cast<size_t>((control.failure >> 32) - 1);
  raise_kernel_error(static_cast<int32_t>(control.failure & 0xFFFFFFFF), table_.aggregates[aggregate].position);
}

void PartitionedGroups::add(PartitionBatch& batch, Queue& queue) {
  check(batch.control());
  check_invariant(batch.plan().key_words == plan_.key_words, "all batches of a section have groups of one form");
  if (DevicePiece result = batch.take_result(); result.rows > 0) pieces_.push_back(std::move(result));
  const auto count = static_cast<int64_t>(batch.control().state_rows);
  if (count > 0) {
    States& states = states_.emplace_back();
    states.rows = batch.take_states();
    states.count = count;
    states.strings = batch.take_strings();
    held_bytes_ += states.rows.bytes();
  }
  state_rows_ += count;
  rows_ += batch.rows();
  ++form_.parts;
  form_.partition_bits = std::max(form_.partition_bits, batch.partition_bits());
  form_.slice_rows = std::max(form_.slice_rows, batch.slice_rows());
  form_.state_rows += count;
  if (held_bytes_ > engine_.device().room() / most_held_part) move_to_host(queue);
}

void PartitionedGroups::add(PartitionedGroups&& other) {
  std::move(other.pieces_.begin(), other.pieces_.end(), std::back_inserter(pieces_));
  std::move(other.states_.begin(), other.states_.end(), std::back_inserter(states_));
  state_rows_ += other.state_rows_;
  rows_ += other.rows_;
  held_bytes_ += other.held_bytes_;
  form_.parts += other.form_.parts;
  form_.partition_bits = std::max(form_.partition_bits, other.form_.partition_bits);
  form_.slice_rows = std::max(form_.slice_rows, other.form_.slice_rows);
  form_.state_rows += other.form_.state_rows;
}

// To host memory, as many as there are of each: buffers have room for more.
void PartitionedGroups::move_to_host(Queue& queue) {
  for (States& states : states_) {
    if (states.rows.bytes() == 0) continue;
    const int64_t bytes = state_bytes(states.count);
    states.reserved = std::make_unique<MemoryReservation>(context_.budget, "groups");
    reserve_on_host(*states.reserved, bytes);
    states.moved = engine_.device().allocate_pinned(bytes, "groups");
    queue.copy_to_host(states.moved.data(), states.rows.address(), bytes);
  }
  queue.synchronize();
  for (States& states : states_) states.rows = DeviceBuffer();
  held_bytes_ = 0;
}

void PartitionedGroups::finish(Queue& queue, DeviceRowSet& to) {
  for (DevicePiece& piece : pieces_) to.add(std::move(piece));
  pieces_.clear();
  if (state_rows_ > 0) make(queue, {}, to);
}

// Of hashes that are spread evenly.
int64_t PartitionedGroups::expected_rows(const Pass& pass) const {
  if (pass.bits == 0) return state_rows_;
  const int64_t even = state_rows_ >> pass.bits;
  return std::min(state_rows_, even + even / 4 + least_slots);
}

int64_t PartitionedGroups::group_bytes() const {
  const auto words = static_cast<int64_t>(plan_.key_words + plan_.state_words);
  return table_slots_per_group * (4 + 8 * words) + group_column_bytes(plan_, table_);
}

bool PartitionedGroups::may_fit(const Pass& pass) const {
  return expected_rows(pass) <= engine_.device().room() / group_bytes();
}

// A power of two of slots may be nearly twice as many.
int64_t PartitionedGroups::finish_bytes(int64_t room) const {
  return std::min(2 * (state_rows_ + least_slots) * group_bytes(), room) + 2 * part_bytes(room);
}

// In two halves, where it has no room.
void PartitionedGroups::make(Queue& queue, const Pass& pass, DeviceRowSet& to) {
  check_cancelled(context_);
  if (may_fit(pass)) {
    try {
      if (try_make(queue, pass, to)) return;
    } catch (const NoHostMemory&) {
      throw;
    } catch (const Error& error) {
      if (error.state() != SqlState::out_of_memory || pass.bits >= most_pass_bits) throw;
    }
  }
  if (pass.bits >= most_pass_bits)
    throw Error(SqlState::out_of_memory, engine_.device().info().id() + " has no room for groups");
  move_to_host(queue);
  to.move_to_host();
  make(queue, {pass.number * 2, pass.bits + 1}, to);
  make(queue, {pass.number * 2 + 1, pass.bits + 1}, to);
}

// Rows of states into the table, out of host memory in parts.
void PartitionedGroups::merge(Queue& queue, GroupParameters& words) {
  const int64_t part_rows = std::max<int64_t>(1, part_bytes(engine_.device().room()) / state_bytes(1));
  DeviceBuffer part;
  const WhenDone when_done{queue};
  const auto launch = [&](DeviceAddress rows, int64_t count) {
    words.set(GroupWord::States, rows);
    words.set(GroupWord::StateRows, static_cast<uint64_t>(count));
    launch_group_kernel(engine_, queue, plan_.kernels->merge, words, {.groups = (count + group_size - 1) / group_size});
  };
  for (const States& states : states_) {
    if (states.moved.bytes() == 0) {
      launch(states.rows.address(), states.count);
      continue;
    }
    for (int64_t first = 0; first < states.count; first += part_rows) {
      const int64_t count = std::min(part_rows, states.count - first);
      if (part.bytes() < state_bytes(count)) {
        queue.synchronize();
        part = engine_.device().allocate(state_bytes(count), "states of groups");
      }
      queue.copy_to_device(part.address(), states.moved.data() + state_bytes(first), state_bytes(count));
      launch(part.address(), count);
    }
  }
}

// False: there were more groups than room for them.
bool PartitionedGroups::try_make(Queue& queue, const Pass& pass, DeviceRowSet& to) {
  Device& device = engine_.device();
  const int64_t rows = expected_rows(pass);
  const auto slots =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(table_slots_per_group * rows, least_slots))));
  const int64_t keys_at = padded(slots * 4),
                states_at = keys_at + padded(slots * static_cast<int64_t>(plan_.key_words) * 8),
                control_at = states_at + padded(slots * static_cast<int64_t>(plan_.state_words) * 8);
  const DeviceBuffer table = device.allocate(control_at + static_cast<int64_t>(sizeof(GroupControl)), "groups");
  const PinnedBuffer report = device.allocate_pinned(sizeof(GroupControl), "control words of groups");
  DevicePiece result = allocate_groups(device, queue, plan_, table_, rows);
  const WhenDone when_done{queue};
  // Keys are written before they are read.
  queue.fill(table.address(), 0, slots * 4);
  queue.fill(table.address() + states_at, 0, control_at - states_at + static_cast<int64_t>(sizeof(GroupControl)));
  GroupParameters words(*plan_.kernels);
  words.set(GroupWord::Control, table.address() + control_at);
  words.set(GroupWord::Slots, table.address());
  words.set(GroupWord::SlotBits, static_cast<uint64_t>(std::countr_zero(static_cast<uint64_t>(slots))));
  words.set(GroupWord::Pass, pass.number);
  words.set(GroupWord::PassBits, static_cast<uint64_t>(pass.bits));
  // By the upper bits, those of partitions, what is merged together lies together, and in the cache. But groups of few
  // partitions would be crowded there, as those of a pass, whose upper bits are the same.
  const bool is_of_all = state_rows_ > rows_ / 8;
  words.set(GroupWord::SlotShift, static_cast<uint64_t>(is_of_all ? pass.bits : most_partition_bits));
  words.set(GroupWord::Keys, table.address() + keys_at);
  words.set(GroupWord::TableStates, table.address() + states_at);
  words.set(result);
  merge(queue, words);
  launch_group_kernel(engine_, queue, plan_.kernels->show, words, {.groups = slots / group_size});
  queue.copy_to_host(report.data(), table.address() + control_at, sizeof(GroupControl));
  queue.synchronize();
  const GroupControl control = *reinterpret_cast<const GroupControl*>(report.data());
  check(control);
  result.rows = static_cast<int64_t>(control.groups);
  if (control.is_full != 0 || result.rows > result.capacity) return false;
  own_strings(engine_, queue, result);
  to.add(std::move(result));
  if (pass.bits > 0) to.move_to_host();
  ++form_.passes;
  return true;
}

}  // namespace diptych::gpu
