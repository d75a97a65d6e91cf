// The one group of a section without keys: what the groups of a kernel's grid have found, put together on the host.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/generator/aggregate_state.h"
#include "engine/gpu/section_batch.h"

namespace diptych::gpu {

// The states of all of them, as those of the group that has number 0.
GroupWords total_states(const StatesLayout& layout, const std::vector<PartialWords>& partials);
// One row: the aggregates of the hash table. Errors: 22003.
std::shared_ptr<const RowSet> combine_totals(const Program& program, int32_t hash_table,
                                             const std::vector<PartialWords>& partials);

}  // namespace diptych::gpu
