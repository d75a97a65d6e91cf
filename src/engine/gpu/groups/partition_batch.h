// The groups of one hash table out of one batch of a section, by partitions, in device memory.
//
//   starts   |counts of all partitions and groups of the grid, then where their rows start|
//   rows     |partition 0|partition 1| ...        group_row.h
//   result   |column 0: values, validity|column 1| ...        of groups that are complete
//   states   |key words, states|key words, states| ...        of groups that may come again
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/groups/group_columns.h"
#include "engine/gpu/groups/group_kernels.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

class PartitionBatch {
 public:
  // rows: how many are expected. is_complete: no others come.
  PartitionBatch(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table, int64_t rows, bool is_complete);

  // Work-groups of the section's kernel: so many that what they write to at a time stays in the device's cache.
  int64_t most_groups() const;
  // Has the section's kernel keep rows in shared memory, if that has room for those of a step; returns the bytes of its
  // DK_SHARED_ROOM.
  int64_t stage(int64_t step_rows);
  // Before the first pass of the section's kernel, in so many groups. Errors: 53200.
  void begin(int64_t grid_groups);
  // Before the second pass: for at most so many rows. Errors: 53200, they are more than 32 bits number.
  void make_room_for(int64_t rows);
  // Between its passes.
  void place_rows(Queue& queue);
  // Behind the second one: groups the rows.
  void group(Queue& queue);
  // Once the queue is through: grouped again, with more room, where there was too little; false: there was enough.
  bool group_again(Queue& queue);
  // After that has returned false, before the batch's columns are given back: strings get memory of their own. Waits
  // for the queue. Errors: 53200, 58000.
  void own_strings(Queue& queue);
  // The value of a parameter of kind Group of this table.
  uint64_t word(const KernelParameter& parameter, uint32_t pass) const;

  // Once the queue is through.
  const GroupControl& control() const { return *reinterpret_cast<const GroupControl*>(report_.data()); }
  DevicePiece take_result() { return std::move(result_); }
  DeviceBuffer take_states() { return std::move(states_); }
  // What their strings are in.
  std::vector<DeviceBuffer> take_strings() { return std::move(strings_); }
  const GroupPlan& plan() const { return plan_; }
  int64_t rows() const { return rows_; }
  int partition_bits() const { return bits_; }
  // That a work-group takes at a time, at most.
  int64_t slice_rows() const;

 private:
  int64_t partitions() const { return int64_t{1} << bits_; }
  int64_t most_possible_groups() const;
  int64_t table_bytes() const;
  int64_t shared_slots() const;
  void make_room(int64_t groups, int64_t state_rows);

  GpuEngine& engine_;
  const GroupPlan& plan_;
  const HashTableInfo& table_;
  int64_t rows_;
  const bool is_complete_;
  int bits_ = 0;
  int64_t staged_rows_ = 0;  // that a work-group of the section's kernel has room for
  int64_t counts_ = 0;       // of a partition
  int64_t capacity_ = 0, state_capacity_ = 0;
  DeviceBuffer starts_, rows_buffer_, states_, control_;
  DevicePiece result_;
  std::vector<DeviceBuffer> strings_;
  PinnedBuffer report_;
};

}  // namespace diptych::gpu
