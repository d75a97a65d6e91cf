// What a section's rows go through when its sink is a row set that is sorted:
//
//   kernel      words and columns of the selected rows, in the order of the input, in device memory
//   DeviceSort  their order, by the words; of few rows that are wanted it is queued with the kernel (TopRows)
//   batch       column by column: gathered in that order and copied to the host, in pieces of a row set
//   SortedMerge   the pieces of several batches merged (sorted_merge.h)
//
// There are several batches only where a limit keeps them short: a sort of all rows takes all tablets in one batch, and
// is the CPU's where these make more pairs than a launch takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/run/section_task.h"
#include "program/program.h"

namespace diptych::gpu {

// The rows of one batch, on the device. The engine and the queue outlive it.
class BatchSort {
 public:
  BatchSort(GpuEngine& engine, Queue& queue) : engine_(engine), queue_(queue) {}

  // limit: rows that are wanted, -1: all. Errors: 53200, 58000; 57014.
  void sort(const SortInput& input, int64_t limit, const ExecutionContext& context);
  // Queues the same for a small limit; rows() are as many as may be, until cut() says how many there are.
  void find_first(const TopInput& input, int64_t limit);
  void cut(int64_t rows) { rows_ = std::min(rows, rows_); }
  // Afterwards: how many there are in order,
  int64_t rows() const { return rows_; }
  // where a column of them is, for work that is queued before the next call,
  DeviceAddress in_order(int width, DeviceAddress column);
  // and their words, on the host once the queue is done.
  void fetch_words(std::span<const DeviceAddress> words);
  std::vector<std::vector<uint64_t>> take_words() { return std::move(words_); }

 private:
  void make_room();
  DeviceAddress order() const { return first_ ? first_->order() : order_.address(); }

  GpuEngine& engine_;
  Queue& queue_;
  DeviceBuffer order_, gathered_;
  std::optional<TopRows> first_;
  int64_t rows_ = 0;
  std::vector<std::vector<uint64_t>> words_;
};

// The row set with keys that the section behind the Parallel at `address` appends to; nullptr: it has another sink.
const RowSetInfo* sorted_set_of(const Program& program, int32_t address);

bool has_text_key(const RowSetInfo& sorted);

// Whether the first rows are found before the host knows how many there are: few are wanted, and words order them.
bool finds_first_rows(const SectionKernel& kernel, const RowSetInfo& sorted);

// Whether batches can be sorted each by itself, and merged: so many rows are wanted only, and their words compare
// across batches, which the ranks of strings in a growing dictionary do not.
bool can_be_merged(const RowSetInfo& sorted);

}  // namespace diptych::gpu
