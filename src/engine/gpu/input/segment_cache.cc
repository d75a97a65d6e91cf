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
        ++hits_;
        ages_.splice(ages_.end(), ages_, entry->second.age);
        return entry->second.segment;
      }
      key = entry->first;
      loaded_.wait(guard);
    }
    ++misses_;
    entry->second.age = ages_.end();
  }
  try {
    auto segment = load(source, first, count, column, queue);
    std::vector<std::shared_ptr<const ColumnSegment>> dropped;
    std::lock_guard guard(mutex_);
    entry->second.segment = segment;
    entry->second.age = ages_.insert(ages_.end(), &entry->first);
    bytes_ += segment->bytes();
    if (limit_ >= 0 && bytes_ > limit_) evict_locked(bytes_ - limit_, dropped);
    loaded_.notify_all();
    return segment;
  } catch (...) {
    std::lock_guard guard(mutex_);
    entries_.erase(entry);
    loaded_.notify_all();
    throw;
  }
}

// One more try after everything that can go has gone.
std::shared_ptr<const ColumnSegment> SegmentCache::load(const TabletSource& source, size_t first, size_t count,
                                                        size_t column, Queue& queue) {
  SegmentLoader loader(device_, queue);
  try {
    return loader.load(source, first, count, column, place_);
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory) throw;
    int64_t wanted = 0;
    for (size_t tablet = first; tablet < first + count; ++tablet) wanted += source.encoded_bytes(tablet, column);
    if (before_evicting_) before_evicting_();
    if (evict(2 * wanted) == 0) throw;
  }
  return loader.load(source, first, count, column, place_);
}

int64_t SegmentCache::evict(int64_t bytes) {
  std::vector<std::shared_ptr<const ColumnSegment>> dropped;
  std::lock_guard guard(mutex_);
  return evict_locked(bytes, dropped);
}

int64_t SegmentCache::evict_locked(int64_t bytes, std::vector<std::shared_ptr<const ColumnSegment>>& dropped) {
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

void SegmentCache::set_limit(int64_t bytes) {
  std::vector<std::shared_ptr<const ColumnSegment>> dropped;
  std::lock_guard guard(mutex_);
  limit_ = bytes;
  if (limit_ >= 0 && bytes_ > limit_) evict_locked(bytes_ - limit_, dropped);
}

int64_t SegmentCache::bytes() const {
  std::lock_guard guard(mutex_);
  return bytes_;
}

int64_t SegmentCache::hits() const {
  std::lock_guard guard(mutex_);
  return hits_;
}

int64_t SegmentCache::misses() const {
  std::lock_guard guard(mutex_);
  return misses_;
}

}  // namespace diptych::gpu
