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
  for (const Residency residency : {Residency::Serial, Residency::Streamed}) {
    EXPECT_EQ(BatchSizes({.residency = residency, .input_row_bytes = 4, .memory_bytes = 1024 * mib}).next_rows(),
              5 * mib);
    EXPECT_EQ(BatchSizes({.residency = residency, .input_row_bytes = 0.5, .memory_bytes = 1024 * mib}).next_rows(),
              40 * mib);
    // Three at once fit into little memory.
    EXPECT_EQ(BatchSizes({.residency = residency, .input_row_bytes = 4, .memory_bytes = 24 * mib}).next_rows(), mib);
    EXPECT_EQ(BatchSizes({.residency = residency, .input_row_bytes = 1e9, .memory_bytes = 24 * mib}).next_rows(), 1);
    EXPECT_EQ(BatchSizes({.residency = residency, .input_row_bytes = 0, .memory_bytes = 24 * mib}).next_rows(), all);
  }
}

TEST(BatchSizes, RowsThatMustComeTogetherDo) {
  EXPECT_EQ(BatchSizes({.residency = Residency::Streamed, .needs_all = true, .input_row_bytes = 8, .memory_bytes = mib})
                .next_rows(),
            all);
}

TEST(BatchSizes, BatchesGrowWithALimit) {
  BatchSizes cached({.residency = Residency::Cached, .wanted = 10, .input_row_bytes = 8, .memory_bytes = 1024 * mib});
  EXPECT_EQ(cached.next_rows(), 4 * mib);
  EXPECT_EQ(cached.next_rows(), 16 * mib);
  for (int i = 0; i < 100; ++i) EXPECT_GT(cached.next_rows(), 0);
  BatchSizes moved({.residency = Residency::Serial, .wanted = 10, .input_row_bytes = 1, .memory_bytes = 1024 * mib});
  EXPECT_EQ(moved.next_rows(), 4 * mib);
  EXPECT_EQ(moved.next_rows(), 16 * mib);
  EXPECT_EQ(moved.next_rows(), 20 * mib);
}

}  // namespace
}  // namespace diptych::gpu
