// What of a column goes over the bus when a table has changed: the tablets that are new.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "engine/device/device_testing.h"
#include "engine/device/fault_device.h"
#include "engine/gpu/input/chosen_tablets.h"
#include "engine/gpu/input/segment_cache.h"
#include "engine/program_maker.h"

namespace diptych::testing {
namespace {

using gpu::ColumnSegment;
using gpu::SegmentCache;
using gpu::SegmentTablet;
using Place = ColumnSegment::Place;
using Segment = std::shared_ptr<const ColumnSegment>;
using Ids = std::vector<uint64_t>;

constexpr int64_t tablet_rows = 64;

// Numbers with NULLs, and strings of a heap.
std::shared_ptr<const TabletSource> make_rows(int64_t rows) {
  std::vector<std::vector<Value>> values;
  for (int64_t i = 0; i < rows; ++i)
    values.push_back({i % 7 == 3 ? Value() : Value::bigint(i * 7919 % 10007 * 1000000000007 + i % 3),
                      Value::text(std::string(static_cast<size_t>(i % 23), static_cast<char>('a' + i % 26)))});
  return make_table({{"a", Type{TypeId::BigInt}}, {"s", Type{TypeId::Text}}}, values, tablet_rows, false);
}

class SegmentPartsTest : public EachDevice {
 protected:
  void SetUp() override {
    EachDevice::SetUp();
    if (queue_) queue_->report_to(&report_);
  }
  void TearDown() override {
    if (device_ == nullptr) return;
    device_->when_short(nullptr);
    device_->set_memory_limit(-1);
  }

  // Tablet i has the rows of tablet i of a table. 900 and more: one of another table, that has a row less.
  ChosenTablets table(const Ids& ids) const {
    std::vector<ChosenTablets::Tablet> tablets;
    for (const uint64_t id : ids) tablets.push_back({id, id < 900 ? rows_ : shorter_, id < 900 ? id % 20 : 0});
    return ChosenTablets(std::move(tablets));
  }
  Segment get(SegmentCache& cache, const ChosenTablets& source, size_t column = 0) {
    return cache.get(source, 0, source.tablet_count(), column, *queue_);
  }
  std::vector<std::byte> bytes_of(const ColumnSegment& segment, size_t tablet) {
    const auto& [memory, start, count] = segment.part(tablet);
    segment.wait_in(*queue_);  // another queue may have brought it
    std::vector<std::byte> bytes(static_cast<size_t>(count));
    if (segment.place() == Place::Pinned)
      std::memcpy(bytes.data(), segment.host_data() + start, bytes.size());
    else if (count > 0)
      queue_->copy_to_host(bytes.data(), segment.address_of(tablet), count);
    queue_->synchronize();
    return bytes;
  }
  void expect_same(const ColumnSegment& segment, const ColumnSegment& other) {
    ASSERT_EQ(segment.tablets().size(), other.tablets().size());
    for (size_t i = 0; i < other.tablets().size(); ++i) {
      const SegmentTablet &is = segment.tablets()[i], &expected = other.tablets()[i];
      EXPECT_EQ(is.data, expected.data);
      EXPECT_EQ(is.validity, expected.validity);
      EXPECT_EQ(is.heap, expected.heap);
      EXPECT_EQ(is.rows, expected.rows);
      EXPECT_EQ(is.base, expected.base);
      EXPECT_EQ(is.width, expected.width);
      EXPECT_TRUE(bytes_of(segment, i) == bytes_of(other, i));
    }
    EXPECT_EQ(segment.bytes(), other.bytes());
  }
  int64_t sent_by(const std::function<void()>& action) {
    const QueueWork before = report_.work;
    action();
    return report_.work.since(before).bytes_to_device;
  }

