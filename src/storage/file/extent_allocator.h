// Which pages of the database file are free.
//
//   page   0 1 2 3 4 5 6 7 8 9 ...
//          H H H H [ A ] . . [B]            H: headers; A, B: extents in use; free: 7..8 and everything from end() on
//
// An extent is free again when its last owner goes: snapshots, the current state and transactions own the extents they
// refer to. The current state changes only once the header that refers to the new one is on the disk, so an extent that
// anything durable still needs always has an owner.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace diptych {

struct PageRange {
  int64_t first = 0;
  int64_t count = 0;
  int64_t end() const { return first + count; }
};

class ExtentAllocator {
 public:
  // Pages below first_page are never given out.
  explicit ExtentAllocator(int64_t first_page) : first_page_(first_page), end_(first_page) {}

  // The lowest free range that is long enough, so that the file stays short.
  PageRange allocate(int64_t pages);
  void free(PageRange range) noexcept;
  // Takes a given range, when a file is opened. False when a page of it is taken already.
  bool claim(PageRange range);
  // All pages from here on are free.
  int64_t end() const;
  int64_t free_pages() const;

 private:
  const int64_t first_page_;
  mutable std::mutex mutex_;
  std::map<int64_t, int64_t> free_;  // first page -> pages; never touching one another nor end_
  int64_t end_;
};

// Owns a range of pages and frees it when it ends.
class Extent {
 public:
  Extent() = default;
  Extent(std::shared_ptr<ExtentAllocator> allocator, PageRange range)
      : allocator_(std::move(allocator)), range_(range) {}
  Extent(Extent&& other) noexcept : allocator_(std::move(other.allocator_)), range_(std::exchange(other.range_, {})) {}
  Extent& operator=(Extent&&) = delete;
  ~Extent() {
    if (allocator_ && range_.count > 0) allocator_->free(range_);
  }
  PageRange range() const { return range_; }

 private:
  std::shared_ptr<ExtentAllocator> allocator_;
  PageRange range_;
};

}  // namespace diptych
