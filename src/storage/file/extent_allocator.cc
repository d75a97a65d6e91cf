#include "storage/file/extent_allocator.h"

namespace diptych {

PageRange ExtentAllocator::allocate(int64_t pages) {
  std::lock_guard guard(mutex_);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    auto [first, count] = *hole;
    if (count < pages) continue;
    free_.erase(hole);
    if (count > pages) free_.emplace(first + pages, count - pages);
    return {first, pages};
  }
  PageRange range{end_, pages};
  end_ += pages;
  return range;
}

void ExtentAllocator::free(PageRange range) noexcept {
  std::lock_guard guard(mutex_);
  auto next = free_.lower_bound(range.first);
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == range.first) {
      range = {previous->first, previous->second + range.count};
      free_.erase(previous);
    }
  }
  if (next != free_.end() && next->first == range.end()) {
    range.count += next->second;
    free_.erase(next);
  }
  if (range.end() == end_) {
    end_ = range.first;
  } else {
    free_.emplace(range.first, range.count);
  }
}

bool ExtentAllocator::claim(PageRange range) {
  std::lock_guard guard(mutex_);
  if (range.first < first_page_ || range.count <= 0) return false;
  if (range.first >= end_) {
    if (range.first > end_) free_.emplace(end_, range.first - end_);
    end_ = range.end();
    return true;
  }
  auto hole = free_.upper_bound(range.first);
  if (hole == free_.begin()) return false;
  --hole;
  auto [first, count] = *hole;
  if (range.end() > first + count) return false;
  free_.erase(hole);
  if (range.first > first) free_.emplace(first, range.first - first);
  if (first + count > range.end()) free_.emplace(range.end(), first + count - range.end());
  return true;
}

int64_t ExtentAllocator::end() const {
  std::lock_guard guard(mutex_);
  return end_;
}

int64_t ExtentAllocator::free_pages() const {
  std::lock_guard guard(mutex_);
  int64_t pages = 0;
  for (const auto& [first, count] : free_) pages += count;
  return pages;
}

}  // namespace diptych
