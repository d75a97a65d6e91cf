// Groups as pieces of a row set: keys, then aggregates.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/rows/host_row_set.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

// Writes key `key` of the groups in register form, clears the bit of those that are NULL and returns whether there are
// any.
using KeyEmitter = std::function<bool(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid)>;

// They hold no addresses. Errors: 53200.
std::vector<HostPiece> make_group_pieces(const HashTableInfo& info, std::span<const uint32_t> groups,
                                         const KeyEmitter& emit_key, const AggregateStates& states,
                                         const Memory& memory);

}  // namespace diptych::cpu
