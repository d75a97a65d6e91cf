// The columns that stay on a device, or in pinned host memory, from one statement to the next.
//
// A segment is found again by the tablets it was made of, so a table that has grown keeps the segments of its old
// tablets, but for those at its end. When the limit or pinned memory has no room for a new one, those that were not
// used for longest and that nobody uses go; the device asks for its own (Device::when_short).
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>

#include "engine/gpu/input/column_segment.h"

namespace diptych::gpu {

class SegmentCache {
 public:
  // limit: of bytes of all segments, those in use included.
  SegmentCache(Device& device, ColumnSegment::Place place, int64_t limit)
      : device_(device), place_(place), limit_(limit) {}

  // The segment, loaded if it is not there. Sources whose tablets have no ids get segments that are not kept. Errors:
  // as SegmentLoader's; 53200 of the device or of pinned memory only when nothing is left to be dropped.
  std::shared_ptr<const ColumnSegment> get(const TabletSource& source, size_t first, size_t count, size_t column,
                                           Queue& queue);
  // Gives up to about so many bytes back: segments that nobody uses, oldest first. To be called again while there is
  // too little. False: nothing was left.
  bool drop(int64_t bytes);
  // Called when every segment is in use: whoever only keeps them lets go.
  void when_all_are_used(std::function<void()> action) { when_all_are_used_ = std::move(action); }

 private:
  struct Key {
    size_t column;
    std::vector<uint64_t> tablets;
    bool operator<(const Key& other) const {
      return column != other.column ? column < other.column : tablets < other.tablets;
    }
  };
  struct Entry {
    std::shared_ptr<const ColumnSegment> segment;  // null while it is being loaded
    std::list<const Key*>::iterator age;
  };

  std::shared_ptr<const ColumnSegment> load(SegmentLoader& loader, Queue& queue);
  // Of the limit. Errors: 53200.
  void reserve(int64_t bytes);
  // The bytes that were dropped.
  int64_t drop_unused(int64_t bytes);

  Device& device_;
  const ColumnSegment::Place place_;
  const int64_t limit_;
  std::function<void()> when_all_are_used_;
  std::mutex mutex_;
  std::condition_variable loaded_;
  std::map<Key, Entry> entries_;
  std::list<const Key*> ages_;  // oldest use first
  int64_t bytes_ = 0;           // of all segments, and of those that are being loaded
};

}  // namespace diptych::gpu
