// Brings the columns that a section reads to where its kernel finds them, by residency, and describes the tablets.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/input/input_cache.h"
#include "engine/run/tablet_queue.h"

namespace diptych::gpu {

class InputLoader {
 public:
  // All of them live longer.
  InputLoader(GpuEngine& engine, const TabletSource& source, const std::vector<size_t>& columns, Residency residency,
              Queue& queue)
      : engine_(engine), source_(source), columns_(columns), residency_(residency), queue_(queue) {}

  // All tablets of the source, where segments stay.
  std::vector<SegmentRange> all_ranges() const;

  // earlier: of another state of the table, of which it has the ranges that are the same; null: there is none. Copies
  // may still be under way in the queue. Errors: 53200, 58000, 58030, XX001.
  std::shared_ptr<SectionInput> load(std::vector<SegmentRange> ranges, std::shared_ptr<SectionInput> earlier = nullptr);
  // The same of all tablets, and described as the earlier one; null: more has changed than should be brought unasked.
  std::shared_ptr<SectionInput> follow(const std::shared_ptr<SectionInput>& earlier);
  // The part of an input that a run of tablets is; made when it is not there yet.
  std::shared_ptr<SectionInput> part_of(SectionInput& whole, const TabletRun& run);
  // For tiles of so many rows; made when they are not there yet. Errors: 53200.
  std::shared_ptr<TabletDescriptions> describe(SectionInput& input, int64_t tile_rows);

 private:
  // Null where the earlier one is another.
  std::shared_ptr<const InputRange> same_range(const SegmentRange& range, const SectionInput& earlier) const;
  std::shared_ptr<InputRange> bring_range(SegmentRange tablets);
  std::shared_ptr<const ColumnSegment> bring_column(const SegmentRange& range, size_t column);
  std::shared_ptr<const ColumnSegment> load_alone(const SegmentRange& range, size_t column);
  static void note_arriving(SectionInput& input);
  void copy_needed(SectionInput& input, const std::vector<std::shared_ptr<InputRange>>& ranges);
  void find_shape(SectionInput& input) const;
  void count_rows(SectionInput& input) const;

  GpuEngine& engine_;
  const TabletSource& source_;
  const std::vector<size_t>& columns_;
  const Residency residency_;
  Queue& queue_;
};

}  // namespace diptych::gpu
