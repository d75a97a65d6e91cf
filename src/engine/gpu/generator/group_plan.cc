#include "engine/gpu/generator/group_plan.h"

#include <algorithm>
#include <bit>

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
  for (GroupKeyPlan& key : plan.keys) {
    if (key.is_string()) continue;
    key.word = next;
    next += key.physical == PhysicalType::Int128 ? 2 : 1;
  }
  for (GroupKeyPlan& key : plan.keys) {
    if (key.is_string()) key.word = next++;
  }
  plan.compared_words = next;
  for (GroupKeyPlan& key : plan.keys) {
    if (!key.is_string()) continue;
    key.carried = next++;
    ++plan.strings;
  }
  plan.key_words = next;
}

bool needs_lock(const StateLayout& state) {
  return state.kind == StateKind::Moments || state.kind == StateKind::LeastI128 ||
         state.kind == StateKind::GreatestI128;
}

}  // namespace

size_t GroupKeyPlan::row_words() const { return is_string() ? 4 : key_row_words(physical); }

size_t GroupKeyPlan::word_in_row(size_t pair) const { return is_string() && pair == 1 ? carried : word + pair; }

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
                      size_t shared_words) {
  GroupPlan plan;
  plan.hash_table = number;
  plan.states = layout_states(table);
  plan.unsupported = plan.states.unsupported;
  for (size_t i = 0; i < table.keys.size(); ++i) {
    const RegisterInfo& info = table.keys[i];
    plan.keys.push_back({info.physical, info.nullable, dictionary_columns[i]});
    if (info.physical == PhysicalType::Interval) plan.unsupported = "grouping by intervals";
  }
  if (table.keys.size() > 64) plan.unsupported = "more than 64 group keys";
  plan.has_lock = std::any_of(plan.states.aggregates.begin(), plan.states.aggregates.end(), needs_lock);
  plan.state_words = plan.states.words + (plan.has_lock ? 1 : 0);
  if (!number_groups(table.keys, plan)) {
    plan.place = GroupPlan::Place::Partitioned;
    lay_out_words(plan);
    return plan;
  }
  plan.room = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(plan.groups)));
  plan.place = plan.shared_words() <= shared_words ? GroupPlan::Place::Shared : GroupPlan::Place::Dense;
  if (plan.place == GroupPlan::Place::Dense) return plan;
  while (plan.replicas < most_replicas && 2 * plan.shared_words() <= shared_words) plan.replicas *= 2;
  return plan;
}

}  // namespace diptych::gpu
