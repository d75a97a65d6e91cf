// The one group of a section without keys: what the groups of a kernel's grid have found, put together on the host.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/generator/aggregate_state.h"
#include "engine/gpu/section_batch.h"

namespace diptych::gpu {

// One row: the aggregates of the kernel's hash table. Errors: 22003.
std::shared_ptr<const TabletSource> combine_totals(const Program& program, const SectionKernel& kernel,
                                                   const std::vector<PartialWords>& partials);

}  // namespace diptych::gpu
