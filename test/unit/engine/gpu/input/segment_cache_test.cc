#include "engine/gpu/input/segment_cache.h"

#include "base/error.h"
#include "engine/device/device_testing.h"
#include "engine/program_maker.h"

namespace diptych::testing {
namespace {

using gpu::ColumnSegment;
using gpu::SegmentCache;

// Tablets of 64 rows of 8 bytes, with ids from `first` on.
NumberedTablets some_tablets(int64_t tablets, uint64_t first) {
  std::vector<std::vector<Value>> rows;
  for (int64_t i = 0; i < 64 * tablets; ++i) rows.push_back({Value::bigint(i * 7919 % 10007 * 1000000000007 + i % 3)});
  return NumberedTablets(make_table({{"a", Type{TypeId::BigInt}}}, rows, 64), first);
}

class SegmentCacheTest : public EachDevice {
 protected:
  std::shared_ptr<const ColumnSegment> get(SegmentCache& cache, size_t tablet) {
    return cache.get(source_, tablet, 1, 0, *queue_);
  }

  NumberedTablets source_ = some_tablets(4, 1);
};

TEST_P(SegmentCacheTest, DropsTheOldestThatNobodyUses) {
  const int64_t bytes =
      SegmentCache(*device_, ColumnSegment::Place::Pinned, 1 << 20).get(source_, 0, 1, 0, *queue_)->bytes();
  SegmentCache cache(*device_, ColumnSegment::Place::Pinned, 2 * bytes);
  std::weak_ptr<const ColumnSegment> first = get(cache, 0), second = get(cache, 1);
  EXPECT_EQ(get(cache, 0), first.lock());
  const auto third = get(cache, 2);
  EXPECT_TRUE(second.expired());
  EXPECT_FALSE(first.expired());
  // Whoever lets go of segments is asked before there is said to be no room.
  auto held = first.lock();
  cache.when_all_are_used([&] { held.reset(); });
  const auto fourth = get(cache, 3);
  EXPECT_TRUE(first.expired());
  try {
    get(cache, 0);
    FAIL() << "both segments are in use";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("pinned memory"), std::string::npos) << error.what();
  }
  EXPECT_EQ(get(cache, 3), fourth);
}

// Two segments that go leave two holes; a third has to go for one that is as large as both.
TEST_P(SegmentCacheTest, DropsUntilTheRoomIsInOnePiece) {
  constexpr int64_t segment_bytes = 64 * 8;
  device_->set_memory_limit(4 * segment_bytes);
  SegmentCache cache(*device_, ColumnSegment::Place::Device, INT64_MAX);
  device_->when_short([&](int64_t bytes) { return cache.drop(bytes); });
  std::vector<std::shared_ptr<const ColumnSegment>> held;
  for (size_t tablet = 0; tablet < 4; ++tablet) held.push_back(get(cache, tablet));
  ASSERT_EQ(held[0]->bytes(), segment_bytes);
  held[0].reset();
  held[2].reset();
  int asked = 0;
  cache.when_all_are_used([&] {
    ++asked;
    held[1].reset();
  });
  const NumberedTablets other = some_tablets(2, 5);
  const auto both = cache.get(other, 0, 2, 0, *queue_);
  EXPECT_EQ(both->bytes(), 2 * segment_bytes);
  EXPECT_EQ(asked, 1);
  device_->when_short(nullptr);
  EXPECT_EQ(get(cache, 3), held[3]);
}

// What a tablet's memory is short of is none of the device's: nothing is dropped for it.
TEST_P(SegmentCacheTest, KeepsWhatItHasWhenATabletCanNotBeRead) {
  SegmentCache cache(*device_, ColumnSegment::Place::Device, INT64_MAX);
  const std::weak_ptr<const ColumnSegment> first = get(cache, 0);
  source_.make_unreadable(2);
  EXPECT_THROW(get(cache, 2), Error);
  EXPECT_FALSE(first.expired());
  source_.make_unreadable(SIZE_MAX);
  EXPECT_NE(get(cache, 2), nullptr);
}

// What is here of a span of tablets is told without loading any.
TEST_P(SegmentCacheTest, TellsWhichTabletsAreHere) {
  SegmentCache cache(*device_, ColumnSegment::Place::Device, INT64_MAX);
  const TabletSpan all{0, 0, 4, 0, 256, true}, middle{0, 1, 2, 64, 128, false};
  EXPECT_EQ(cache.part_here(source_, all, 0), 0);
  const uint64_t empty = cache.version();
  // Another table's, or this one's before it grew: a segment of other tablets.
  get(cache, 0);
  EXPECT_EQ(cache.part_here(source_, all, 0), 0);
  cache.get(source_, 0, 4, 0, *queue_);
  EXPECT_EQ(cache.part_here(source_, all, 0), 1);
  EXPECT_EQ(cache.part_here(source_, middle, 0), 1);
  EXPECT_EQ(cache.part_here(source_, all, 1), 0) << "another column";
  const uint64_t filled = cache.version();
  EXPECT_GT(filled, empty);
  cache.get(source_, 0, 4, 0, *queue_);
  EXPECT_EQ(cache.version(), filled) << "it was there";
  while (cache.drop(INT64_MAX)) {
  }
  EXPECT_EQ(cache.part_here(source_, all, 0), 0);
  EXPECT_GT(cache.version(), filled);
}

INSTANTIATE_TEST_SUITE_P(Each, SegmentCacheTest, ::testing::Values("cuda", "opencl"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace diptych::testing
