#include "engine/gpu/groups/group_columns.h"

#include <algorithm>
#include <utility>

#include "engine/gpu/groups/group_kernels.h"

namespace diptych::gpu {

DevicePiece allocate_groups(Device& device, Queue& queue, const GroupPlan& plan, const HashTableInfo& table,
                            int64_t capacity) {
  DevicePiece made;
  made.capacity = capacity;
  int64_t bytes = 0;
  const auto take = [&](int64_t wanted) {
    const int64_t at = bytes;
    bytes += padded(wanted);
    return at;
  };
  made.columns.resize(plan.keys.size() + plan.states.aggregates.size());
  // All bits of validity together, which are set at once.
  const int64_t bitmap = (capacity + 31) / 32 * 4;
  for (size_t i = 0; i < made.columns.size(); ++i) {
    if (is_nullable_result(plan, i)) made.columns[i].validity = take(bitmap);
  }
  const int64_t bitmaps = bytes;
  int64_t string_bytes = 0;
  for (size_t i = 0; i < made.columns.size(); ++i) {
    DevicePiece::Column& column = made.columns[i];
    column.width = result_width(plan, table, i);
    column.is_string = is_string_result(plan, table, i);
    if (column.is_string)
      column.values = std::exchange(string_bytes, string_bytes + padded(capacity * column.width));
    else
      column.values = take(capacity * column.width);
  }
  made.buffer = device.allocate(std::max<int64_t>(bytes, 8), "groups");
  if (string_bytes > 0) made.string_rows = device.allocate(string_bytes, "strings of groups");
  queue.fill(made.buffer.address(), 0xFF, bitmaps);
  return made;
}

ColumnView group_form(const GroupPlan& plan, const HashTableInfo& table, size_t i) {
  const RegisterInfo& info = i < plan.keys.size() ? table.keys[i] : table.aggregates[i - plan.keys.size()].result;
  ColumnView form;
  form.encoding = Encoding::Plain;
  form.physical = info.physical;
  form.width = static_cast<uint8_t>(result_width(plan, table, i));
  if (is_string_result(plan, table, i)) form.encoding = Encoding::Heap;
  if (i < plan.keys.size() && plan.keys[i].dictionary_column >= 0) form.encoding = Encoding::Dictionary;
  return form;
}

std::shared_ptr<DeviceRowSet> make_group_set(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table,
                                             const std::vector<const Dictionary*>& dictionaries, MemoryBudget* budget) {
  std::vector<ColumnDefinition> columns;
  std::vector<ColumnView> forms;
  for (size_t i = 0; i < plan.keys.size() + plan.states.aggregates.size(); ++i) {
    const RegisterInfo& info = i < plan.keys.size() ? table.keys[i] : table.aggregates[i - plan.keys.size()].result;
    columns.push_back({"", info.type});
    ColumnView& form = forms.emplace_back(group_form(plan, table, i));
    if (form.encoding == Encoding::Dictionary)
      form.dictionary = dictionaries[static_cast<size_t>(plan.keys[i].dictionary_column)];
  }
  return std::make_shared<DeviceRowSet>(engine, std::move(columns), std::move(forms), budget);
}

int64_t group_column_bytes(const GroupPlan& plan, const HashTableInfo& table) {
  int64_t bytes = 0;
  for (size_t i = 0; i < plan.keys.size() + plan.states.aggregates.size(); ++i)
    bytes += result_width(plan, table, i) + 1;
  return bytes;
}

}  // namespace diptych::gpu
