// Launches of the kernels of group_kernels.h and kernel/device/group_starts.h.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/groups/group_columns.h"
#include "engine/gpu/groups/group_kernels.h"

namespace diptych::gpu {

// The words of a launch, all 0 at first.
class GroupParameters {
 public:
  explicit GroupParameters(const GroupKernels& kernels) : words_(kernels.parameters, 0) {}
  void set(GroupWord which, uint64_t value) { words_[static_cast<size_t>(which)] = value; }
  void set(GroupWord which, DeviceAddress address) { set(which, address.value); }
  void set(const DevicePiece& result);
  const std::vector<uint64_t>& words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
};

// How a kernel is launched: work-items of a work-group, work-groups that there is work for, bytes of DK_SHARED_ROOM.
struct GroupGrid {
  int items = group_size;
  int64_t groups = 1;
  int64_t shared_room = 0;
};

// Adds the kernels that every batch of a table needs whose groups are partitioned, and those that some need.
void add_group_kernels(const GroupPlan& plan, const HashTableInfo& table, std::vector<KernelText>& always,
                       std::vector<KernelText>& sometimes);

// Errors: 58000.
void launch_group_kernel(GpuEngine& engine, Queue& queue, const KernelText& kernel, const GroupParameters& words,
                         const GroupGrid& grid);

// Turns so many counts into starts, with the end behind them. state: starts_state_bytes(count) of room. highest: a
// number of 32 bits that is 0 and becomes the highest count; address 0: nobody asks.
int64_t starts_state_bytes(int64_t count);
void launch_starts(GpuEngine& engine, Queue& queue, DeviceAddress counts, int64_t count, DeviceAddress state,
                   DeviceAddress highest = {});
void launch_slices(GpuEngine& engine, Queue& queue, DeviceAddress starts, int64_t partitions, int64_t counts,
                   int64_t slice_rows, DeviceAddress first_slices);

}  // namespace diptych::gpu
