#include "engine/gpu/generator/group_plan.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace diptych::gpu {
namespace {

// What the CPU engine takes as well: states of so many groups fit a cache, and are soon read back.
constexpr int64_t most_dense_groups = 65536;

// A lane of a warp each.
constexpr int most_replicas = 32;

bool is_numbered(const RegisterInfo& key) {
  if (key.physical == PhysicalType::Bool) return true;
  return (key.physical == PhysicalType::Int32 || key.physical == PhysicalType::Int64) && key.has_range &&
         key.low <= key.high && key.high - key.low < most_dense_groups;
}

// Numbers of all possible groups; false: they are not known, or too many.
bool number_groups(const std::vector<RegisterInfo>& keys, GroupPlan& plan) {
  plan.groups = 1;
  for (size_t i = keys.size(); i-- > 0;) {
    if (!is_numbered(keys[i])) return false;
    GroupKeyPlan& key = plan.keys[i];
    const bool is_truth = keys[i].physical == PhysicalType::Bool;
    key.low = is_truth ? 0 : static_cast<int64_t>(keys[i].low);
    key.span = is_truth ? 2 : static_cast<uint32_t>(keys[i].high - keys[i].low + 1);
    key.stride = static_cast<uint32_t>(plan.groups);
    plan.groups *= key.span + (key.nullable ? 1 : 0);
    if (plan.groups > most_dense_groups) return false;
  }
  return true;
}

void lay_out_words(GroupPlan& plan) {
  plan.has_null_word =
      std::any_of(plan.keys.begin(), plan.keys.end(), [](const GroupKeyPlan& key) { return key.nullable; });
  size_t next = plan.has_null_word ? 1 : 0;
  for (const bool is_string : {false, true}) {
    for (GroupKeyPlan& key : plan.keys) {
      if (key.is_string() == is_string) key.word = std::exchange(next, next + key.compared_words());
    }
  }
  plan.compared_words = next;
  for (const bool is_string : {true, false}) {
    for (GroupKeyPlan& key : plan.keys) {
      if (key.is_string() != is_string) continue;
      key.carried = std::exchange(next, next + key.carried_words());
      plan.strings += is_string ? 1 : 0;
    }
  }
  plan.key_words = next;
}

bool needs_lock(const StateLayout& state) {
  return state.kind == StateKind::Moments || state.kind == StateKind::LeastI128 ||
         state.kind == StateKind::GreatestI128 || state.kind == StateKind::Extreme;
}

// Words of 64 bits that the entries of a work-group take, with their tags.
constexpr size_t most_entry_words = 2560;

// Of kinds that shared memory takes without a lock.
bool has_entry(const StateLayout& state) {
  switch (state.kind) {
    case StateKind::Count:
    case StateKind::SumI64:
    case StateKind::SumI128:
    case StateKind::SumF64:
    case StateKind::Least:
    case StateKind::Greatest: return true;
    default: return false;
  }
}

// A launch that does not repeat its rows has at most 2^31 of them: sums of values of 32 bits fit 64.
void plan_entries(const HashTableInfo& table, size_t shared_words, bool repeats, GroupPlan& plan) {
  if (!std::all_of(plan.states.aggregates.begin(), plan.states.aggregates.end(), has_entry)) return;
  StatesLayout& entry = plan.entry_states = plan.states;
  entry.words = entry.note_words;
  for (size_t i = 0; i < entry.aggregates.size(); ++i) {
    StateLayout& state = entry.aggregates[i];
    const bool is_short = table.aggregates[i].argument.physical == PhysicalType::Int32;
    if (state.kind == StateKind::SumI128 && is_short && !repeats) {
      state.kind = StateKind::SumI64;
      state.words = 1;
    }
    state.first_word = std::exchange(entry.words, entry.words + state.words);
    entry.parts[state.first_part] = state;
  }
  const size_t room = std::min(most_entry_words, shared_words);
  const size_t entries = std::bit_floor(2 * room / (2 * entry.words + 1));
  if (entries >= 64) plan.entries = entries;
}

}  // namespace

size_t GroupKeyPlan::compared_words() const {
  return physical == PhysicalType::Int128 || physical == PhysicalType::Interval ? 2 : 1;
}

size_t GroupKeyPlan::carried_words() const {
  if (physical == PhysicalType::Interval) return 2;
  return is_string() ? 1 : 0;
}

size_t GroupKeyPlan::row_words() const {
  return is_string() || physical == PhysicalType::Interval ? 4 : key_row_words(physical);
}

size_t GroupKeyPlan::word_in_row(size_t pair) const {
  // The span of an interval is found again.
  if (physical == PhysicalType::Interval) return carried + pair;
  return is_string() && pair == 1 ? carried : word + pair;
}

