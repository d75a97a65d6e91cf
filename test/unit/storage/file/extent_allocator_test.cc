#include "storage/file/extent_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace diptych {
namespace {

TEST(ExtentAllocatorTest, LowestFitFirst) {
  ExtentAllocator allocator(4);
  PageRange a = allocator.allocate(3), b = allocator.allocate(2), c = allocator.allocate(5);
  EXPECT_EQ(a.first, 4);
  EXPECT_EQ(b.first, 7);
  EXPECT_EQ(allocator.end(), 14);
  allocator.free(a);
  EXPECT_EQ(allocator.allocate(4).first, 14);
  EXPECT_EQ(allocator.allocate(2).first, 4);
  allocator.free(b);
  EXPECT_EQ(allocator.allocate(3).first, 6);
  allocator.free(c);
  EXPECT_EQ(allocator.end(), 18);
}

TEST(ExtentAllocatorTest, FreeingTheEndShortens) {
  ExtentAllocator allocator(4);
  PageRange a = allocator.allocate(3), b = allocator.allocate(2);
  allocator.free(a);
  allocator.free(b);
  EXPECT_EQ(allocator.end(), 4);
  EXPECT_EQ(allocator.free_pages(), 0);
}

TEST(ExtentAllocatorTest, Claims) {
  ExtentAllocator allocator(4);
  EXPECT_FALSE(allocator.claim({3, 2}));
  EXPECT_TRUE(allocator.claim({10, 5}));
  EXPECT_FALSE(allocator.claim({14, 1}));
  EXPECT_FALSE(allocator.claim({9, 2}));
  EXPECT_FALSE(allocator.claim({4, 0}));
  EXPECT_TRUE(allocator.claim({5, 2}));
  EXPECT_TRUE(allocator.claim({4, 1}));
  EXPECT_TRUE(allocator.claim({7, 3}));
  EXPECT_EQ(allocator.free_pages(), 0);
  EXPECT_EQ(allocator.end(), 15);
}

TEST(ExtentAllocatorTest, RandomAgainstAPageSet) {
  for (uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    ExtentAllocator allocator(4);
    std::set<int64_t> used;
    std::vector<PageRange> ranges;
    for (int i = 0; i < 3000; ++i) {
      if (ranges.empty() || random() % 2) {
        PageRange range = allocator.allocate(1 + static_cast<int64_t>(random() % 9));
        for (int64_t page = range.first; page < range.end(); ++page) EXPECT_TRUE(used.insert(page).second);
        ranges.push_back(range);
      } else {
        size_t which = random() % ranges.size();
        for (int64_t page = ranges[which].first; page < ranges[which].end(); ++page) used.erase(page);
        allocator.free(ranges[which]);
        ranges[which] = ranges.back();
        ranges.pop_back();
      }
      EXPECT_EQ(allocator.end(), used.empty() ? 4 : *used.rbegin() + 1);
      EXPECT_EQ(allocator.free_pages(), allocator.end() - 4 - static_cast<int64_t>(used.size()));
    }
  }
}

}  // namespace
}  // namespace diptych
