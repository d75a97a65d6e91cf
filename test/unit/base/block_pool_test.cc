#include "base/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "base/error.h"

namespace diptych {
namespace {

constexpr int64_t mebibyte = 1 << 20;

TEST(BlockPoolTest, BlockSizes) {
  EXPECT_EQ(BlockPool::block_bytes(0), 64u);
  EXPECT_EQ(BlockPool::block_bytes(65), 128u);
  EXPECT_EQ(BlockPool::block_bytes(65536), 65536u);
  EXPECT_EQ(BlockPool::block_bytes(65537), 81920u);
  for (size_t bytes = 65536; bytes <= BlockPool::largest_kept; bytes += bytes / 7 + 1) {
    EXPECT_GE(BlockPool::block_bytes(bytes), bytes);
    EXPECT_LE(BlockPool::block_bytes(bytes), bytes + bytes / 4);
    EXPECT_EQ(BlockPool::block_bytes(BlockPool::block_bytes(bytes)), BlockPool::block_bytes(bytes));
  }
}

TEST(BlockPoolTest, KeepsBlocksForTheNext) {
  MemoryBudget budget(64 * mebibyte);
  BlockPool pool(budget);
  std::byte* first;
  {
    PooledBuffer buffer = pool.allocate(3 * mebibyte, "test");
    first = buffer.data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    std::memset(first, 1, buffer.size());
    EXPECT_EQ(budget.used(), 3 * mebibyte);
  }
  EXPECT_EQ(pool.kept_bytes(), 3 * mebibyte);
  EXPECT_EQ(budget.used(), 3 * mebibyte);
  PooledBuffer again = pool.allocate(3 * mebibyte - 5, "test");
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(pool.kept_bytes(), 0);
  again = PooledBuffer();
  EXPECT_EQ(pool.trim(1), 3 * mebibyte);
  EXPECT_EQ(budget.used(), 0);
}

TEST(BlockPoolTest, GivesWayUnderPressure) {
  MemoryBudget budget(8 * mebibyte);
  BlockPool pool(budget);
  pool.allocate(4 * mebibyte, "test");
  pool.allocate(2 * mebibyte, "test");
  EXPECT_EQ(pool.kept_bytes(), 6 * mebibyte);
  budget.reserve(7 * mebibyte, "statement");
  EXPECT_EQ(pool.kept_bytes(), 0);
  EXPECT_FALSE(pool.try_allocate(2 * mebibyte));
  EXPECT_THROW(pool.allocate(2 * mebibyte, "test"), Error);
  budget.release(7 * mebibyte);
  EXPECT_EQ(budget.used(), 0);
}

TEST(BlockPoolTest, ManyThreads) {
  MemoryBudget budget(64 * mebibyte);
  {
    BlockPool pool(budget);
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) {
      threads.emplace_back([&pool, seed] {
        std::mt19937 random(seed);
        std::vector<PooledBuffer> held(4);
        for (int i = 0; i < 300; ++i) {
          PooledBuffer& buffer = held[random() % held.size()];
          buffer = pool.allocate(1 + random() % (3 * mebibyte), "test");
          std::memset(buffer.data(), static_cast<int>(seed), std::min<size_t>(buffer.size(), 100));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_LE(budget.peak(), budget.limit());
  }
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace diptych
