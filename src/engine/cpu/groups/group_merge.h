// Merging what threads have grouped: partition by partition, several at a time.
//
//   runs of thread 0   |p0 |p1|p2  |p3|    |p0|p1 |p2|p3 |
//   runs of thread 1   |p0|p1 |p2|p3  |
//   tasks               '--.--' '--.--'     neighbouring partitions whose groups fit a table in the cache, or a part of
//                        table   table      one that is too large: equal keys meet, states are added, rows come out
#pragma once

#include <vector>

#include "engine/cpu/groups/group_runs.h"
#include "engine/rows/host_row_set.h"
#include "engine/run/context.h"

namespace diptych::cpu {

// Adds the groups of all runs to the row set: keys, then aggregates. Without memory for a task, the runs move to their
// files, and then the task is done in halves.
// Errors: 53200, when a smallest task has no room; 53100, 57014, 58030, what adding states raises.
void merge_groups(const HashTableInfo& info, std::vector<RunsOfGroups>& threads, HostRowSet& rows,
                  const ExecutionContext& context, const Memory& memory);

}  // namespace diptych::cpu
