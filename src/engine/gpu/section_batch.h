// Some tablets of a section, from their columns to what the sink made of them.
//
//   start()    columns in place, tablets described, kernel launched: returns while the device works
//   finish()   waits, looks for failures, brings rows or states back
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/gpu/column_segment.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/section_constants.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

// Tablets of a segment, by their number in the source; which of them are needed.
struct SegmentRange {
  size_t first = 0, count = 0;
  int64_t rows_before = 0;  // of the source, before the first tablet
  std::vector<bool> needed;
};

// What a batch's aggregates without groups are: the words of every group of the grid.
struct PartialWords {
  std::vector<uint64_t> words;
  size_t groups = 0;
};

class SectionBatch {
 public:
  SectionBatch(GpuEngine& engine, const SectionTask& task, const std::vector<size_t>& columns, Residency residency);
  ~SectionBatch();
  SectionBatch(const SectionBatch&) = delete;
  SectionBatch& operator=(const SectionBatch&) = delete;

  // False when no kernel can do it: reason says why, and nothing has happened. Errors: 53200, 58000, 58030, XX001.
  bool start(std::vector<SegmentRange> ranges, std::string& reason);
  // Errors: those of the section's rows with their position.
  void finish();

  // Afterwards.
  const SectionKernel& kernel() const { return kernel_; }
  std::vector<SectionRows> take_rows() { return std::move(rows_); }
  const PartialWords& partials() const { return partials_; }
  int64_t rows_in() const { return rows_in_; }
  int64_t rows_out() const { return static_cast<int64_t>(control_.rows_out); }
  int64_t kernel_nanoseconds() const { return kernel_nanoseconds_; }
  const CompileReport& compile_report() const { return compile_report_; }
  int launches() const { return launches_; }

 private:
  void bring_columns();
  void bring_column(const SegmentRange& range, size_t column);
  void find_shape();
  int64_t choose_steps();
  void describe_tablets();
  void allocate_outputs(int64_t capacity);
  void launch_with(int64_t capacity);
  uint64_t word(const KernelParameter& parameter) const;
  void raise_failure() const;
  void fetch_rows();

  GpuEngine& engine_;
  const SectionTask& task_;
  const std::vector<size_t>& columns_;
  const Residency residency_;
  std::unique_ptr<Queue> queue_;
  std::vector<SegmentRange> ranges_;
  std::vector<std::vector<std::shared_ptr<const ColumnSegment>>> segments_;  // by range, then column
  std::vector<std::vector<DeviceAddress>> addresses_;                        // of the segments, for kernels
  std::vector<DeviceBuffer> streamed_;                                       // copies of pinned segments
  SectionShape shape_;
  std::vector<const Dictionary*> dictionaries_;  // by column of the section
  SectionKernel kernel_;
  std::shared_ptr<const Kernel> compiled_;
  CompileReport compile_report_;
  std::optional<SectionConstants> constants_;
  std::vector<uint64_t> descriptions_;
  int64_t tablets_ = 0, tiles_ = 0, tiles_per_tablet_ = 0, rows_in_ = 0;
  int64_t grid_ = 1, groups_ = 0;  // groups that the device runs at once, and that this launch has
  int64_t steps_ = 1;              // of a tile
  DeviceBuffer tablets_buffer_, control_buffer_, status_buffer_, outputs_buffer_, partials_buffer_;
  int64_t capacity_ = 0;
  std::vector<int64_t> output_offsets_, null_offsets_;  // in the outputs' buffer
  std::unique_ptr<DeviceEvent> before_, after_;
  ControlBlock control_;
  std::vector<SectionRows> rows_;
  PartialWords partials_;
  int64_t kernel_nanoseconds_ = 0;
  int launches_ = 0;
  bool started_ = false;
};

}  // namespace diptych::gpu
