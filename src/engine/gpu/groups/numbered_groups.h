// Puts the groups of all batches together on the host, of a hash table whose groups are numbered and that a device has
// filled, and makes a row set of them.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/groups/numbered_batch.h"
#include "engine/gpu/output/host_memory.h"
#include "engine/rows/row_set.h"
#include "program/program.h"

namespace diptych::gpu {

class NumberedGroups {
 public:
  // budget: where memory is reserved; null: nowhere.
  NumberedGroups(const Program& program, const GroupPlan& plan, MemoryBudget* budget);

  const GroupPlan& plan() const { return plan_; }
  const char* form() const {
    return plan_.keys.empty() ? "total" : plan_.place == GroupPlan::Place::Shared ? "shared" : "dense";
  }
  // The groups of another batch of the same section. Errors: 53200.
  void add(GroupWords batch);
  // All of them, for another table of the same plan.
  GroupWords take() { return std::move(groups_); }
  // Rows of keys, then aggregates, in the forms of the registers. Errors: 22003, 53200.
  std::shared_ptr<const RowSet> finish() const;

 private:
  // False: NULL.
  bool read_key(const uint64_t* row, size_t number, std::byte* to) const;
  std::vector<ColumnDefinition> columns() const;

  const HashTableInfo& table_;
  const GroupPlan plan_;
  MemoryBudget* const budget_;
  MemoryReservation reserved_;  // for groups_
  GroupWords groups_;
  bool empty_ = true;
};

}  // namespace diptych::gpu
