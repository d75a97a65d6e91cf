// Reads columns of an index's rows block by block, on all threads of the statement.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "engine/cpu/join/block_column.h"
#include "engine/cpu/join/index_rows.h"
#include "engine/run/context.h"
#include "engine/run/parallel.h"

namespace diptych::cpu {

class RowBlocks {
 public:
  struct Block {
    std::span<const KeyColumn> columns;  // in the order in which they were asked for
    size_t number;                       // below block_count(), the same in every visit, in the rows' order
    int64_t first_row;                   // of those that the index is made of
    int rows;
    size_t worker;  // below the number of threads; no two blocks of one are visited at once
  };

  // All arguments outlive it.
  RowBlocks(const IndexRows& rows, const std::vector<RegisterInfo>& columns, const ExecutionContext& context)
      : source_(*rows.source), slices_(rows.slices), columns_(columns), context_(context) {
    for (const TabletSlice& slice : slices_) {
      first_rows_.push_back(row_count_);
      first_blocks_.push_back(block_count_);
      row_count_ += slice.rows;
      block_count_ += static_cast<size_t>((slice.rows + block_rows - 1) / block_rows);
    }
  }

  int64_t row_count() const { return row_count_; }
  size_t block_count() const { return block_count_; }

  // Calls visit(block) for all blocks with these columns. Errors: 57014, those of reading the rows.
  template <typename Visit>
  void for_each(const std::vector<size_t>& wanted, const Visit& visit) {
    std::atomic<size_t> next{0};
    const auto work = [&](int worker) {
      std::vector<BlockColumn> readers;
      for (const size_t column : wanted) readers.emplace_back(columns_[column].physical);
      for (size_t slice = next++; slice < slices_.size(); slice = next++)
        read_slice(slice, static_cast<size_t>(worker), wanted, readers, visit);
    };
    const auto most = static_cast<int>(std::min<size_t>(slices_.size(), 1024));
    run_parallel(std::clamp(context_.threads, 1, std::max(1, most)), work);
  }

  // The tablets that strings are in which have been read: these stay where they are.
  std::vector<std::unique_ptr<PinnedTablet>> take_texts() { return std::move(pinned_); }

 private:
  template <typename Visit>
  void read_slice(size_t number, size_t worker, const std::vector<size_t>& wanted, std::vector<BlockColumn>& readers,
                  const Visit& visit) {
    const TabletSlice& slice = slices_[number];
    std::vector<KeyColumn> read(readers.size());
    std::unique_ptr<PinnedTablet> pinned = source_.pin(slice.tablet, wanted);
    for (size_t i = 0; i < readers.size(); ++i) readers[i].begin(pinned->views[i]);
    size_t block = first_blocks_[number];
    for (int64_t first = 0; first < slice.rows; first += block_rows, ++block) {
      check_cancelled(context_);
      const int in_block = static_cast<int>(std::min<int64_t>(block_rows, slice.rows - first));
      for (size_t i = 0; i < readers.size(); ++i) read[i] = readers[i].read(slice.first_row + first, in_block);
      visit(Block{read, block, first_rows_[number] + first, in_block, worker});
    }
    const auto is_text = [&](size_t column) { return columns_[column].physical == PhysicalType::Text; };
    if (std::none_of(wanted.begin(), wanted.end(), is_text)) return;
    std::lock_guard guard(mutex_);
    pinned_.push_back(std::move(pinned));
  }

  const TabletSource& source_;
  const std::vector<TabletSlice>& slices_;
  const std::vector<RegisterInfo>& columns_;
  const ExecutionContext& context_;
  std::vector<int64_t> first_rows_;   // by slice
  std::vector<size_t> first_blocks_;  // by slice
  int64_t row_count_ = 0;
  size_t block_count_ = 0;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<PinnedTablet>> pinned_;
};

}  // namespace diptych::cpu
