// Merges the sorted rows of batches, and makes a row set of them.
//
//   batch 0   |a c f|          words of each row, which compare in the order of the keys
//   batch 1   |b c d|
//   rows      |a b c c|        up to the limit; of equal rows, those of an earlier batch first
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/rows/host_row_set.h"
#include "program/program.h"

namespace diptych::gpu {

class MergedMemory;

class SortedMerge {
 public:
  // pieces: the rows of the next batch in order; at most one, where there are several batches. words: of the rows, by
  // word; empty where there is one batch.
  void add(std::vector<HostPiece> pieces, std::vector<std::vector<uint64_t>> words) {
    batches_.push_back({std::move(pieces), std::move(words)});
  }
  int64_t batches() const { return static_cast<int64_t>(batches_.size()); }
  // Once. Errors: 53200.
  std::shared_ptr<const RowSet> finish(const RowSetInfo& sorted);

 private:
  struct Batch {
    std::vector<HostPiece> pieces;
    std::vector<std::vector<uint64_t>> words;
  };
  struct Place {
    size_t batch, row;
  };
  std::vector<Place> find_order(int64_t limit) const;
  HostPiece merge(int64_t limit, size_t columns) const;
  ColumnView merge_column(const std::vector<Place>& order, size_t column, MergedMemory& memory) const;
  void merge_values(const std::vector<Place>& order, size_t column, MergedMemory& memory, ColumnView& merged) const;
  void merge_texts(const std::vector<Place>& order, size_t column, MergedMemory& memory, ColumnView& merged) const;
  const ColumnView& view_of(Place at, size_t column) const { return batches_[at.batch].pieces.front().views[column]; }

  std::vector<Batch> batches_;
};

}  // namespace diptych::gpu
