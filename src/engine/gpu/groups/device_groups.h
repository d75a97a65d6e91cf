// A hash table that several sections fill, on a device: what each of them has found is kept apart from the others'
// until all are through.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/gpu/groups/numbered_groups.h"
#include "engine/gpu/groups/partitioned_groups.h"
#include "engine/gpu/output/totals.h"
#include "engine/run/section_task.h"

namespace diptych::gpu {

class DeviceGroups final : public OpenGroups {
 public:
  // All of them outlive it.
  DeviceGroups(GpuEngine& engine, const Program& program, const ExecutionContext& context)
      : engine_(engine), program_(program), context_(context) {}

  // What a section has found of numbered groups, or of the one group of a table without keys. Errors: 53200; 58000
  // where sections before have numbered them, and this one has not, or the other way round.
  void add(const GroupPlan& plan, GroupWords words);
  // ... of the one group of a table without keys whose states have strings or intervals.
  void add(int32_t hash_table, std::vector<PartialWords> totals);
  // ... of others. dictionaries: see make_group_set().
  void add(PartitionedGroups&& groups, const std::vector<const Dictionary*>& dictionaries);

  // What is on the device leaves it. Errors: 53200, 58000.
  void move_to_host();

  Device& device() const override { return engine_.device(); }
  FormProfile form() const override;
  std::shared_ptr<const RowSet> close() override;

 private:
  GpuEngine& engine_;
  const Program& program_;
  const ExecutionContext& context_;
  std::optional<NumberedGroups> numbered_;
  std::optional<PartitionedGroups> partitioned_;
  int32_t totals_of_ = -1;  // the hash table of totals_
  std::vector<PartialWords> totals_;
  int64_t parts_ = 0;  // of numbered_ and totals_
  std::vector<const Dictionary*> dictionaries_;
};

// The groups that partitions have become. budget: see DeviceRowSet.
std::shared_ptr<const RowSet> finish_partitioned(GpuEngine& engine, Queue& queue, const Program& program,
                                                 PartitionedGroups& groups,
                                                 const std::vector<const Dictionary*>& dictionaries,
                                                 MemoryBudget* budget);

}  // namespace diptych::gpu