  // Of both columns: the first tablets are there when the second are asked for, of which `fresh` are new. Then the old
  // segment is gone, unless it stays.
  void expect_sent(const Ids& first, const Ids& second, const Ids& fresh, bool stays = false) {
    for (const Place place : {Place::Device, Place::Pinned}) {
      for (const size_t column : {size_t{0}, size_t{1}}) {
        SCOPED_TRACE((place == Place::Device ? "device, column " : "pinned, column ") + std::to_string(column));
        SegmentCache cache(*device_, place, INT64_MAX), other(*device_, place, INT64_MAX);
        const std::weak_ptr<const ColumnSegment> old = get(cache, table(first), column);
        const ChosenTablets now = table(second);
        Segment segment;
        const int64_t sent = sent_by([&] { segment = get(cache, now, column); });
        EXPECT_EQ(now.pins(), static_cast<int64_t>(fresh.size()));
        const int64_t expected =
            fresh.empty() ? 0 : sent_by([&] { EXPECT_NE(get(other, table(fresh), column), nullptr); });
        EXPECT_EQ(sent, expected);
        expect_same(*segment, *get(other, now, column));
        EXPECT_EQ(!old.expired(), stays);
        EXPECT_EQ(get(cache, now, column), segment);
        if (!stays) {
          EXPECT_GE(cache.bytes(), segment->bytes());
          EXPECT_LE(cache.bytes(), (place == Place::Device ? 2 : 1) * segment->bytes());
        }
      }
    }
  }

