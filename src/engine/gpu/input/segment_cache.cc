#include "engine/gpu/input/segment_cache.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace diptych::gpu {
namespace {

// Columns that are kept are kept in segments of 64 tablets. In pinned memory, from where they are copied again and
// again, 256 are one, whose 16 million rows are several copies' worth; but not at the end of a table, which grows and
// has its last segment replaced.
constexpr size_t segment_tablets = 64, pinned_segment_tablets = 256;

std::vector<uint64_t> tablets_around(const TabletSource& source, size_t first, size_t count, size_t column) {
  // Where tablets have come or gone before it, what was in one segment may be as far away as it is long, or a little
  // farther. What is not looked at counts as gone, and is sent again if it is not.
  const size_t margin = 2 * count + 256;
  const size_t begin = first - std::min(first, margin), end = std::min(source.tablet_count(), first + count + margin);
  return source.column_ids(begin, end - begin, column);
}

}  // namespace

size_t SegmentCache::PartHash::operator()(const PartKey& key) const {
  return std::hash<uint64_t>()(key.tablet * 0x9e3779b97f4a7c15 + key.column);
}

size_t tablets_of_segment(ColumnSegment::Place place, size_t tablet, size_t count) {
  const bool is_large =
      place == ColumnSegment::Place::Pinned && tablet < count / pinned_segment_tablets * pinned_segment_tablets;
  return is_large ? pinned_segment_tablets : segment_tablets;
}

std::shared_ptr<const ColumnSegment> SegmentCache::get(const TabletSource& source, size_t first, size_t count,
                                                       size_t column, Queue& queue) {
  const Run run{source, first, count, column};
  Key key{column, source.column_ids(first, count, column)};
  if (std::find(key.tablets.begin(), key.tablets.end(), 0) != key.tablets.end()) {
    SegmentLoader loader(source, first, count, column, place_);
    return load(loader, make_memory(loader.bytes()), queue);
  }
  Entries::iterator entry;
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
      made_.wait(guard);
    }
  }
  try {
    auto segment = make(run, entry->first, queue);
    keep(entry, segment, run);
    return segment;
  } catch (...) {
    std::lock_guard guard(mutex_);
    entries_.erase(entry);
    made_.notify_all();
    throw;
  }
}

std::shared_ptr<const ColumnSegment> SegmentCache::make(const Run& run, const Key& key, Queue& queue) {
  if (const std::vector<SegmentPart> there = find_parts(key); !there.empty()) {
    try {
      return load(run, there, queue);
    } catch (const Error& error) {
      if (error.state() != SqlState::out_of_memory) throw;
      // Without what it would have been made from there may be room.
    }
  }
  return load(run, {}, queue);
}

std::vector<SegmentPart> SegmentCache::find_parts(const Key& key) {
  std::vector<SegmentPart> there;
  std::lock_guard guard(mutex_);
  auto in = entries_.end();  // the entry of the tablet before, which is number `next` - 1 of it
  size_t next = 0;
  for (size_t i = 0; i < key.tablets.size(); ++i) {
    // Most neighbours were neighbours before.
    const bool follows =
        in != entries_.end() && next < in->first.tablets.size() && in->first.tablets[next] == key.tablets[i];
    if (!follows) {
      const auto found = parts_.find({key.column, key.tablets[i]});
      in = found != parts_.end() ? found->second.entry : entries_.end();
      if (found == parts_.end()) continue;
      next = found->second.tablet;
    }
    there.resize(key.tablets.size());
    there[i] = {in->second.segment, next++};
  }
  return there;
}

std::shared_ptr<const ColumnSegment> SegmentCache::load(const Run& run, const std::vector<SegmentPart>& there,
                                                        Queue& queue) {
  SegmentLoader loader(run.source, run.first, run.count, run.column, place_, there);
  return load(loader, make_counted_memory(loader.bytes()), queue);
}

double SegmentCache::part_here(const TabletSource& source, const TabletSpan& span, size_t column) {
  if (span.count == 0) return 1;
  const size_t count = source.tablet_count(), span_end = span.first + span.count;
  const auto segment_with = [&](size_t tablet) {
    const size_t size = tablets_of_segment(place_, tablet, count), first = tablet / size * size;
    return std::pair(first, std::min(first + size, count));
  };
  size_t here = 0;
  std::lock_guard guard(mutex_);
  if (parts_.empty()) return 0;
  const size_t ids_first = segment_with(span.first).first, ids_end = segment_with(span_end - 1).second;
  const std::vector<uint64_t> ids = source.column_ids(ids_first, ids_end - ids_first, column);
  for (size_t next = span.first; next < span_end;) {
    const auto [first, end] = segment_with(next);
    // Its first and its last tablet stand for those between them: asking for each would take longer than a short
    // section.
    if (has_both(column, ids[first - ids_first], ids[end - 1 - ids_first], end - 1 - first))
      here += std::min(end, span_end) - next;
    next = end;
  }
  return static_cast<double>(here) / static_cast<double>(span.count);
}

bool SegmentCache::has_both(size_t column, uint64_t first, uint64_t last, size_t between) const {
  const auto part = parts_.find({column, first});
  if (part == parts_.end()) return false;
  const std::vector<uint64_t>& tablets = part->second.entry->first.tablets;
  const size_t place = part->second.tablet + between;
  return (place < tablets.size() && tablets[place] == last) || parts_.contains({column, last});
}

