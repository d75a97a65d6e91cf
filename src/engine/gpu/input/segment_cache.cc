#include "engine/gpu/input/segment_cache.h"

#include <algorithm>

#include "base/error.h"

namespace diptych::gpu {

std::shared_ptr<const ColumnSegment> SegmentCache::get(const TabletSource& source, size_t first, size_t count,
                                                       size_t column, Queue& queue) {
  Key key{column, {}};
  for (size_t tablet = first; tablet < first + count; ++tablet) {
    key.tablets.push_back(source.tablet_id(tablet));
    if (key.tablets.back() == 0) {
      SegmentLoader loader(source, first, count, column);
      return load(loader, queue);
    }
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
  int64_t reserved = 0;
  try {
    SegmentLoader loader(source, first, count, column);
    reserve(loader.bytes());
    reserved = loader.bytes();
    auto segment = load(loader, queue);
    std::lock_guard guard(mutex_);
    entry->second.segment = segment;
    entry->second.age = ages_.insert(ages_.end(), &entry->first);
    loaded_.notify_all();
    return segment;
  } catch (...) {
    std::lock_guard guard(mutex_);
    bytes_ -= reserved;
    entries_.erase(entry);
    loaded_.notify_all();
    throw;
  }
}

std::shared_ptr<const ColumnSegment> SegmentCache::load(SegmentLoader& loader, Queue& queue) {
  const int64_t bytes = std::max(loader.bytes(), device_alignment);
  if (place_ == ColumnSegment::Place::Pinned) {
    for (;;) {
      try {
        return loader.load(device_.allocate_pinned(bytes, "columns in pinned memory"));
      } catch (const Error& error) {
        if (error.state() != SqlState::out_of_memory || !drop(bytes)) throw;
      }
    }
  }
  return loader.load(device_.allocate_to_stay(bytes, "columns on the device"), queue);
}

void SegmentCache::reserve(int64_t bytes) {
  for (;;) {
    int64_t missing = 0;
    {
      std::lock_guard guard(mutex_);
      missing = bytes - (limit_ - bytes_);
      if (missing <= 0) bytes_ += bytes;
    }
    if (missing <= 0) return;
    if (bytes > limit_ || !drop(missing))
      throw Error(SqlState::out_of_memory, "columns take more than the " + std::to_string(limit_) +
                                               " bytes that may be kept in pinned memory of " + device_.info().id());
  }
}

bool SegmentCache::drop(int64_t bytes) {
  if (drop_unused(bytes) > 0) return true;
  if (when_all_are_used_) when_all_are_used_();
  return drop_unused(bytes) > 0;
}

int64_t SegmentCache::drop_unused(int64_t bytes) {
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
