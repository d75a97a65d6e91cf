// Runs one parallel section on a device: takes its tablets in batches and puts together what they give.
//
//   tablets  |0..63 |64..127|128..191|...      segments, in which columns are kept
//   batches  see batch_sizes.h; but in serial residency several are under way at once
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/batch_sizes.h"
#include "engine/gpu/groups/numbered_groups.h"
#include "engine/gpu/groups/partitioned_groups.h"
#include "engine/gpu/rows/appended_rows.h"
#include "engine/gpu/section_batch.h"
#include "engine/gpu/sort/sorted_merge.h"
#include "engine/run/tablet_queue.h"

namespace diptych::gpu {

// A section's part of a statement's progress, which is taken back unless the section is done.
class ProgressPart {
 public:
  explicit ProgressPart(Progress* progress) : progress_(progress) {}
  ProgressPart(const ProgressPart&) = delete;
  ProgressPart& operator=(const ProgressPart&) = delete;
  ~ProgressPart() { add(-total_, -done_); }
  void add(int64_t total, int64_t done) {
    if (progress_ == nullptr) return;
    progress_->rows_total += total;
    progress_->rows_done += done;
    total_ += total;
    done_ += done;
  }
  void keep() { total_ = done_ = 0; }

 private:
  Progress* progress_;
  int64_t total_ = 0, done_ = 0;
};

class DeviceGroups;

class SectionRun final : public StartedSection {
 public:
  SectionRun(GpuEngine& engine, const SectionTask& task, Residency residency, KernelChoice choice);
  // As GpuEngine::start(). before: what was started last; null: nothing was.
  bool start(const SectionRun* before);
  Device& device() const override { return engine_.device(); }
  std::optional<SectionResult> finish(std::string& reason) override { return run(reason); }
  // All of it, or what start() has left.
  std::optional<SectionResult> run(std::string& reason);

 private:
  bool find_rows();
  bool find_input();
  void find_tablets();
  // What it needs of the device.
  void wish();
  void enter();
  bool enter_beside(const SectionRun* before);
  // Launches the next batch's kernel.
  enum class Next { Launched, NoneLeft, NoKernel };
  Next launch_next(std::string& reason);
  BatchSizes::Section planned_with(int64_t room) const;
  std::vector<DeviceGroups*> begun_groups() const;
  bool has_rows_there() const;
  void leave_device();
  BatchSizes::Section describe_section();
  std::shared_ptr<SectionInput> next_input(InputLoader& loader);
  void load_all(InputLoader& loader);
  int64_t rows_of_a_launch() const;
  bool takes_one_launch() const;
  bool merges_sorted() const;
  bool needs_one_launch() const;
  bool can_be_cancelled() const;
  // Pairs of a launch that still ends soon enough when the statement is cancelled.
  double most_cancelled_pairs() const;
  std::optional<size_t> section_hash();
  void note_share();
  std::vector<SegmentRange> segments_of(const TabletRun& run);
  // Columns stay where they are after the statement, all of them.
  bool stays() const {
    const bool may_stay = residency_ == Residency::Cached || residency_ == Residency::Mapped;
    return may_stay && task_.wanted < 0 && task_.queue == nullptr;
  }
  InputCache::Place place() const {
    return residency_ == Residency::Cached ? InputCache::Place::Device : InputCache::Place::Pinned;
  }
  // Nothing where it is done already, or not needed any more.
  void bring(SectionBatch& batch);
  void collect(SectionBatch& batch);
  bool has_enough() const { return left_to_cpu_ != nullptr || (task_.wanted >= 0 && rows_ >= task_.wanted); }
  // What the batches have made.
  void put_together();
  void finish_rows();
  void finish_totals();
  DeviceGroups& open_groups(int32_t table);
  void collect_groups(SectionBatch& batch);
  void finish_groups();

  GpuEngine& engine_;
  const SectionTask task_;
  Residency residency_;
  const KernelChoice choice_;
  std::vector<size_t> columns_;
  std::optional<size_t> hash_;  // see section_hash()
  std::optional<TabletQueue> own_queue_;
  TabletQueue* queue_;                                // that, or the one that is shared
  std::deque<size_t> firsts_;                         // of the tablets of each batch under way
  int64_t rows_needed_ = 0;                           // of the tablets in it at first
  size_t passed_tablets_ = 0;                         // of the source, before the segment that a batch began with last
  int64_t passed_rows_ = 0;                           // of these
  TabletRun all_tablets_;                             // that are in it at first
  BatchSizes::Section section_;                       // what it needs, but for memory_bytes
  DeviceReservations::Wish wish_;                     // the same
  std::shared_ptr<DeviceReservations::Place> place_;  // on the device, among other statements
  std::optional<BatchSizes> sizes_;
  std::shared_ptr<SectionInput> input_;  // of all of them, where columns stay
  SectionResult result_;
  // Of the last batch: what its sinks are. Without any batch: none.
  std::shared_ptr<const SectionKernel> kernel_ = std::make_shared<SectionKernel>();
  std::vector<PartialWords> partials_;
  SortedMerge sorted_;
  AppendedRows appended_;
  std::deque<NumberedGroups> numbered_;          // by hash table that the kernel groups, where groups are numbered
  std::deque<PartitionedGroups> partitioned_;    // ... and where they are not
  std::vector<const Dictionary*> dictionaries_;  // by column of the section
  size_t passed_batches_ = 0;
  int64_t rows_ = 0;                   // that batches have found, in a section with a result
  const bool may_stop_early_;          // before its last row
  const char* left_to_cpu_ = nullptr;  // why, once a row was met that only the CPU can do
  ProgressPart progress_;
  bool is_started_ = false;          // the first batch is under way, and the host has done other things since
  int64_t started_nanoseconds_ = 0;  // that took
  KernelMemo memo_;
  std::deque<std::unique_ptr<SectionBatch>> running_;  // last: batches use the others
};

}  // namespace diptych::gpu
