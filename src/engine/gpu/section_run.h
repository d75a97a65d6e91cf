// Runs one parallel section on a device: divides its tablets into batches and puts together what they give.
//
//   tablets  |0..63 |64..127|128..191|...      segments
//   batches  cached, mapped: all in one; serial: one segment after the other; streamed: several at once
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/group_rows.h"
#include "engine/gpu/section_batch.h"

namespace diptych::gpu {

class SectionRun {
 public:
  SectionRun(GpuEngine& engine, const SectionTask& task, Residency residency, KernelChoice choice);
  std::optional<SectionResult> run(std::string& reason);

 private:
  bool find_input();
  void keep_input(const std::shared_ptr<SectionInput>& input);
  void find_ranges();
  // Columns stay where they are after the statement, in one batch.
  bool stays() const {
    return (residency_ == Residency::Cached || residency_ == Residency::Mapped) && task_.wanted < 0;
  }
  InputCache::Place place() const {
    return residency_ == Residency::Cached ? InputCache::Place::Device : InputCache::Place::Pinned;
  }
  std::vector<std::vector<SegmentRange>> divide() const;
  void collect(SectionBatch& batch);
  bool has_enough() const { return task_.wanted >= 0 && rows_ >= task_.wanted; }
  void finish_totals();
  void collect_groups(SectionBatch& batch);
  void finish_groups();
  void check_cancelled() const;

  GpuEngine& engine_;
  const SectionTask task_;
  const Residency residency_;
  const KernelChoice choice_;
  std::vector<size_t> columns_;
  std::vector<SegmentRange> ranges_;
  std::shared_ptr<SectionInput> input_;  // of the whole source, when it was ready
  SectionResult result_;
  SectionKernel kernel_;  // of the last batch: what its sinks are
  std::vector<PartialWords> partials_;
  std::vector<SortedRun> sorted_;
  std::deque<GroupRows> groups_;  // by hash table that the kernel groups
  int64_t rows_ = 0;              // of the result
};

}  // namespace diptych::gpu
