#include "engine/gpu/batch_sizes.h"

#include <gtest/gtest.h>

#include <limits>

namespace diptych::gpu {
namespace {

constexpr int64_t all = std::numeric_limits<int64_t>::max(), mib = int64_t{1} << 20;

TEST(BatchSizes, WhatStaysOnTheDeviceIsOneBatch) {
  for (const Residency residency : {Residency::Cached, Residency::Mapped})
    EXPECT_EQ(BatchSizes({.residency = residency, .input_row_bytes = 8, .memory_bytes = 32 * mib}).next_rows(), all);
}

TEST(BatchSizes, WhatIsMovedIsDividedByBytes) {
  const auto rows_of = [](Residency residency, double row_bytes, int64_t memory) {
    return BatchSizes({.residency = residency, .input_row_bytes = row_bytes, .memory_bytes = memory}).next_rows();
  };
  EXPECT_EQ(rows_of(Residency::Serial, 4, 1024 * mib), 4 * mib);
  EXPECT_EQ(rows_of(Residency::Serial, 0.5, 1024 * mib), 32 * mib);
  EXPECT_EQ(rows_of(Residency::Serial, 4, 24 * mib), mib);
  // Columns of two batches take less than 64 MB, or half of little memory.
  EXPECT_EQ(rows_of(Residency::Streamed, 4, 1024 * mib), 60 * mib / 8);
  EXPECT_EQ(rows_of(Residency::Streamed, 0.5, 1024 * mib), 60 * mib);
  EXPECT_EQ(rows_of(Residency::Streamed, 4, 24 * mib), 12 * mib / 8);
  for (const Residency residency : {Residency::Serial, Residency::Streamed}) {
    EXPECT_EQ(rows_of(residency, 1e9, 24 * mib), 1);
    EXPECT_EQ(rows_of(residency, 0, 24 * mib), all);
  }
}

// A part of the memory for all batches under way; and places in partitions are numbers of 32 bits.
TEST(BatchSizes, RowsOnTheirWayToGroupsHavePlaces) {
  const auto rows_of = [](Residency residency, int64_t memory) {
    return BatchSizes({.residency = residency, .group_row_bytes = 100, .memory_bytes = memory}).next_rows();
  };
  EXPECT_EQ(rows_of(Residency::Serial, 4000), 10);
  EXPECT_EQ(rows_of(Residency::Streamed, 12000), 10);
  EXPECT_EQ(rows_of(Residency::Streamed, 100), 1);
  for (const Residency residency : {Residency::Cached, Residency::Mapped, Residency::Serial, Residency::Streamed}) {
    EXPECT_LE(rows_of(residency, all), std::numeric_limits<uint32_t>::max());
    EXPECT_GT(rows_of(residency, all), 1 << 30);
  }
}

// With company rows that stay are grouped in batches, and the less there is to plan with, the less is asked for.
TEST(BatchSizes, WhatASectionAsksFor) {
  for (const Residency residency : {Residency::Cached, Residency::Mapped, Residency::Serial, Residency::Streamed}) {
    const auto most_bytes = [&](int64_t memory, bool has_company) {
      return BatchSizes({.residency = residency,
                         .rows = 64 * mib,
                         .input_row_bytes = 8,
                         .group_row_bytes = 100,
                         .memory_bytes = memory,
                         .has_company = has_company,
                         .tablet_rows = 65536,
                         .group_room = {.row_bytes = 60}})
          .most_bytes();
    };
    EXPECT_LT(most_bytes(2048 * mib, true), 2048 * mib);
    EXPECT_LT(most_bytes(1024 * mib, true), most_bytes(2048 * mib, true));
    EXPECT_LT(most_bytes(512 * mib, true), most_bytes(1024 * mib, true));
    EXPECT_GT(most_bytes(1, true), 65536 * 60) << "a tablet is not divided";
  }
  const auto cached = [](int64_t rows) {
    return BatchSizes(
               {.residency = Residency::Cached, .rows = rows, .output_row_bytes = 16, .memory_bytes = 1024 * mib})
        .most_bytes();
  };
  EXPECT_GT(cached(1000), 16000);
  EXPECT_LT(cached(1000), 64000);
  EXPECT_LT(cached(mib * mib), 512 * mib);
}

TEST(BatchSizes, RowsThatMustComeTogetherDo) {
  EXPECT_EQ(BatchSizes({.residency = Residency::Streamed, .needs_all = true, .input_row_bytes = 8, .memory_bytes = mib})
                .next_rows(),
            all);
}

TEST(BatchSizes, BatchesGrowWithALimit) {
  BatchSizes cached({.residency = Residency::Cached, .wanted = 10, .input_row_bytes = 8, .memory_bytes = 1024 * mib});
  EXPECT_EQ(cached.next_rows(), 65536);
  EXPECT_EQ(cached.next_rows(), 4 * 65536);
  for (int i = 0; i < 100; ++i) EXPECT_GT(cached.next_rows(), 0);
  BatchSizes moved({.residency = Residency::Serial, .wanted = 10, .input_row_bytes = 1, .memory_bytes = 1024 * mib});
  EXPECT_EQ(moved.next_rows(), 65536);
  for (int i = 0; i < 3; ++i) EXPECT_LT(moved.next_rows(), 16 * mib);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(moved.next_rows(), 16 * mib);
}

TEST(BatchSizes, ALargeResultOfWhatStaysIsDivided) {
  BatchSizes sizes(
      {.residency = Residency::Cached, .input_row_bytes = 8, .output_row_bytes = 16, .memory_bytes = 100 * 1024 * mib});
  EXPECT_FALSE(sizes.knows_share());
  EXPECT_EQ(sizes.next_rows(), 32 * mib);
  EXPECT_EQ(sizes.room_for(32 * mib), 32 * mib);
  sizes.note(32 * mib, 4 * mib);
  EXPECT_TRUE(sizes.knows_share());
  EXPECT_EQ(sizes.next_rows(), 8 * 32 * mib);
  EXPECT_GT(sizes.room_for(64 * mib), 8 * mib);
  EXPECT_LT(sizes.room_for(64 * mib), 16 * mib);
  EXPECT_EQ(sizes.room_for(100), 100);
  BatchSizes small(
      {.residency = Residency::Cached, .input_row_bytes = 8, .output_row_bytes = 16, .memory_bytes = 16 * mib});
  EXPECT_EQ(small.next_rows(), 64 * 1024);
}

TEST(BatchSizes, WhereItIsKnownHowManyRowsComeOutTheRestIsOneBatch) {
  BatchSizes sizes({.residency = Residency::Cached,
                    .rows = 256 * mib,
                    .input_row_bytes = 8,
                    .output_row_bytes = 16,
                    .memory_bytes = 100 * 1024 * mib,
                    .known_share = 0.1});
  EXPECT_TRUE(sizes.knows_share());
  EXPECT_EQ(sizes.next_rows(), 64 * mib);
  EXPECT_GT(sizes.room_for(32 * mib), 32 * mib / 10);
  EXPECT_LT(sizes.room_for(32 * mib), 32 * mib / 5);
  EXPECT_GE(sizes.next_rows(), 1024 * mib);
  EXPECT_EQ(BatchSizes({.residency = Residency::Cached,
                        .rows = 16 * mib,
                        .output_row_bytes = 16,
                        .memory_bytes = 640 * mib,
                        .known_share = 0.1})
                .next_rows(),
            16 * mib);
  sizes.note(32 * mib, 16 * mib);
  EXPECT_GT(sizes.room_for(32 * mib), 16 * mib);
}

TEST(BatchSizes, NothingComesOut) {
  BatchSizes sizes({.residency = Residency::Mapped, .output_row_bytes = 16, .memory_bytes = 1024 * mib});
  sizes.note(mib, 0);
  EXPECT_GT(sizes.next_rows(), int64_t{1} << 60);
  EXPECT_GT(sizes.room_for(mib), 0);
}

TEST(BatchSizes, RowsThatComeOutCountWithThoseThatAreMoved) {
  BatchSizes sizes(
      {.residency = Residency::Streamed, .input_row_bytes = 4, .output_row_bytes = 12, .memory_bytes = 1024 * mib});
  // Columns of two batches, rows of three.
  EXPECT_EQ(sizes.next_rows(), 60 * mib / 44);
  sizes.note(mib, 0);
  EXPECT_EQ(sizes.next_rows(), 60 * mib / 8);
}

TEST(BatchSizes, RoomForRowsThatMustComeTogether) {
  const BatchSizes sizes(
      {.residency = Residency::Cached, .needs_all = true, .output_row_bytes = 16, .memory_bytes = 1024 * mib});
  EXPECT_EQ(sizes.room_for(16 * mib), 16 * mib);
  EXPECT_EQ(sizes.room_for(1024 * mib), 256 * mib);
}

}  // namespace
}  // namespace diptych::gpu