  std::shared_ptr<const TabletSource> rows_ = make_rows(20 * tablet_rows), shorter_ = make_rows(tablet_rows - 1);
  WorkReport report_;
};

TEST_P(SegmentPartsTest, ATableThatGrowsByATablet) { expect_sent({1, 2, 3}, {1, 2, 3, 4}, {4}); }

TEST_P(SegmentPartsTest, ATableThatGrowsByARow) {
  std::vector<ChosenTablets::Tablet> before = {{1, rows_, 1}, {2, rows_, 2}, {3, shorter_, 0}}, after = before;
  after.back() = {4, rows_, 4};
  const ChosenTablets old_table(before), table_now(after);
  SegmentCache cache(*device_, Place::Device, INT64_MAX), other(*device_, Place::Device, INT64_MAX);
  const std::weak_ptr<const ColumnSegment> old = get(cache, old_table);
  Segment segment;
  const int64_t sent = sent_by([&] { segment = get(cache, table_now); });
  EXPECT_EQ(sent, sent_by([&] { get(other, table({4})); }));
  EXPECT_TRUE(old.expired());
  expect_same(*segment, *get(other, table_now));
}

TEST_P(SegmentPartsTest, ATabletInTheMiddleThatIsReplaced) {
  expect_sent({1, 2, 3, 4, 5}, {1, 2, 10, 4, 5}, {10});
  expect_sent({1, 2, 903}, {1, 2, 904}, {904});
}

TEST_P(SegmentPartsTest, ATabletThatIsLost) { expect_sent({1, 2, 3, 4, 5}, {1, 2, 4, 5}, {}); }

// The order may be another one, too.
TEST_P(SegmentPartsTest, TabletsThatComeBetweenOthers) {
  expect_sent({1, 2, 3, 4}, {8, 2, 1, 9, 10, 4, 3}, {8, 9, 10});
}

// A tablet is gone from one run and joins the end of it: all runs behind are moved by one.
TEST_P(SegmentPartsTest, RunsThatMoveAlongSendNothing) {
  SegmentCache cache(*device_, Place::Device, INT64_MAX);
  const ChosenTablets before = table({1, 2, 3, 4, 5, 6, 7, 8, 9}), after = table({1, 3, 4, 5, 6, 7, 8, 9});
  std::vector<std::weak_ptr<const ColumnSegment>> old;
  for (size_t first = 0; first < 9; first += 3) old.push_back(cache.get(before, first, 3, 0, *queue_));
  const int64_t sent = sent_by([&] {
    const Segment first = cache.get(after, 0, 3, 0, *queue_);
    EXPECT_TRUE(old[0].expired());
    EXPECT_FALSE(old[1].expired()) << "the next run has some of it";
    cache.get(after, 3, 3, 0, *queue_);
    EXPECT_TRUE(old[1].expired());
    cache.get(after, 6, 2, 0, *queue_);
    EXPECT_TRUE(old[2].expired());
  });
  EXPECT_EQ(sent, 0);
}

// What a later state of the table has is not given up for one that still sees an earlier state.
TEST_P(SegmentPartsTest, WhatIsNewerStays) { expect_sent({1, 2, 5}, {1, 2, 3}, {3}, true); }

TEST_P(SegmentPartsTest, WhatIsSharedIsThereOnceAndFreedWhenItsLastUserIsDone) {
  SegmentCache cache(*device_, Place::Device, INT64_MAX);
  const int64_t used = device_->memory_use().used_bytes;
  Segment old = get(cache, table({1, 2, 3}));
  Segment now = get(cache, table({1, 2, 3, 4}));
  EXPECT_EQ(cache.bytes(), now->bytes());
  EXPECT_EQ(device_->memory_use().used_bytes - used, now->bytes());
  old.reset();
  EXPECT_EQ(cache.bytes(), now->bytes()) << "three of its tablets are the old segment's";
  // Of the old segment one tablet in three is of use: it is copied.
  Segment last = get(cache, table({1, 14, 15, 16}));
  EXPECT_EQ(cache.bytes(), now->bytes() + last->bytes());
  now.reset();
  EXPECT_EQ(cache.bytes(), last->bytes());
  EXPECT_EQ(device_->memory_use().used_bytes - used, last->bytes());
}

// Again and again a tablet is another one: neither the memory that is held without use nor its pieces become many.
TEST_P(SegmentPartsTest, ManyChangesHoldNoMoreThanThreeTimesTheMemory) {
  SegmentCache cache(*device_, Place::Device, INT64_MAX), other(*device_, Place::Device, INT64_MAX);
  Ids ids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  get(cache, table(ids));
  for (uint64_t change = 0; change < 60; ++change) {
    ids[change * 7 % ids.size()] = 11 + change;
    const ChosenTablets now = table(ids);
    Segment segment;
    const int64_t sent = sent_by([&] { segment = get(cache, now); });
    EXPECT_EQ(sent, sent_by([&] { get(other, table({11 + change})); }));
    EXPECT_LE(cache.bytes(), 3 * segment->bytes());
    expect_same(*segment, *get(other, now));
  }
}

// Three tablets are kept, and four are asked for. Where one of three is of use it is copied, and not shared.
class SegmentRoomTest : public SegmentPartsTest {
 protected:
  int64_t tablet_bytes() {
    SegmentCache other(*device_, Place::Pinned, INT64_MAX);
    return get(other, table({1}))->bytes();
  }
  SegmentCache& limited_to(int64_t tablets) {
    device_->set_memory_limit(tablets * tablet_bytes());
    cache_.emplace(*device_, Place::Device, INT64_MAX);
    device_->when_short([&](int64_t bytes) { return cache_->drop(bytes); });
    return *cache_;
  }

