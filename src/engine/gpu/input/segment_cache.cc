#include "engine/gpu/input/segment_cache.h"

#include "base/error.h"

namespace diptych::gpu {

std::shared_ptr<const ColumnSegment> SegmentCache::get(const TabletSource& source, size_t first, size_t count,
                                                       size_t column, Queue& queue) {
  Key key{column, {}};
  for (size_t tablet = first; tablet < first + count; ++tablet) {
    key.tablets.push_back(source.tablet_id(tablet));
    if (key.tablets.back() == 0) return load(source, first, count, column, queue);
  }
  std::map<Key, Entry>::iterator entry;
  {
    std::unique_lock guard(mutex_);
    for (;;) {
      bool added = false;
      std::tie(entry, added) = entries_.try_emplace(std::move(key));
      if (added) break;
      if (entry->second.segment) {
        ages_.splice(ages_.end(), ages_, entry->second.age);
        return entry->second.segment;
      }
      key = entry->first;
      loaded_.wait(guard);
    }
    entry->second.age = ages_.end();
  }
  try {
    auto segment = load(source, first, count, column, queue);
    std::lock_guard guard(mutex_);
    entry->second.segment = segment;
    bytes_ += segment->bytes();
    entry->second.age = ages_.insert(ages_.end(), &entry->first);
    loaded_.notify_all();
    return segment;
  } catch (...) {
    std::lock_guard guard(mutex_);
    entries_.erase(entry);
    loaded_.notify_all();
    throw;
  }
}

// What is dropped may not have lain in one piece: until it fits, or nothing is left that can go.
std::shared_ptr<const ColumnSegment> SegmentCache::load(const TabletSource& source, size_t first, size_t count,
                                                        size_t column, Queue& queue) {
  int64_t wanted = 0;
  for (size_t tablet = first; tablet < first + count; ++tablet) wanted += source.encoded_bytes(tablet, column);
  make_room(wanted);
  SegmentLoader loader(device_, queue);
  for (;;) {
    try {
      return loader.load(source, first, count, column, place_);
    } catch (const Error& error) {
      if (error.state() != SqlState::out_of_memory) throw;
      if (before_evicting_) before_evicting_();
      if (evict(2 * wanted) == 0) throw;
    }
  }
}

// Loads at the same time may each find the room that is there for one.
void SegmentCache::make_room(int64_t bytes) {
  const auto missing = [&] {
    std::lock_guard guard(mutex_);
    return bytes - (limit_ - bytes_);
  };
  if (missing() <= 0) return;
  if (before_evicting_) before_evicting_();
  evict(missing());
  if (missing() > 0)
    throw Error(SqlState::out_of_memory, "columns of " + std::to_string(bytes) + " bytes more than the " +
                                             std::to_string(limit_) + " that may be kept in pinned memory");
}

int64_t SegmentCache::evict(int64_t bytes) {
  std::vector<std::shared_ptr<const ColumnSegment>> dropped;  // freed when others may go on
  std::lock_guard guard(mutex_);
  int64_t freed = 0;
  for (auto age = ages_.begin(); age != ages_.end() && freed < bytes;) {
    const auto entry = entries_.find(**age);
    if (entry->second.segment.use_count() > 1) {
      ++age;
      continue;
    }
    freed += entry->second.segment->bytes();
    bytes_ -= entry->second.segment->bytes();
    dropped.push_back(std::move(entry->second.segment));
    age = ages_.erase(age);
    entries_.erase(entry);
  }
  return freed;
}

}  // namespace diptych::gpu
