#include "engine/gpu/groups/group_strings.h"

#include <algorithm>

#include "engine/gpu/groups/group_kernels.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/rows/copied_strings.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

std::vector<StringPlace> strings_in_states(const GroupPlan& plan, const HashTableInfo& table) {
  std::vector<StringPlace> places;
  for (const GroupKeyPlan& key : plan.keys) {
    if (key.is_string()) places.push_back({key.carried, key.word, 0});
  }
  for (size_t i = 0; i < plan.states.aggregates.size(); ++i) {
    const size_t first = plan.key_words + plan.states.aggregates[i].first_word;
    if (is_string_result(plan, table, plan.keys.size() + i)) places.push_back(string_of_extreme(first));
  }
  return places;
}

// Makes text rows of the strings at one place of the states, and returns the words that place them again.
std::vector<uint64_t> take_strings(Device& device, Queue& queue, const StringStates& states, const StringPlace& place,
                                   DeviceAddress rows) {
  std::vector<uint64_t> words = {states.address.value,
                                 static_cast<uint64_t>(states.count),
                                 states.words,
                                 place.address,
                                 place.length,
                                 place.more,
                                 rows.value};
  launch_text_kernel(device, queue, "device/group_strings.h", "dk_take_strings", states.count, words);
  return words;
}

}  // namespace

void own_strings(GpuEngine& engine, Queue& queue, DevicePiece& result) {
  for (DevicePiece::Column& column : result.columns) {
    if (!column.is_string || result.rows == 0) continue;
    CopiedStrings copied;
    const WhenDone when_done{queue};
    copied = copy_strings(engine.device(), queue, result.string_rows.address() + column.values, result.rows);
    queue.synchronize();
    column.strings = std::move(copied.strings);
    column.heap = copied.heap;
    column.heap_bytes = copied.heap_bytes;
  }
  result.string_rows = DeviceBuffer();
}

std::vector<DeviceBuffer> own_strings(GpuEngine& engine, Queue& queue, const GroupPlan& plan,
                                      const HashTableInfo& table, DeviceAddress address, int64_t count) {
  std::vector<DeviceBuffer> owned;
  const StringStates states = {address, count, plan.kernels->state_row};
  Device& device = engine.device();
  for (const StringPlace& place : strings_in_states(plan, table)) {
    if (count == 0) break;
    const DeviceBuffer rows = device.allocate(count * 16, "strings of groups");
    CopiedStrings copied;
    const WhenDone when_done{queue};
    std::vector<uint64_t> words = take_strings(device, queue, states, place, rows.address());
    copied = copy_strings(device, queue, rows.address(), count);
    words.push_back(copied.starts.address().value);
    words.push_back((copied.strings.address() + copied.heap).value);
    launch_text_kernel(device, queue, "device/group_strings.h", "dk_place_strings", count, words);
    queue.synchronize();
    owned.push_back(std::move(copied.strings));
  }
  return owned;
}

std::vector<std::string> fetch_strings(GpuEngine& engine, Queue& queue, const StringStates& states,
                                       const StringPlace& place) {
  Device& device = engine.device();
  const DeviceBuffer rows = device.allocate(states.count * 16, "strings of totals");
  const WhenDone when_done{queue};
  take_strings(device, queue, states, place, rows.address());
  const TextFetch texts(device, queue, rows.address(), states.count);
  std::vector<std::string> strings;
  for (int64_t i = 0; i < states.count; ++i) {
    ColumnView view;
    texts.show(i / TextFetch::piece_rows, view);
    const uint32_t* offsets = view.offsets + i % TextFetch::piece_rows;
    strings.emplace_back(view.heap + offsets[0], offsets[1] - offsets[0]);
  }
  return strings;
}

}  // namespace diptych::gpu
