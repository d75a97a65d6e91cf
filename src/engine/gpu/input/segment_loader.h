// Makes a segment of a column: copies tablets [first, first + count) of a source to a device or into pinned memory,
// which the caller has for it.
//
//   tablets           |  7  |  8  |  9  | 10  | 11  |        7 to 9 and 11 are in segments already, 10 is new
//   segment there     |  6  |  7  |  8  |  9  |     |
//                              \_____one____/  (bus)  one    copies
//
// What a segment in the same place has is copied there, a run of neighbours at once, and is not read again. All else
// comes from the tablets: a stretch of neighbours goes through pinned memory in pieces, since a copy from there has
// many times the speed of one from pageable memory (55 to 8.5 GB/s on an H200), and a driver takes microseconds for
// each. A piece is read by several threads while the one before is on the bus. Where the device's memory is the host's,
// that would be a copy in vain: parts are copied from where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/gpu/input/column_segment.h"

namespace diptych::gpu {

// A tablet's column in a segment.
struct SegmentPart {
  std::shared_ptr<const ColumnSegment> segment;  // null: there is none
  size_t tablet = 0;                             // of the segment
};

class SegmentLoader {
 public:
  // there: by tablet of the run, where it is already, in segments of the place that this one is for; empty: nowhere.
  // Has the other tablets in memory as long as it lives. Errors: 53200 of memory_limit, 58030, XX001.
  SegmentLoader(const TabletSource& source, size_t first, size_t count, size_t column,
                const std::vector<SegmentPart>& there = {});
  int64_t bytes() const { return segment_->bytes_; }
  // Once, into at least so many bytes. The queue has finished the copies when this returns. Errors: 53200, 58000.
  std::shared_ptr<const ColumnSegment> load(DeviceBuffer to, Device& device, Queue& queue);
  std::shared_ptr<const ColumnSegment> load(PinnedBuffer to);

 private:
  // Of a tablet: an area of its column. By offset in the segment.
  struct Area {
    int64_t offset;
    const std::byte* from;
    int64_t bytes;
  };
  // A run of tablets that are neighbours in another segment.
  struct Move {
    int64_t offset;
    std::shared_ptr<const ColumnSegment> segment;
    int64_t from, bytes;
    size_t next_tablet;  // of that segment
  };
  // Bytes of neighbouring tablets that are in no segment.
  struct Stretch {
    int64_t offset, bytes;
  };
  // Two pieces of pinned memory, which take turns.
  struct Staging {
    PinnedBuffer pieces[2];
    size_t pieces_read = 0;
  };

  // Where a tablet's column goes in the segment.
  SegmentTablet place_part(const SegmentPart& part);
  SegmentTablet place_column(const ColumnView& view, int64_t rows);
  // What the segment has in [begin, end): areas, and zeros between them, which kernels load, too.
  void read(std::byte* to, int64_t begin, int64_t end) const;
  // The same by several threads where that is worth it.
  void read_together(std::byte* to, int64_t begin, int64_t end) const;
  void copy_areas(Queue& queue) const;
  void copy_staged(Device& device, Queue& queue) const;
  void copy_staged(const Stretch& stretch, Staging& staging, Queue& queue) const;

  std::shared_ptr<ColumnSegment> segment_;
  std::vector<std::unique_ptr<PinnedTablet>> pins_;
  std::vector<Area> areas_;
  std::vector<Move> moves_;
  std::vector<Stretch> stretches_;
};

}  // namespace diptych::gpu