std::shared_ptr<const ColumnSegment> SegmentCache::load(SegmentLoader& loader, std::shared_ptr<SegmentMemory> memory,
                                                        Queue& queue) {
  if (place_ == ColumnSegment::Place::Pinned) return loader.load_pinned(std::move(memory));
  return loader.load(std::move(memory), device_, queue);
}

std::shared_ptr<SegmentMemory> SegmentCache::make_memory(int64_t bytes) {
  if (place_ == ColumnSegment::Place::Device) {
    if (bytes == 0) return nullptr;
    return std::make_shared<SegmentMemory>(device_.allocate_to_stay(bytes, "columns on the device"));
  }
  bytes = std::max(bytes, device_alignment);
  for (;;) {
    try {
      return std::make_shared<SegmentMemory>(device_.allocate_pinned(bytes, "columns in pinned memory"));
    } catch (const Error& error) {
      if (error.state() != SqlState::out_of_memory || !drop(bytes)) throw;
    }
  }
}

std::shared_ptr<SegmentMemory> SegmentCache::make_counted_memory(int64_t bytes) {
  reserve(bytes);
  try {
    auto memory = make_memory(bytes);
    if (memory != nullptr) memory->count_in(bytes_, bytes);
    return memory;
  } catch (...) {
    *bytes_ -= bytes;
    throw;
  }
}

void SegmentCache::keep(Entries::iterator entry, const std::shared_ptr<const ColumnSegment>& segment, const Run& run) {
  Segments forgotten;  // freed when others may go on
  const Key& key = entry->first;
  std::set<const Key*> older;
  std::lock_guard guard(mutex_);
  ++version_;
  entry->second.segment = segment;
  entry->second.age = ages_.insert(ages_.end(), &key);
  for (size_t i = 0; i < key.tablets.size(); ++i) {
    const auto [place, is_new] = parts_.try_emplace({key.column, key.tablets[i]}, PartPlace{entry, i});
    if (!is_new) {
      --place->second.entry->second.found;
      older.insert(&place->second.entry->first);
      place->second = {entry, i};
    }
    ++entry->second.found;
  }
  made_.notify_all();
  std::vector<uint64_t> around;
  for (const Key* old : older) {
    const auto before = entries_.find(*old);
    if (before->second.found > 0 && around.empty())
      around = tablets_around(run.source, run.first, run.count, run.column);
    if (!has_needed(before, around, key)) forgotten.push_back(forget(before));
  }
}

// Ids are given in the order in which tablets are made: one that is newer than all of the run is of a later state of
// the table, which somebody else sees.
bool SegmentCache::has_needed(Entries::iterator entry, const std::vector<uint64_t>& around, const Key& made) const {
  if (entry->second.found == 0) return false;
  const std::vector<uint64_t>& tablets = entry->first.tablets;
  const uint64_t newest = *std::ranges::max_element(made.tablets);
  for (size_t i = 0; i < tablets.size(); ++i) {
    const uint64_t tablet = tablets[i];
    // Most are where they were, and are found in the one that was made.
    if (i < made.tablets.size() && made.tablets[i] == tablet) continue;
    const bool is_in_use = tablet > newest || std::ranges::find(around, tablet) != around.end();
    if (is_in_use && is_found_in(tablet, entry)) return true;
  }
  return false;
}

bool SegmentCache::is_found_in(uint64_t tablet, Entries::iterator entry) const {
  const auto found = parts_.find({entry->first.column, tablet});
  return found != parts_.end() && found->second.entry == entry;
}

std::shared_ptr<const ColumnSegment> SegmentCache::forget(Entries::iterator entry) {
  ++version_;
  for (const uint64_t tablet : entry->first.tablets)
    if (is_found_in(tablet, entry)) parts_.erase({entry->first.column, tablet});
  ages_.erase(entry->second.age);
  auto segment = std::move(entry->second.segment);
  entries_.erase(entry);
  return segment;
}

void SegmentCache::reserve(int64_t bytes) {
  for (;;) {
    int64_t before = *bytes_;
    while (bytes <= limit_ - before)
      if (bytes_->compare_exchange_weak(before, before + bytes)) return;
    if (bytes > limit_ || !drop(bytes - (limit_ - before)))
      throw Error(SqlState::out_of_memory, "columns take more than the " + std::to_string(limit_) +
                                               " bytes that may be kept in pinned memory of " + device_.info().id());
  }
}

bool SegmentCache::drop(int64_t bytes) {
  if (when_short_) when_short_();
  if (drop_unused(bytes) > 0) return true;
  if (when_all_are_used_) when_all_are_used_();
  return drop_unused(bytes) > 0;
}

int64_t SegmentCache::drop_unused(int64_t bytes) {
  Segments dropped;  // freed when others may go on
  std::lock_guard guard(mutex_);
  int64_t freed = 0;
  for (auto age = ages_.begin(); age != ages_.end() && freed < bytes;) {
    const auto entry = entries_.find(**age);
    ++age;
    if (entry->second.segment.use_count() > 1) continue;
    freed += entry->second.segment->bytes();
    dropped.push_back(forget(entry));
  }
  if (!dropped.empty()) ++drops_;
  return freed;
}

}  // namespace diptych::gpu
