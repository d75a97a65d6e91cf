#include "engine/gpu/groups/numbered_batch.h"

#include <algorithm>

#include "base/error.h"

namespace diptych::gpu {
namespace {

constexpr uint64_t sign_bit = uint64_t{1} << 63;

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

int64_t most_dense_bytes(const Device& device) {
  constexpr int64_t part_of_memory = 16;
  return std::min(most_dense_group_bytes, device.memory_limit() / part_of_memory);
}

void NumberedBatch::prepare(Queue& queue) {
  if (buffer_.bytes() < bytes_) {
    buffer_ = DeviceBuffer();
    buffer_ = engine_.device().allocate(bytes_, "groups");
  }
  queue.fill(buffer_.address(), 0, bytes_);
}

uint64_t NumberedBatch::word(const KernelParameter& parameter) const {
  switch (static_cast<GroupPart>(parameter.part)) {
    case GroupPart::States: return buffer_.address().value;
    case GroupPart::Groups: return static_cast<uint64_t>(plan_.groups);
    default: return plan_.number(parameter.part);
  }
}

void NumberedBatch::ask(Queue& queue) {
  if (fetched_.bytes() < bytes_) fetched_ = engine_.device().allocate_pinned(bytes_, "groups");
  queue.copy_to_host(fetched_.data(), buffer_.address(), bytes_);
}

GroupWords NumberedBatch::read() const {
  GroupWords words;
  words.row_words = 1 + plan_.states.words;
  const auto* states = reinterpret_cast<const uint64_t*>(fetched_.data());
  const size_t counter =
      plan_.counting >= 0 ? plan_.states.aggregates[static_cast<size_t>(plan_.counting)].first_word : 0;
  for (size_t group = 0; group < static_cast<size_t>(plan_.groups); ++group) {
    const uint64_t* state = states + group * plan_.state_words;
    const bool present = plan_.counting >= 0 ? state[counter] != 0 : (state[0] & present_bit) != 0;
    // Without keys there is a group even of no rows.
    if (!present && !plan_.keys.empty()) continue;
    words.words.push_back(group);
    append_states(state, words);
  }
  return words;
}

// The states of a group that has rows; others are left out.
void NumberedBatch::append_states(const uint64_t* states, GroupWords& to) const {
  const size_t first = to.words.size();
  to.words.insert(to.words.end(), states, states + plan_.states.words);
  uint64_t* words = to.words.data() + first;
  for (const StateLayout& state : plan_.states.parts) restore_state(state, words + state.first_word);
  words[0] |= present_bit;
  for (size_t i = 0; i < plan_.states.aggregates.size(); ++i) {
    if (plan_.always_comes(i)) words[note_index(i) / 2] |= uint64_t{came_bit(i)} << (note_index(i) % 2 * 32);
  }
}

}  // namespace diptych::gpu
