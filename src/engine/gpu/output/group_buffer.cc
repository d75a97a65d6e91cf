#include "engine/gpu/output/group_buffer.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace diptych::gpu {
namespace {

constexpr int64_t control_bytes = 256;
constexpr int64_t least_slots = 16384;
constexpr int64_t most_slots = int64_t{1} << 31;  // numbers of groups are 32 bits
constexpr uint64_t sign_bit = uint64_t{1} << 63;

int64_t power_above(int64_t number) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(number))); }

// In kernels all empty states are 0 (kernel/device/group_states.h).
void restore_state(const StateLayout& state, uint64_t* words) {
  switch (state.kind) {
    case StateKind::Least: words[0] = ~words[0]; return;
    case StateKind::LeastI128:
      words[0] = ~words[0];
      words[1] = ~words[1] ^ sign_bit;
      return;
    case StateKind::GreatestI128: words[1] ^= sign_bit; return;
    default: return;
  }
}

}  // namespace

GroupBuffer::GroupBuffer(GpuEngine& engine, const GroupPlan& plan, int64_t rows, int64_t expected_groups)
    : engine_(engine), plan_(plan) {
  slots_ = plan.groups;
  if (is_hashed()) {
    const int64_t enough = power_above(std::max(2 * rows, least_slots));
    slots_ = std::min({power_above(std::max(2 * expected_groups, least_slots)), enough, most_slots});
  }
  lay_out();
}

void GroupBuffer::lay_out() {
  keys_at_ = control_bytes + (is_hashed() ? padded(slots_ * 4) : 0);
  states_at_ = keys_at_ + (is_hashed() ? padded(slots_ * static_cast<int64_t>(plan_.key_words) * 8) : 0);
  bytes_ = states_at_ + slots_ * static_cast<int64_t>(plan_.state_words) * 8;
}

void GroupBuffer::prepare(Queue& queue) {
  if (buffer_.bytes() < bytes_) {
    buffer_ = DeviceBuffer();
    buffer_ = engine_.device().allocate(bytes_, "groups");
  }
  queue.fill(buffer_.address(), 0, bytes_);
}

uint64_t GroupBuffer::word(const KernelParameter& parameter) const {
  switch (static_cast<GroupPart>(parameter.part)) {
    case GroupPart::Control: return buffer_.address().value;
    case GroupPart::Slots: return (buffer_.address() + control_bytes).value;
    case GroupPart::SlotCount: return static_cast<uint64_t>(slots_);
    // Chains of full slots grow quickly past this.
    case GroupPart::Limit: return static_cast<uint64_t>(slots_ / 8 * 5);
    case GroupPart::Keys: return (buffer_.address() + keys_at_).value;
    case GroupPart::States: return (buffer_.address() + states_at_).value;
    case GroupPart::Groups: return static_cast<uint64_t>(plan_.groups);
    default: return plan_.number(parameter.part);
  }
}

void GroupBuffer::ask_control(Queue& queue) {
  if (!is_hashed()) return;
  if (control_.bytes() == 0) control_ = engine_.device().allocate_pinned(control_bytes, "control words of groups");
  queue.copy_to_host(control_.data(), buffer_.address(), control_bytes);
}

bool GroupBuffer::grow() {
  if (!is_hashed() || !has_overflown()) return false;
  if (slots_ >= most_slots) throw Error(SqlState::out_of_memory, "more groups than a device's table can have");
  slots_ = std::min(slots_ * 4, most_slots);
  lay_out();
  return true;
}

GroupWords GroupBuffer::read(Queue& queue) const {
  GroupWords words;
  words.key_words = is_hashed() ? plan_.key_words : 1;
  words.row_words = words.key_words + plan_.states.words;
  if (is_hashed() && groups_found() == 0) return words;
  const PinnedBuffer memory = engine_.device().allocate_pinned(bytes_, "groups");
  queue.copy_to_host(memory.data(), buffer_.address(), bytes_);
  queue.synchronize();
  if (is_hashed())
    read_hashed(memory.data(), words);
  else
    read_numbered(memory.data(), words);
  return words;
}

// The states of a group that has rows; others are left out.
void GroupBuffer::append_states(const uint64_t* states, GroupWords& to) const {
  const size_t first = to.words.size();
  to.words.insert(to.words.end(), states, states + plan_.states.words);
  uint64_t* words = to.words.data() + first;
  for (const StateLayout& state : plan_.states.aggregates) restore_state(state, words + state.first_word);
  words[0] |= present_bit;
  if (plan_.counting >= 0) words[0] |= plan_.always;
}

void GroupBuffer::read_hashed(const std::byte* memory, GroupWords& to) const {
  const auto* slots = reinterpret_cast<const uint32_t*>(memory + control_bytes);
  const auto* keys = reinterpret_cast<const uint64_t*>(memory + keys_at_);
  const auto* states = reinterpret_cast<const uint64_t*>(memory + states_at_);
  to.words.reserve(groups_found() * to.row_words);
  for (size_t slot = 0; slot < static_cast<size_t>(slots_); ++slot) {
    if (slots[slot] == 0) continue;
    const uint64_t* key = keys + slot * plan_.key_words;
    to.words.insert(to.words.end(), key, key + plan_.key_words);
    append_states(states + slot * plan_.state_words, to);
  }
}

void GroupBuffer::read_numbered(const std::byte* memory, GroupWords& to) const {
  const auto* states = reinterpret_cast<const uint64_t*>(memory + states_at_);
  const size_t counter =
      plan_.counting >= 0 ? plan_.states.aggregates[static_cast<size_t>(plan_.counting)].first_word : 0;
  for (size_t group = 0; group < static_cast<size_t>(slots_); ++group) {
    const uint64_t* state = states + group * plan_.state_words;
    const bool present = plan_.counting >= 0 ? state[counter] != 0 : (state[0] & present_bit) != 0;
    // Without keys there is a group even of no rows.
    if (!present && !plan_.keys.empty()) continue;
    to.words.push_back(group);
    append_states(state, to);
  }
}

}  // namespace diptych::gpu
