// Groups as a row set in device memory: keys, then aggregates. Their strings get memory of their own in
// group_strings.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/rows/device_row_set.h"
#include "program/program.h"

namespace diptych::gpu {

// Room for so many groups, all of which are valid at first. Errors: 53200.
DevicePiece allocate_groups(Device& device, Queue& queue, const GroupPlan& plan, const HashTableInfo& table,
                            int64_t capacity);
// How column `i` of groups is stored (but for the dictionary).
ColumnView group_form(const GroupPlan& plan, const HashTableInfo& table, size_t i);
// A row set without pieces. dictionaries: by column of the section, of strings that are codes. budget: of copies in
// host memory; null: none.
std::shared_ptr<DeviceRowSet> make_group_set(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table,
                                             const std::vector<const Dictionary*>& dictionaries, MemoryBudget* budget);
// Bytes of a row.
int64_t group_column_bytes(const GroupPlan& plan, const HashTableInfo& table);

}  // namespace diptych::gpu
