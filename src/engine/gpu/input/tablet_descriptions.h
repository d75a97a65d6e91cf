// What a kernel is told of the tablets that it reads, in device memory.
//
//   tablet    rows, tiles before, number of its first row in the source, rows before
//   column    data, validity, base, factor, width, heap       (addresses; 0: it has none)
//
// Of a table that has changed most tablets are described as before. Descriptions are never changed, since others may
// read them: a copy is made on the device, and over the bus come the words of the ranges that are new.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/device/device.h"
#include "engine/gpu/input/arrival.h"
#include "engine/gpu/input/input_range.h"
#include "tablet/tablet_source.h"

namespace diptych::gpu {

// Of tablets that are described, those of several ranges.
struct DescribedTablets {
  int64_t tablets = 0, tiles = 0, rows = 0;
  int64_t usual_tiles = -1;  // of a tablet; -1: there is none yet
  bool differs = false;      // some have others, besides fewer of the last one
  bool operator==(const DescribedTablets&) const = default;
};

// For tiles of so many rows.
struct TabletDescriptions {
  struct Range {
    uint64_t number = 0;             // InputRange::number
    DescribedTablets before, until;  // without its tablets, and with them
  };
  DeviceBuffer buffer;
  PinnedBuffer sent;
  std::optional<Arrival> arrival;  // which those of other queues wait for
  std::vector<Range> ranges;
  int64_t tablets = 0, tiles = 0;
  int64_t tiles_per_tablet = 0;  // 0: differs
};

// Makes descriptions of the tablets of a source.
class TabletDescriber {
 public:
  TabletDescriber(const TabletSource& source, int64_t tile_rows, size_t columns)
      : source_(source), tile_rows_(tile_rows), columns_(columns) {}

  // earlier: of what may have some of the ranges, for the same tiles; null: there are none.
  void add_ranges(const std::vector<std::shared_ptr<const InputRange>>& ranges,
                  const std::shared_ptr<const TabletDescriptions>& earlier);
  // Once, behind that. They stay: beyond the statement. Copies may still be under way in the queue, which holds what
  // they use. Errors: 53200, 58000.
  std::shared_ptr<TabletDescriptions> send(Device& device, Queue& queue, bool stay);

 private:
  // Neighbouring words that are not the same in `earlier_`.
  struct Words {
    int64_t at = 0;               // in the descriptions
    size_t first = 0, count = 0;  // of words_
  };

  void add(const InputRange& range);
  void add_tablet(const InputRange& range, size_t tablet, int64_t row, int64_t rows);
  int64_t words_so_far() const;

  const TabletSource& source_;
  const int64_t tile_rows_;
  const size_t columns_;
  std::shared_ptr<const TabletDescriptions> earlier_;  // null, too, where no range of it is here
  DescribedTablets described_;
  std::vector<TabletDescriptions::Range> ranges_;
  std::vector<uint64_t> words_;
  std::vector<Words> changes_;
};

}  // namespace diptych::gpu
