#include "engine/gpu/groups/group_launch.h"

#include <algorithm>

#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {
namespace {

constexpr int64_t starts_tile = 4 * group_size;

constexpr const char *starts_file = "device/group_starts.h", *starts_entry = "dk_group_starts",
                     *slices_entry = "dk_group_slices";
constexpr size_t starts_words = 5, slices_words = 5;

std::shared_ptr<const Kernel> starts_kernel(Device& device, Queue& queue, const char* entry, size_t words) {
  const PartScope scope(queue.clock(), TimePart::Compile);
  return device.compile(text_kernel(starts_file, entry, words));
}

}  // namespace

void GroupParameters::set(const DevicePiece& result) {
  size_t at = static_cast<size_t>(GroupWord::Count);
  for (const DevicePiece::Column& column : result.columns) {
    const DeviceBuffer& values = column.is_string ? result.string_rows : result.buffer;
    words_[at++] = (values.address() + column.values).value;
    words_[at++] = column.validity < 0 ? 0 : (result.buffer.address() + column.validity).value;
  }
  set(GroupWord::Capacity, static_cast<uint64_t>(result.capacity));
}

void add_group_kernels(const GroupPlan& plan, const HashTableInfo& table, std::vector<KernelText>& always,
                       std::vector<KernelText>& sometimes) {
  always.push_back(plan.kernels->group);
  always.push_back(text_kernel(starts_file, starts_entry, starts_words));
  always.push_back(text_kernel(starts_file, slices_entry, slices_words));
  // Of several batches, or of more groups than shared memory has room for.
  sometimes.insert(sometimes.end(), {plan.kernels->merge, plan.kernels->show});
  for (size_t i = 0; i < plan.keys.size() + plan.states.aggregates.size(); ++i)
    if (is_string_result(plan, table, i)) return add_text_kernels(always);
}

void launch_group_kernel(GpuEngine& engine, Queue& queue, const KernelText& kernel, const GroupParameters& words,
                         const GroupGrid& grid) {
  std::shared_ptr<const Kernel> compiled;
  {
    const PartScope scope(queue.clock(), TimePart::Compile);
    compiled = engine.device().compile(kernel);
  }
  const int64_t most = static_cast<int64_t>(engine.device().info().compute_units) *
                       std::max(1, compiled->groups_per_unit(grid.items, grid.shared_room));
  queue.launch(*compiled, std::clamp<int64_t>(grid.groups, 1, most), grid.items, words.words(), grid.shared_room);
}

int64_t starts_state_bytes(int64_t count) { return (1 + (count + starts_tile - 1) / starts_tile) * 8; }

void launch_starts(GpuEngine& engine, Queue& queue, DeviceAddress counts, int64_t count, DeviceAddress state,
                   DeviceAddress highest) {
  queue.fill(state, 0, starts_state_bytes(count));
  const auto kernel = starts_kernel(engine.device(), queue, starts_entry, starts_words);
  const int64_t tiles = (count + starts_tile - 1) / starts_tile;
  const int64_t grid = static_cast<int64_t>(engine.device().info().compute_units) * 4;
  const uint64_t words[starts_words] = {counts.value, static_cast<uint64_t>(count), state.value, (state + 8).value,
                                        highest.value};
  queue.launch(*kernel, std::clamp<int64_t>(tiles, 1, grid), group_size, words);
}

void launch_slices(GpuEngine& engine, Queue& queue, DeviceAddress starts, int64_t partitions, int64_t counts,
                   int64_t slice_rows, DeviceAddress first_slices) {
  const auto kernel = starts_kernel(engine.device(), queue, slices_entry, slices_words);
  const uint64_t words[slices_words] = {starts.value, static_cast<uint64_t>(partitions), static_cast<uint64_t>(counts),
                                        static_cast<uint64_t>(slice_rows), first_slices.value};
  queue.launch(*kernel, 1, group_size, words);
}

}  // namespace diptych::gpu
