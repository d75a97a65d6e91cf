// The groups of one hash table out of all batches of a section: what each batch has completed, and one table for the
// groups that may have come in several, or that shared memory had no room for.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/groups/partition_batch.h"

namespace diptych::gpu {

class PartitionedGroups {
 public:
  PartitionedGroups(GpuEngine& engine, GroupPlan plan, const HashTableInfo& table)
      : engine_(engine), plan_(std::move(plan)), table_(table) {}

  // After the batch's group_again() has returned false.
  void add(PartitionBatch& batch);
  // What another section has found of the same table.
  void add(PartitionedGroups&& other);
  // Rows of keys, then aggregates, in pieces. Waits for the queue. Errors: 22003 of an aggregate, 53200, 58000.
  std::vector<GroupColumns> finish(Queue& queue);
  const GroupPlan& plan() const { return plan_; }
  int launches() const { return launches_; }

 private:
  struct States {
    DeviceBuffer rows;
    int64_t count = 0;
    std::vector<DeviceBuffer> strings;
  };
  void check(const GroupControl& control) const;

  GpuEngine& engine_;
  const GroupPlan plan_;
  const HashTableInfo& table_;
  std::vector<GroupColumns> pieces_;
  std::vector<States> states_;
  int64_t rows_ = 0, state_rows_ = 0;
  int launches_ = 0;
};

}  // namespace diptych::gpu
