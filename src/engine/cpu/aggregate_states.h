// The states of a hash table's aggregates, of one thread. Of few groups, whose number is known, as columns, which the
// first caches hold one at a time; else as a row for each group, so that what a row of the table changes lies together.
//
//   columns   |sum sum|least least|count count|has has|has has|has has|     of groups 0 and 1
//   rows      |sum least count has has has|sum least count has has has|
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/aggregate_column.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

class AggregateStates {
 public:
  // Rows, which grow.
  explicit AggregateStates(const std::vector<AggregateInfo>& infos);
  // Columns, of so many groups. Errors: 53200.
  AggregateStates(const std::vector<AggregateInfo>& infos, size_t groups, const Memory& memory);

  size_t count() const { return columns_.size(); }
  AggregateColumn& operator[](size_t number) { return *columns_[number]; }
  const AggregateColumn& operator[](size_t number) const { return *columns_[number]; }

  // Of rows: there is room for so many groups; new ones have no value.
  void grow_to(size_t groups);
  // Of rows: the groups, of which there are so many, have no value any more.
  void clear(size_t groups);
  // Adds the states of groups [first, last) of another table of columns. Where no states are strings, threads may do so
  // for ranges of their own at once.
  void merge(const AggregateStates& other, size_t first, size_t last);
  // Adds the states of rows of another table with the same aggregates, from[i] to group to[i]. strings: null, or what
  // the strings of states are positions in.
  void merge_rows(const std::byte* rows, const char* strings, std::span<const uint32_t> from,
                  std::span<const uint32_t> to);

  size_t row_bytes() const { return row_bytes_; }
  const std::byte* row(size_t group) const { return rows_.data() + group * row_bytes_; }
  // Where in a row the states are that are strings.
  const std::vector<size_t>& text_places() const { return text_places_; }
  // Beside columns, which are reserved as they are allocated.
  size_t bytes() const;
  size_t text_bytes() const;

 private:
  void place_rows();
  void place_columns(size_t groups, const Memory& memory);

  std::vector<std::unique_ptr<AggregateColumn>> columns_;
  std::vector<size_t> order_;   // of the states: the widest first, so that none needs room before it
  std::vector<size_t> places_;  // of the states of a row
  std::vector<size_t> text_places_;
  size_t first_flag_ = 0;
  size_t row_bytes_ = 0;
  std::vector<std::byte> rows_;  // these, or ...
  Chunk columns_of_states_;      // ... those
};

}  // namespace diptych::cpu