uint64_t GroupPlan::number(int32_t part) const {
  const auto index = static_cast<size_t>(part - static_cast<int32_t>(GroupPart::FirstKey));
  const GroupKeyPlan& key = keys[index / 3];
  switch (index % 3) {
    case 0: return static_cast<uint64_t>(key.low);
    case 1: return key.span;
    default: return key.stride;
  }
}

GroupPlan plan_groups(const HashTableInfo& table, int32_t number, std::span<const int32_t> dictionary_columns,
                      size_t shared_words, int64_t most_dense_bytes, bool repeats) {
  GroupPlan plan;
  plan.hash_table = number;
  plan.states = layout_states(table, !table.keys.empty());
  plan.unsupported = plan.states.unsupported;
  for (size_t i = 0; i < table.keys.size(); ++i) {
    const RegisterInfo& info = table.keys[i];
    plan.keys.push_back({info.physical, info.nullable, dictionary_columns[i]});
  }
  if (table.keys.size() > 64) plan.unsupported = "more than 64 group keys";
  plan.has_lock = std::any_of(plan.states.aggregates.begin(), plan.states.aggregates.end(), needs_lock);
  plan.state_words = plan.states.words + (plan.has_lock ? 1 : 0);
  if (plan.states.has(StateKind::Extreme) || !number_groups(table.keys, plan) ||
      plan.dense_bytes() > most_dense_bytes) {
    plan.place = GroupPlan::Place::Partitioned;
    lay_out_words(plan);
    return plan;
  }
  plan.room = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(plan.groups)));
  plan.place = plan.shared_words() <= shared_words ? GroupPlan::Place::Shared : GroupPlan::Place::Dense;
  if (plan.place == GroupPlan::Place::Dense) {
    plan_entries(table, shared_words, repeats, plan);
    return plan;
  }
  while (plan.replicas < most_replicas && 2 * plan.shared_words() <= shared_words) plan.replicas *= 2;
  return plan;
}

namespace {

// Of the tables that the section fills, as far as a plan is known without the columns' dictionaries.
template <typename Action>
void for_each_plan(const Program& program, int32_t address, int64_t most_dense_bytes, Action&& action) {
  const auto& instructions = program.instructions;
  for (auto at = instructions.begin() + address; at->opcode != Opcode::Converge; ++at) {
    if (at->opcode != Opcode::Group) continue;
    const HashTableInfo& table = program.hash_tables[static_cast<size_t>(at->p3)];
    const std::vector<int32_t> no_dictionaries(table.keys.size(), -1);
    action(table, plan_groups(table, at->p3, no_dictionaries, 0, most_dense_bytes));
  }
}

int64_t state_row_bytes(const GroupPlan& plan) { return static_cast<int64_t>(plan.key_words + plan.state_words) * 8; }

}  // namespace

int64_t group_row_bytes(const Program& program, int32_t address, int64_t most_dense_bytes) {
  // A key or an argument of up to 16 bytes, or a string's hash, length and address.
  constexpr int64_t most_value_bytes = 20;
  int64_t bytes = 0;
  for_each_plan(program, address, most_dense_bytes, [&](const HashTableInfo& table, const GroupPlan& plan) {
    if (plan.place != GroupPlan::Place::Partitioned) return;
    const auto values = static_cast<int64_t>(table.keys.size() + table.aggregates.size());
    bytes += (values + 1) * most_value_bytes + state_row_bytes(plan);
  });
  return bytes;
}

GroupRoom group_room(const Program& program, int32_t address, int64_t most_dense_bytes) {
  // usual_string_bytes: with its offset; how long strings are is not known before.
  constexpr int64_t flag_bytes = 8, usual_string_bytes = 32 + 4;
  GroupRoom room;
  for_each_plan(program, address, most_dense_bytes, [&](const HashTableInfo& table, const GroupPlan& plan) {
    if (plan.place != GroupPlan::Place::Partitioned) {
      room.numbered_bytes += plan.dense_bytes();
      return;
    }
    room.row_bytes += flag_bytes + state_row_bytes(plan);
    for (const GroupKeyPlan& key : plan.keys) {
      room.row_bytes += static_cast<int64_t>(key.row_words()) * 4 + width_bytes(key.physical) + 1;
      if (key.is_string()) room.string_bytes += usual_string_bytes;
    }
    for (const auto& aggregate : table.aggregates) {
      room.row_bytes += static_cast<int64_t>(value_row_words(aggregate.argument.physical)) * 4 +
                        width_bytes(aggregate.result.physical) + 1;
      if (aggregate.result.physical == PhysicalType::Text) room.string_bytes += usual_string_bytes;
    }
  });
  return room;
}

}  // namespace diptych::gpu
