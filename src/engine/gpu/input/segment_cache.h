// The columns that stay on a device, or in pinned host memory, from one statement to the next.
//
// A segment is found again by the tablets it was made of. Where a table has other tablets now, those that it had before
// are found one by one, each in the newest segment that has it, and are copied from there: over the bus come the others
// alone.
//
//   segment   | 1 | 2 | 3 | 4 |         4 was replaced by 6, and 7 is new
//   now       | 1 | 2 | 3 | 6 | 7 |     1 to 3 are shared or copied there; then the old segment is forgotten
//
// A segment is forgotten once newer ones have all its tablets that the table still has, and its memory is freed when
// its last user is done. When the limit or pinned memory has no room for a new one, those that were not used for
// longest and that nobody uses go; the device asks for its own (Device::when_short). While a segment is made from
// others, these are in use; where there is no room for both, they are let go of, and all comes over the bus.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "engine/gpu/input/segment_loader.h"
#include "engine/run/zone_test.h"

namespace diptych::gpu {

// Of the segment that a tablet of so many belongs to.
size_t tablets_of_segment(ColumnSegment::Place place, size_t tablet, size_t count);

class SegmentCache {
 public:
  // limit: of bytes of all segments, those in use included.
  SegmentCache(Device& device, ColumnSegment::Place place, int64_t limit)
      : device_(device), place_(place), limit_(limit) {}

  // The segment, made if it is not there. Sources whose tablets have no ids get segments that are not kept. Errors:
  // as SegmentLoader's; 53200 of the device or of pinned memory only when nothing is left to be dropped.
  std::shared_ptr<const ColumnSegment> get(const TabletSource& source, size_t first, size_t count, size_t column,
                                           Queue& queue);
  // The part of these tablets whose column is here. Loads nothing.
  double part_here(const TabletSource& source, const TabletSpan& span, size_t column);
  // Goes up whenever part_here() may have another answer.
  uint64_t version() const { return version_; }
  // How often segments were dropped for want of memory.
  uint64_t drops() const { return drops_; }
  // Gives up to about so many bytes back: segments that nobody uses, oldest first. To be called again while there is
  // too little. False: nothing was left.
  bool drop(int64_t bytes);
  // Called before segments are dropped: whoever keeps some that may not be needed again lets go.
  void when_short(std::function<void()> action) { when_short_ = std::move(action); }
  // Called when every segment is in use: whoever only keeps them lets go.
  void when_all_are_used(std::function<void()> action) { when_all_are_used_ = std::move(action); }
  // Of the memory of all segments, those included that are being made.
  int64_t bytes() const { return *bytes_; }

 private:
  struct Key {
    size_t column;
    std::vector<uint64_t> tablets;
    bool operator<(const Key& other) const {
      return column != other.column ? column < other.column : tablets < other.tablets;
    }
  };
  struct Entry {
    std::shared_ptr<const ColumnSegment> segment;  // null while it is being made
    std::list<const Key*>::iterator age;
    size_t found = 0;  // of its tablets: those that are found here
  };
  using Entries = std::map<Key, Entry>;
  // A tablet's column, and the newest segment that has it.
  struct PartKey {
    size_t column;
    uint64_t tablet;
    bool operator==(const PartKey&) const = default;
  };
  struct PartHash {
    size_t operator()(const PartKey& key) const;
  };
  struct PartPlace {
    Entries::iterator entry;
    size_t tablet;  // of the segment
  };
  // The tablets of a source that are asked for.
  struct Run {
    const TabletSource& source;
    size_t first, count, column;
  };
  using Segments = std::vector<std::shared_ptr<const ColumnSegment>>;

  std::shared_ptr<const ColumnSegment> make(const Run& run, const Key& key, Queue& queue);
  // By tablet; empty where none is in a segment.
  std::vector<SegmentPart> find_parts(const Key& key);
  std::shared_ptr<const ColumnSegment> load(const Run& run, const std::vector<SegmentPart>& there, Queue& queue);
  std::shared_ptr<const ColumnSegment> load(SegmentLoader& loader, std::shared_ptr<SegmentMemory> memory, Queue& queue);
  // Null: the segment needs none.
  std::shared_ptr<SegmentMemory> make_memory(int64_t bytes);
  // The same, of the limit, until it is freed.
  std::shared_ptr<SegmentMemory> make_counted_memory(int64_t bytes);
  // Errors: 53200.
  void reserve(int64_t bytes);
  void keep(Entries::iterator entry, const std::shared_ptr<const ColumnSegment>& segment, const Run& run);
  // With the mutex. Whether a tablet is found there that is in use besides those of the segment that was made: by the
  // same table, which has tablets `around` them, or by a later state of it.
  bool has_needed(Entries::iterator entry, const std::vector<uint64_t>& around, const Key& made) const;
  // With the mutex.
  bool is_found_in(uint64_t tablet, Entries::iterator entry) const;
  // With the mutex; what is returned is freed without it.
  std::shared_ptr<const ColumnSegment> forget(Entries::iterator entry);
  // With the mutex. Whether the column of two tablets, which are so far apart in their source, is in segments.
  bool has_both(size_t column, uint64_t first, uint64_t last, size_t between) const;
  // The bytes that were dropped.
  int64_t drop_unused(int64_t bytes);

  Device& device_;
  const ColumnSegment::Place place_;
  const int64_t limit_;
  std::function<void()> when_short_, when_all_are_used_;
  // Segments that are in use may outlive the cache.
  const std::shared_ptr<std::atomic<int64_t>> bytes_ = std::make_shared<std::atomic<int64_t>>(0);
  std::mutex mutex_;  // guards all below
  std::condition_variable made_;
  Entries entries_;
  std::list<const Key*> ages_;  // of the entries with a segment, oldest use first
  std::unordered_map<PartKey, PartPlace, PartHash> parts_;
  std::atomic<uint64_t> version_{0}, drops_{0};  // are written with the mutex
};

}  // namespace diptych::gpu
