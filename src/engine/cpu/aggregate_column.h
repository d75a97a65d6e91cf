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
  // Adds the states of `other`, an AggregateColumn of the same aggregate and size, group by group.
  virtual void merge(const AggregateColumn& other) = 0;
  // Bytes of a state as it stands in a run of groups (group_run.h).
  virtual size_t state_bytes() const = 0;
  // Writes the states of the groups, in this order, and whether a value came.
  virtual void write(std::span<const uint32_t> groups, std::byte* states, uint8_t* has) const = 0;
  // Adds states that write() has written, from[i] into group to[i].
  virtual void read(const std::byte* states, const uint8_t* has, std::span<const uint32_t> from,
                    std::span<const uint32_t> to) = 0;
  // No group has a value any more.
  virtual void clear() = 0;
  // Whether states are dk_texts, whose strings live in the column; read() copies them.
  virtual bool holds_texts() const { return false; }
  virtual size_t text_bytes() const { return 0; }
  // Writes the results of the groups, in the form of the result register; clears the bit of those that are NULL and
  // returns whether there are any.
  virtual bool emit(std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const = 0;
  virtual size_t bytes() const = 0;

 protected:
  // Raises 22003 at the aggregate's place in the statement.
  [[noreturn]] void overflow() const;

 private:
  friend std::unique_ptr<AggregateColumn> make_aggregate_column(const AggregateInfo& info);
  int32_t position_ = -1;
};

std::unique_ptr<AggregateColumn> make_aggregate_column(const AggregateInfo& info);

}  // namespace diptych::cpu
