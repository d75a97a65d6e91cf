// Makes a segment of a column: copies tablets [first, first + count) of a source to a device or into pinned memory,
// which the caller has for it.
//
//   tablets           |  7  |  8  |  9  | 10  | 11  |        7 to 9 and 11 are in segments already, 10 is new
//   segment there     |  6  |  7  |  8  |  9  |     |
//                              \_____one____/  (bus)  one    copies
//
// What a segment in the same place has is not read again. On a device it is shared with that segment: a driver takes
// longer to queue a copy there than to send some kilobytes. In pinned memory, or where much of what would be shared has
// no other use any more, it is copied, a run of neighbours at once. All else
// comes from the tablets: a stretch of neighbours goes through pinned memory in pieces, since a copy from there has
// many times the speed of one from pageable memory (55 to 8.5 GB/s on an H200), and a driver takes microseconds for
// each. A piece is read by several threads while the one before is on the bus. Little, as what an update has changed,
// goes in one piece, and is waited for by nobody but the kernels that read it. Where the device's memory is the host's,
// pinned memory would be a copy in vain: parts are copied from where they are.
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
  using Place = ColumnSegment::Place;
  // there: by tablet of the run, where it is already, in segments of the same place; empty: nowhere. Has the other
  // tablets in memory as long as it lives. Errors: 53200 of memory_limit, 58030, XX001.
  SegmentLoader(const TabletSource& source, size_t first, size_t count, size_t column, Place place,
                const std::vector<SegmentPart>& there = {});
  // Of the memory that it needs; 0: none.
  int64_t bytes() const { return bytes_; }
  // Once, with memory of at least so many bytes; null for none. The queue may still be at the copies when this returns:
  // other queues wait for the segment (ColumnSegment::wait_in). Errors: 53200, 58000.
  std::shared_ptr<const ColumnSegment> load(std::shared_ptr<SegmentMemory> to, Device& device, Queue& queue);
  std::shared_ptr<const ColumnSegment> load_pinned(std::shared_ptr<SegmentMemory> to);

 private:
  // Of a tablet: an area of its column. By offset in the memory.
  struct Area {
    int64_t offset;
    const std::byte* from;
    int64_t bytes;
  };
  // A run of tablets that are neighbours in other memory.
  struct Move {
    int64_t offset;
    std::shared_ptr<const SegmentMemory> memory;
    int64_t from, bytes;
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

  void add(const SegmentTablet& tablet, ColumnSegment::Part part);
  void share_part(const SegmentPart& part);
  // Those whose columns go into the memory.
  void move_part(const SegmentPart& part);
  void add_column(const ColumnView& view, int64_t rows);
  // What the memory has in [begin, end): areas, and zeros between them, which kernels load, too.
  void read(std::byte* to, int64_t begin, int64_t end) const;
  // The same by several threads where that is worth it.
  void read_together(std::byte* to, int64_t begin, int64_t end) const;
  // The queue is done with them when these return, but for copy_few().
  void copy_areas(Queue& queue) const;
  void copy_staged(Device& device, Queue& queue) const;
  void copy_few(PinnedBuffer through, Queue& queue) const;
  void copy_pieces(const Stretch& stretch, Staging& staging, Queue& queue) const;

  std::shared_ptr<ColumnSegment> segment_;
  int64_t bytes_ = 0;
  std::vector<std::unique_ptr<PinnedTablet>> pins_;
  std::vector<Area> areas_;
  std::vector<Move> moves_;
  std::vector<Stretch> stretches_;
};

}  // namespace diptych::gpu
