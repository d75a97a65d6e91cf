// Some tablets of a section, from their columns to what the sink made of them.
//
//   start()    columns in place, tablets described, kernel launched: returns while the device works
//   bring()    waits for the kernel, looks for failures, lets rows come: returns while they are copied
//   finish()   waits for them
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/groups/numbered_batch.h"
#include "engine/gpu/groups/partition_batch.h"
#include "engine/gpu/input/column_segment.h"
#include "engine/gpu/input/section_input.h"
#include "engine/gpu/join/long_rows.h"
#include "engine/gpu/output/report_buffer.h"
#include "engine/gpu/output/row_fetch.h"
#include "engine/gpu/output/text_room.h"
#include "engine/gpu/rows/appended_rows.h"
#include "engine/gpu/section_constants.h"
#include "engine/gpu/section_kernel.h"
#include "engine/gpu/sort/sort_sink.h"

namespace diptych::gpu {

// What a batch's aggregates without groups are: the words of every group of the grid.
struct PartialWords {
  std::vector<uint64_t> words;
  // By aggregate that is a least or greatest string: of each group, where it has one.
  std::map<size_t, std::vector<std::string>> strings;
  size_t groups = 0;
};

// The kernel of the batch before: columns are mostly stored alike in all batches.
struct KernelMemo {
  SectionShape shape;
  std::shared_ptr<const SectionKernel> kernel;
  std::shared_ptr<const Kernel> compiled;
};

// Where a kernel writes a column: in the outputs' buffer on the device, or in pinned memory.
struct OutputPlace {
  DeviceAddress values, nulls;
  PinnedBuffer pinned_values, pinned_nulls;
};

// A launch of more pairs is watched: the host stops it when the statement is cancelled. Reckoned at some 3e11 pairs a
// second of a GPU, which has not been measured, and 1e9 of the host's cores.
inline constexpr double most_unwatched_pairs = 3e10, most_unwatched_pairs_of_a_host = 1e8;

class SectionBatch {
 public:
  SectionBatch(GpuEngine& engine, const SectionTask& task, const std::vector<size_t>& columns, Residency residency,
               KernelChoice choice, bool merges_sorted);
  ~SectionBatch();
  SectionBatch(const SectionBatch&) = delete;
  SectionBatch& operator=(const SectionBatch&) = delete;

  // As long as the kernel of a batch that was started before is not done, this one's time does not count: it takes what
  // that one leaves of the device.
  void follow(const SectionBatch& other) { before_this_ = other.after_; }
  // False when no kernel can do it: reason says why, and nothing has happened. room: rows of output to begin with.
  // is_only: there is no other batch. Errors: 53200, 58000, 58030, XX001.
  bool start(std::shared_ptr<SectionInput> input, int64_t room, bool is_only, KernelMemo& memo, std::string& reason);
  // Loads through the batch's queue.
  InputLoader& loader() { return loader_; }
  // Waits for the kernel, and queues the copies of what it has made, unless a row has failed. Errors: 53200, 58000.
  void bring();
  bool is_brought() const { return is_brought_; }
  // After bring().
  bool has_failed() const { return control().failure != 0; }
  // The dk_error of the first row that failed.
  int32_t failure() const { return static_cast<int32_t>(control().failure & 0xFFFFFFFF); }
  // Errors: that of a row that has failed, with its position.
  [[noreturn]] void raise_failure() const;
  // After bring().
  void finish();

  // Afterwards.
  const std::shared_ptr<const SectionKernel>& kernel() const { return kernel_; }
  std::vector<HostPiece> take_rows() { return std::move(rows_); }
  // Of a section that appends to a row set which is not sorted: its rows, in the device's memory.
  AppendedRows::Batch take_appended();
  // How they were sorted.
  const char* sort_form() const { return finds_first_rows() ? "top" : engine_.sort().form(); }
  // Their words, where batches are merged by them: by word, then row.
  std::vector<std::vector<uint64_t>> take_sort_words() {
    return sort_ ? sort_->take_words() : std::vector<std::vector<uint64_t>>();
  }
  const PartialWords& partials() const { return partials_; }
  // By hash table of the kernel whose groups are numbered, and by those whose are not.
  std::vector<GroupWords> take_groups() { return std::move(groups_found_); }
  std::deque<PartitionBatch>& partitions() { return partitions_; }
  Queue& queue() { return *queue_; }
  const std::vector<const Dictionary*>& dictionaries() const { return input_->dictionaries; }
  int64_t rows_in() const { return input_->rows; }
  int64_t bytes_in() const { return input_->bytes; }
  int64_t rows_out() const { return static_cast<int64_t>(control().rows_out); }
  int64_t kernel_nanoseconds() const { return kernel_nanoseconds_; }
  // Where the section's kernel came from; nullptr: another batch's.
  const char* kernel_origin() const { return kernel_origin_; }

