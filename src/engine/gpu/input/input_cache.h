// What a section reads, made ready once: segments, how they are stored, and descriptions of the tablets in device
// memory. A statement on a table that has not changed finds it again, and then does nothing tablet by tablet.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/gpu/input/column_segment.h"
#include "engine/gpu/section_kernel.h"
#include "program/program.h"

namespace diptych::gpu {

// Tablets of a segment, by their number in the source; which of them are needed.
struct SegmentRange {
  size_t first = 0, count = 0;
  int64_t rows_before = 0;  // of the source, before the first tablet
  std::vector<bool> needed;
};

// Descriptions of tablets for tiles of so many rows.
struct TabletDescriptions {
  DeviceBuffer buffer;
  PinnedBuffer sent;
  int64_t tablets = 0, tiles = 0;
  int64_t tiles_per_tablet = 0;  // 0: differs
};

struct SectionInput {
  std::vector<SegmentRange> ranges;
  std::vector<std::vector<std::shared_ptr<const ColumnSegment>>> segments;  // by range, then column of the section
  std::vector<std::vector<DeviceAddress>> addresses;                        // of the segments, for kernels
  DeviceBuffer copies;                                                      // of pinned segments, streamed
  SectionShape shape;
  std::vector<const Dictionary*> dictionaries;                          // by column of the section
  int64_t rows = 0, bytes = 0;                                          // of the needed tablets; encoded
  std::map<int64_t, std::shared_ptr<TabletDescriptions>> descriptions;  // by rows of a tile
  // Of some of its tablets, from the first to before the second.
  std::map<std::pair<size_t, size_t>, std::shared_ptr<SectionInput>> parts;
  std::mutex mutex;  // guards descriptions, parts and shares

  // Of the rows, how many came out of a section before, which a hash of its signature stands for; nullopt: not known.
  std::optional<double> share_of(size_t section);
  void note_share(size_t section, double share);

 private:
  std::map<size_t, double> shares_;
};

class InputCache {
 public:
  using Place = ColumnSegment::Place;
  // The input of all tablets of the source, if it is still there.
  std::shared_ptr<SectionInput> find(const std::shared_ptr<const TabletSource>& source,
                                     const std::vector<size_t>& columns, Place place);
  void keep(const std::shared_ptr<const TabletSource>& source, const std::vector<size_t>& columns, Place place,
            std::shared_ptr<SectionInput> input);
  // Lets go of everything, so that segments can be evicted.
  void clear();

 private:
  struct Entry {
    std::weak_ptr<const TabletSource> source;
    std::vector<size_t> columns;
    Place place;
    std::shared_ptr<SectionInput> input;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;  // used last first
};

}  // namespace diptych::gpu
