// The groups of one hash table out of all batches of a section: what each batch has completed, and one table for the
// groups that may have come in several, or that shared memory had no room for. Where the device has no room for that
// table, rows of states wait in host memory, and passes over them make a part of the groups each, which go to the host
// as well.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/gpu/groups/partition_batch.h"
#include "engine/gpu/output/host_memory.h"
#include "engine/gpu/rows/device_row_set.h"

namespace diptych::gpu {

class GroupParameters;

class PartitionedGroups {
 public:
  // The engine, the table and the context outlive it.
  PartitionedGroups(GpuEngine& engine, GroupPlan plan, const HashTableInfo& table, const ExecutionContext& context)
      : engine_(engine), plan_(std::move(plan)), table_(table), context_(context) {}

  // After the batch's group_again() has returned false. Errors: 22003 of an aggregate, 53200, 58000.
  void add(PartitionBatch& batch, Queue& queue);
  // What another section has found of the same table.
  void add(PartitionedGroups&& other);
  // Rows of keys, then aggregates, in pieces. Waits for the queue. Errors: 22003 of an aggregate, 53200, 57014, 58000.
  void finish(Queue& queue, DeviceRowSet& to);
  // Of device memory, at most, that finish() takes of so many bytes to plan with.
  int64_t finish_bytes(int64_t room) const;
  // What waits to be merged leaves the device. Errors: 53200, 58000.
  void move_to_host(Queue& queue);
  const GroupPlan& plan() const { return plan_; }
  // Of the batches so far.
  const FormProfile& form() const { return form_; }

 private:
  struct States {
    DeviceBuffer rows;
    PinnedBuffer moved;  // where they are, if not on the device
    std::unique_ptr<MemoryReservation> reserved;
    int64_t count = 0;
    std::vector<DeviceBuffer> strings;
  };
  // Rows of states whose hashes begin with these bits.
  struct Pass {
    uint64_t number = 0;
    int bits = 0;
  };
  void check(const GroupControl& control) const;
  int64_t state_bytes(int64_t rows) const { return rows * static_cast<int64_t>(plan_.kernels->state_row) * 8; }
  int64_t expected_rows(const Pass& pass) const;
  // Bytes of the table and of the result that a group takes.
  int64_t group_bytes() const;
  bool may_fit(const Pass& pass) const;
  void make(Queue& queue, const Pass& pass, DeviceRowSet& to);
  bool try_make(Queue& queue, const Pass& pass, DeviceRowSet& to);
  void merge(Queue& queue, GroupParameters& words);

  GpuEngine& engine_;
  const GroupPlan plan_;
  const HashTableInfo& table_;
  const ExecutionContext& context_;
  std::vector<DevicePiece> pieces_;
  std::vector<States> states_;
  int64_t rows_ = 0, state_rows_ = 0;
  int64_t held_bytes_ = 0;  // of states, on the device
  FormProfile form_{.form = "partitioned"};
};

}  // namespace diptych::gpu
