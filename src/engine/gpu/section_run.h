// Runs one parallel section on a device: divides its tablets into batches and puts together what they give.
//
//   tablets  |0..63 |64..127|128..191|...      segments
//   batches  cached, mapped: all in one; serial: one segment after the other; streamed: several at once
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/section_batch.h"

namespace diptych::gpu {

class SectionRun {
 public:
  SectionRun(GpuEngine& engine, const SectionTask& task, Residency residency);
  std::optional<SectionResult> run(std::string& reason);

 private:
  void find_ranges();
  std::vector<std::vector<SegmentRange>> divide() const;
  void collect(SectionBatch& batch);
  bool has_enough() const { return task_.wanted >= 0 && rows_ >= task_.wanted; }
  void finish_totals();
  void check_cancelled() const;

  GpuEngine& engine_;
  const SectionTask task_;
  const Residency residency_;
  std::vector<size_t> columns_;
  std::vector<SegmentRange> ranges_;
  SectionResult result_;
  SectionKernel kernel_;  // of the last batch: what its sinks are
  std::vector<PartialWords> partials_;
  int64_t rows_ = 0;  // of the result
};

}  // namespace diptych::gpu
