// One aggregate of a hash table, of one thread: what it does with the states of groups, which aggregate_states.h keeps.
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

// Where the states of an aggregate are: that of group i is i strides further on, as is whether a value came for it.
template <typename Byte>
struct PlacesOfStates {
  Byte* states = nullptr;
  Byte* has = nullptr;  // 1: a value came; without one the result is NULL (counts are 0)
  size_t stride = 0, has_stride = 0;
};

class AggregateColumn {
 public:
  virtual ~AggregateColumn() = default;
  virtual size_t state_bytes() const = 0;
  virtual size_t alignment() const = 0;
  // Where its states are from now on. Bytes of 0 are a state without a value.
  void place(const PlacesOfStates<std::byte>& places) { places_ = places; }
  const PlacesOfStates<std::byte>& places() const { return places_; }
  // The wanted rows, none of them NULL and at least one, go into one group...
  virtual void add(const AggregateInput& input, const RowMask& rows, uint32_t group) = 0;
  // ... or each into the group numbers[row].
  virtual void scatter(const AggregateInput& input, const RowMask& rows, const uint32_t* numbers) = 0;
  // Adds states of the same aggregate, from[i] into group to[i]. strings: null, or what strings are positions in.
  virtual void merge(const PlacesOfStates<const std::byte>& others, const char* strings, std::span<const uint32_t> from,
                     std::span<const uint32_t> to) = 0;
  // Forgets what its states were that is not in them.
  virtual void clear() {}
  // Whether states are dk_texts, whose strings the aggregate keeps.
  virtual bool holds_texts() const { return false; }
  virtual size_t text_bytes() const { return 0; }
  // Writes the results of the groups, in the form of the result register; clears the bit of those that are NULL and
  // returns whether there are any.
  virtual bool emit(std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const = 0;

 protected:
  // Raises 22003 at the aggregate's place in the statement.
  [[noreturn]] void overflow() const;
  PlacesOfStates<std::byte> places_;

 private:
  friend std::unique_ptr<AggregateColumn> make_aggregate_column(const AggregateInfo& info);
  int32_t position_ = -1;
};

std::unique_ptr<AggregateColumn> make_aggregate_column(const AggregateInfo& info);

}  // namespace diptych::cpu
