// Memory of their own for the strings that groups point to: those of the columns of a batch, or of what a kernel made,
// are gone before the groups are.
//
//   column of a result   |address, length| ...   ->   |offsets|bytes|                 as Encoding::Heap has them
//   rows of states       | .. address .. | ...   ->   addresses in |bytes|
#pragma once

#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/groups/group_columns.h"

namespace diptych::gpu {

// Of the rows of the result. Waits for the queue. Errors: 53200, also when the strings of a column are more than
// offsets can tell; 58000.
void own_strings(GpuEngine& engine, Queue& queue, GroupColumns& result);

// Of so many rows of states of groups: returns the memory that they point to from now on. Waits for the queue.
// Errors: as above.
std::vector<DeviceBuffer> own_strings(GpuEngine& engine, Queue& queue, const GroupPlan& plan,
                                      const HashTableInfo& table, DeviceAddress states, int64_t count);

}  // namespace diptych::gpu
