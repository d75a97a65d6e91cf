// What the Groups cursor shows of a hash table that a device has filled: the groups of all batches, put together on the
// host by their keys.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/output/group_buffer.h"
#include "engine/gpu/output/host_bytes.h"
#include "program/program.h"
#include "tablet/tablet_source.h"

namespace diptych::gpu {

class GroupRows {
 public:
  // dictionaries: by column of the section. budget: where memory is reserved; null: nowhere.
  GroupRows(const Program& program, const GroupPlan& plan, std::vector<const Dictionary*> dictionaries,
            MemoryBudget* budget);

  // The groups of another batch of the same section. Errors: 53200.
  void add(GroupWords batch);
  // Rows of keys, then aggregates, in the forms of the registers; strings are those of the dictionaries. Errors: 22003,
  // 53200.
  std::shared_ptr<const TabletSource> finish() const;

 private:
  void index_groups();
  size_t find(const uint64_t* key);
  uint64_t hash(const uint64_t* key) const;
  // False: NULL.
  bool read_key(const uint64_t* row, size_t number, std::byte* to) const;
  std::vector<ColumnDefinition> columns() const;

  const Program& program_;
  const HashTableInfo& table_;
  const GroupPlan plan_;
  const std::vector<const Dictionary*> dictionaries_;
  MemoryBudget* const budget_;
  HostBytes reserved_;  // for groups_
  GroupWords groups_;
  bool empty_ = true;
  std::vector<uint32_t> index_;  // with several batches: open addressing, number of a group + 1; 0: none
};

}  // namespace diptych::gpu