 private:
  std::optional<SegmentCache> cache_;
};

TEST_P(SegmentRoomTest, WhatNobodyUsesGoesFirst) {
  SegmentCache& cache = limited_to(4);
  get(cache, table({1, 2, 3}));
  const std::weak_ptr<const ColumnSegment> other = get(cache, table({11}));
  Segment segment;
  const int64_t sent = sent_by([&] { segment = get(cache, table({1, 2, 3, 4})); });
  EXPECT_TRUE(other.expired());
  EXPECT_LE(sent, segment->part(3).bytes);
  EXPECT_EQ(cache.bytes(), segment->bytes());
}

TEST_P(SegmentRoomTest, WhereThereIsNoRoomForBothAllIsSentAgain) {
  SegmentCache& cache = limited_to(6);
  const std::weak_ptr<const ColumnSegment> old = get(cache, table({1, 2, 3}));
  Segment segment;
  const int64_t sent = sent_by([&] { segment = get(cache, table({1, 14, 15, 4})); });
  EXPECT_TRUE(old.expired());
  EXPECT_GT(sent, 4 * (segment->part(0).bytes - device_alignment));
  EXPECT_EQ(cache.bytes(), segment->bytes());
}

TEST_P(SegmentRoomTest, WhereTheOldOneIsInUseThereIsNoRoom) {
  SegmentCache& cache = limited_to(6);
  const Segment old = get(cache, table({1, 2, 3}));
  EXPECT_THROW(get(cache, table({1, 14, 15, 4})), Error);
  EXPECT_EQ(get(cache, table({1, 2, 3})), old);
  EXPECT_EQ(cache.bytes(), old->bytes());
}

TEST_P(SegmentRoomTest, TheLimitOfPinnedMemoryHoldsForBoth) {
  SegmentCache cache(*device_, Place::Pinned, 6 * tablet_bytes());
  const std::weak_ptr<const ColumnSegment> old = get(cache, table({1, 2, 3}));
  const ChosenTablets now = table({1, 2, 3, 4});
  const Segment segment = get(cache, now);
  EXPECT_TRUE(old.expired());
  EXPECT_EQ(cache.bytes(), 4 * tablet_bytes());
}

// On a device with memory of its own copies go through pinned memory, in pieces.
class StagedCopyTest : public SegmentPartsTest {
 protected:
  // A tablet of 64 rows again and again, with one that differs now and then.
  ChosenTablets large_table(size_t tablets) const {
    std::vector<ChosenTablets::Tablet> chosen;
    for (size_t i = 0; i < tablets; ++i)
      chosen.push_back({i + 1, i % 11 == 5 ? shorter_ : rows_, i % 11 == 5 ? 0 : i % 20});
    return ChosenTablets(std::move(chosen));
  }
};

TEST_P(StagedCopyTest, PiecesHaveTheBytesOfTheirTablets) {
  FaultDevice apart(*device_);
  apart.be_apart();
  const auto queue = apart.make_queue();
  for (const size_t tablets : {size_t{1}, size_t{33}, size_t{20000}}) {
    const ChosenTablets source = large_table(tablets);
    SegmentCache staged(apart, Place::Device, INT64_MAX), pinned(*device_, Place::Pinned, INT64_MAX);
    const Segment expected = get(pinned, source);
    apart.fail(DeviceCall::Copy, -1);
    const Segment segment = staged.get(source, 0, tablets, 0, *queue);
    EXPECT_EQ(apart.calls(DeviceCall::Copy), (segment->bytes() + (8 << 20) - 1) / (8 << 20));
    expect_same(*segment, *expected);
  }
}

TEST_P(StagedCopyTest, WithoutPinnedMemoryTabletsAreCopiedFromWhereTheyAre) {
  FaultDevice apart(*device_);
  apart.be_apart();
  const auto queue = apart.make_queue();
  const ChosenTablets source = large_table(33);
  SegmentCache staged(apart, Place::Device, INT64_MAX), pinned(*device_, Place::Pinned, INT64_MAX);
  apart.fail(DeviceCall::Allocation, 1);
  const Segment segment = staged.get(source, 0, 33, 0, *queue);
  expect_same(*segment, *get(pinned, source));
  EXPECT_EQ(apart.live_pinned(), 0);
}

#define EACH_DEVICE(suite)                                                   \
  INSTANTIATE_TEST_SUITE_P(Each, suite, ::testing::Values("cuda", "opencl"), \
                           [](const auto& info) { return std::string(info.param); })
EACH_DEVICE(SegmentPartsTest);
EACH_DEVICE(SegmentRoomTest);
EACH_DEVICE(StagedCopyTest);

}  // namespace
}  // namespace diptych::testing