 private:
  const ControlBlock& control() const { return *reinterpret_cast<const ControlBlock*>(control_report_.words()); }
  int64_t expected_rows() const;
  bool find_kernel(KernelMemo& memo, std::string& reason);
  SectionShape shape_with_indexes() const;
  int64_t choose_steps();
  // Of the grids of all launches over the batch's rows.
  int64_t groups_of_launches() const { return kernel_->shares_rows ? 2 * groups_ : groups_; }
  void send_section();
  // Whether the kernel writes its rows straight to where they stay, in pinned memory.
  bool writes_to_host() const;
  void own_strings();
  void allocate_outputs(int64_t capacity);
  void allocate_pinned_outputs(int64_t capacity);
  void launch_with(int64_t capacity);
  uint64_t word(const KernelParameter& parameter) const;
  void bring_output();
  void count_rows();
  void launch_pass(uint32_t pass);
  void launch();
  int64_t most_long_rows() const;
  void launch_until_room();
  bool is_timed() const { return task_.report != nullptr; }
  // Of the kernel, unless it has begun: behind all that the host has to prepare, which the device would wait for.
  void begin_time();
  bool is_watched() const;
  void stop();
  void wait();
  void fetch_partials();
  void count_time();
  bool finds_first_rows() const;
  void find_first_rows();
  void sort_rows();
  std::vector<DeviceAddress> sort_words() const;
  void start_fetch();

  GpuEngine& engine_;
  const SectionTask& task_;
  const Residency residency_;
  const KernelChoice choice_;
  const bool merges_sorted_;  // its sorted rows with those of other batches
  std::unique_ptr<Queue> queue_;
  InputLoader loader_;
  std::shared_ptr<SectionInput> input_;
  std::shared_ptr<TabletDescriptions> tablets_;
  std::shared_ptr<const SectionKernel> kernel_;
  std::shared_ptr<const Kernel> compiled_;
  std::optional<SectionConstants> constants_;
  int64_t grid_ = 1, groups_ = 0;  // groups that the device runs at once, and that this launch has
  int64_t steps_ = 1;              // of a tile
  int64_t shared_room_ = 0;        // of a work-group, beside what the kernel's text declares
  LongRows long_rows_;
  DeviceBuffer section_buffer_;  // what the interpreter runs
  PinnedBuffer section_sent_;
  // Control block, and behind it states of tiles, where rows are written.
  DeviceBuffer control_buffer_;
  DeviceBuffer row_masks_, outputs_buffer_;
  std::vector<CopiedStrings> strings_;  // by output: of rows for a row set
  ReportBuffer control_report_, partials_report_;
  PinnedBuffer stop_;  // a word, where the kernel is watched
  TextRoom text_room_;
  int64_t capacity_ = 0;
  std::vector<OutputPlace> outputs_;  // by column
  // In the outputs' buffer, of each column. bits: of rows that stay, room for their NULLs as bits.
  struct OutputOffsets {
    int64_t values = 0, nulls = 0, bits = 0;
  };
  std::vector<OutputOffsets> output_offsets_;
  std::vector<int64_t> sort_word_offsets_;  // ... and of the words
  std::optional<BatchSort> sort_;
  // Of the kernel; before_: where its time is wanted.
  std::shared_ptr<DeviceEvent> before_, after_;
  std::shared_ptr<DeviceEvent> before_this_;  // see follow()
  bool is_brought_ = false;
  std::optional<RowFetch> fetch_;
  std::vector<HostPiece> rows_;
  PartialWords partials_;
  std::vector<NumberedBatch> numbered_;
  std::deque<PartitionBatch> partitions_;
  uint32_t pass_ = 0;  // of a kernel that partitions rows
  std::vector<GroupWords> groups_found_;
  int64_t kernel_nanoseconds_ = 0;
  const char* kernel_origin_ = nullptr;
};

}  // namespace diptych::gpu
