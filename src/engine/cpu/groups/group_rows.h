// Groups as rows of tablets: keys, then aggregates.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/aggregate_states.h"
#include "engine/rows/block_source.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

// A tablet to be. It holds no address.
struct GroupRows {
  int64_t rows = 0;
  std::vector<ColumnView> views;
  std::vector<Chunk> chunks;

  void add_to(BlockSource& source) { source.add(rows, std::move(views), std::move(chunks)); }
};

// Writes key `key` of the groups in register form, clears the bit of those that are NULL and returns whether there are
// any.
using KeyEmitter = std::function<bool(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid)>;

// Errors: 53200.
std::vector<GroupRows> make_group_rows(const HashTableInfo& info, std::span<const uint32_t> groups,
                                       const KeyEmitter& emit_key, const AggregateStates& states, const Memory& memory);

}  // namespace diptych::cpu
