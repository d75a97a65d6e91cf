// What a section reads of some tablets of a source, which are neighbours: the segments of its columns that they are in.
// Where a table has changed, its input has the ranges of the state before that are the same now, as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/gpu/input/column_segment.h"

namespace diptych::gpu {

// Tablets of a segment, by their number in the source; which of them are needed.
struct SegmentRange {
  size_t first = 0, count = 0;
  int64_t rows_before = 0;  // of the source, before the first tablet
  std::vector<bool> needed;
  bool operator==(const SegmentRange&) const = default;
};

struct InputRange {
  uint64_t number = 0;  // no other one has it, or had it
  SegmentRange tablets;
  // By column of the section:
  std::vector<std::vector<uint64_t>> ids;  // TabletSource::column_ids() of the tablets
  std::vector<std::shared_ptr<const ColumnSegment>> segments;
  // On the device, of copies that pinned segments have there, or would have if they were copied as a whole; empty: the
  // segments are read where they are.
  std::vector<DeviceAddress> copies;
  std::vector<std::vector<SegmentTablet>> stored;  // the needed tablets; of those that are stored alike the first one
};

}  // namespace diptych::gpu
