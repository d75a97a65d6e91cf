// The states of one aggregate for all groups of a hash table, of one thread.
//
//   group     0      1      2
//   state     350    17     0        sum, count, least, ...
//   has       1      1      0        a value came; without one the result is NULL (counts are 0)
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/frame.h"

namespace diptych::cpu {

// What an aggregate takes: a register's values. `argument` is null for CountStar.
struct AggregateInput {
  const Slot* argument;
  int words;
  int position;  // in the statement, for errors
};

class AggregateColumn {
 public:
  virtual ~AggregateColumn() = default;
  // There are now so many groups; new ones have no value.
  virtual void resize(size_t groups) = 0;
  // The wanted rows, none of them NULL and at least one, go into one group...
  virtual void add(const AggregateInput& input, const RowMask& rows, uint32_t group) = 0;
  // ... or each into the group numbers[row].
  virtual void scatter(const AggregateInput& input, const RowMask& rows, const uint32_t* numbers) = 0;
  // Adds the states of `other`, an AggregateColumn of the same aggregate: its group from[i] into group to[i].
  virtual void merge(const AggregateColumn& other, std::span<const uint32_t> from, std::span<const uint32_t> to) = 0;
  // Writes the results of the groups, in the form of the result register; clears the bit of those that are NULL and
  // returns whether there are any.
  virtual bool emit(std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const = 0;
  virtual size_t bytes() const = 0;
};

std::unique_ptr<AggregateColumn> make_aggregate_column(const AggregateInfo& info);

}  // namespace diptych::cpu
