#include "engine/device/memory_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace diptych::testing {
namespace {

// A device of so many bytes whose blocks never touch.
class FakeMemory final : public RawMemory {
 public:
  explicit FakeMemory(int64_t room, int64_t block_bytes = 1 << 16) : room_(room), block_bytes_(block_bytes) {}
  std::optional<RawBlock> allocate_block(int64_t at_least, int64_t at_most) override {
    const int64_t bytes = std::max(at_least, std::min({block_bytes_, room_, at_most}));
    if (bytes > room_) return std::nullopt;
    room_ -= bytes;
    taken_ += bytes;
    next_ += uint64_t{1} << 40;
    blocks_[next_] = bytes;
    return RawBlock{next_, bytes};
  }
  void free_block(RawBlock block) noexcept override {
    ASSERT_EQ(blocks_[block.address], block.bytes);
    blocks_.erase(block.address);
    room_ += block.bytes;
    taken_ -= block.bytes;
  }
  size_t blocks() const { return blocks_.size(); }
  int64_t bytes() const { return taken_; }
  bool contains(uint64_t address, int64_t bytes) const {
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return false;
    --block;
    return address + static_cast<uint64_t>(bytes) <= block->first + static_cast<uint64_t>(block->second);
  }

 private:
  int64_t room_, taken_ = 0;
  const int64_t block_bytes_;
  uint64_t next_ = 0;
  std::map<uint64_t, int64_t> blocks_;
};

TEST(MemoryPool, ShrinksInPlace) {
  FakeMemory raw(1 << 20);
  MemoryPool pool(raw, {.alignment = 256, .limit = 1 << 20});
  const auto first = pool.try_allocate(10000), second = pool.try_allocate(1000);
  ASSERT_TRUE(first && second);
  pool.shrink(*first, 1000);
  EXPECT_EQ(pool.used_bytes(), 2048);
  EXPECT_EQ(pool.buffers(), 2);
  // What was freed is the best fit for what fits exactly, and joins the rest when it comes back.
  const auto third = pool.try_allocate(10240 - 1024);
  ASSERT_TRUE(third);
  EXPECT_EQ(*third, *first + 1024);
  pool.shrink(*third, 1 << 19);  // it is smaller
  EXPECT_EQ(pool.used_bytes(), 1024 + 1024 + 10240 - 1024);
  pool.free(*third);
  pool.shrink(*third, 1);  // no longer there
  pool.shrink(*first, 0);
  EXPECT_EQ(pool.used_bytes(), 256 + 1024);
  pool.free(*first);
  const auto whole = pool.try_allocate(10240);
  EXPECT_EQ(whole, first);
}

TEST(MemoryPool, NothingOverlaps) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  FakeMemory raw(4 << 20);
  {
    MemoryPool pool(raw, {.alignment = 256, .limit = 3 << 20});
    std::map<uint64_t, int64_t> live;
    int64_t used = 0;
    for (int i = 0; i < 20000; i++) {
      if (random() % 2 == 0 && !live.empty()) {
        auto gone = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        pool.free(gone->first);
        used -= gone->second;
        live.erase(gone);
      } else {
        const auto bytes = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 20)));
        const int64_t rounded = (std::max<int64_t>(bytes, 1) + 255) / 256 * 256;
        auto address = pool.try_allocate(bytes);
        ASSERT_TRUE(used + rounded <= 3 << 20 || !address.has_value());
        if (!address) continue;
        ASSERT_EQ(*address % 256, 0u);
        ASSERT_TRUE(raw.contains(*address, rounded));
        auto next = live.lower_bound(*address);
        ASSERT_TRUE(next == live.end() || *address + static_cast<uint64_t>(rounded) <= next->first);
        if (next != live.begin()) {
          --next;
          ASSERT_LE(next->first + static_cast<uint64_t>(next->second), *address);
        }
        live[*address] = rounded;
        used += rounded;
      }
      ASSERT_EQ(pool.used_bytes(), used);
      ASSERT_EQ(pool.buffers(), static_cast<int64_t>(live.size()));
      if (i % 1000 == 0) pool.trim();
    }
    for (auto [address, bytes] : live) pool.free(address);
    EXPECT_EQ(pool.used_bytes(), 0);
    EXPECT_LE(pool.peak_bytes(), 3 << 20);
    pool.trim();
    EXPECT_EQ(pool.pooled_bytes(), 0);
    EXPECT_EQ(raw.blocks(), 0u);
    pool.try_allocate(1);
  }
  EXPECT_EQ(raw.blocks(), 0u);
}

TEST(MemoryPool, WhatIsSetAsideIsNobodyElses) {
  FakeMemory raw(1 << 20);
  MemoryPool pool(raw, {.alignment = 256, .limit = 65536});
  const auto mine = pool.try_reserve(32768);
  ASSERT_TRUE(mine);
  EXPECT_EQ(pool.used_bytes(), 0);
  EXPECT_FALSE(pool.try_allocate(32768 + 256));
  const auto others = pool.try_allocate(32768), own = pool.try_allocate(16384, *mine);
  ASSERT_TRUE(others && own);
  EXPECT_FALSE(pool.try_allocate(256));
  pool.free(*own);
  EXPECT_FALSE(pool.try_allocate(256)) << "it is set aside again";
  // More than that is taken of what is left beside it, and comes back to it.
  pool.free(*others);
  const auto large = pool.try_allocate(49152, *mine);
  ASSERT_TRUE(large);
  pool.free(*large);
  EXPECT_TRUE(pool.try_allocate(49152, *mine));
  pool.release(*mine);
  EXPECT_EQ(pool.used_bytes(), 49152);
  EXPECT_TRUE(pool.try_allocate(65536 - 49152));
}

// Buffers outlive reservations, which many have at the same time.
TEST(MemoryPool, ReservationsLeaveNothingBehind) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  FakeMemory raw(4 << 20, 1 << 20);
  MemoryPool pool(raw, {.alignment = 256, .limit = 3 << 20});
  std::vector<uint64_t> reservations, live;
  for (int i = 0; i < 20000; i++) {
    const auto pick = [&](std::vector<uint64_t>& from) {
      const size_t at = random() % from.size();
      const uint64_t picked = from[at];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
      return picked;
    };
    const auto bytes = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 20)));
    switch (random() % 5) {
      case 0:
        if (const auto made = pool.try_reserve(bytes)) reservations.push_back(*made);
        break;
      case 1:
        if (!reservations.empty()) pool.release(pick(reservations));
        break;
      case 2:
        if (!live.empty()) pool.free(pick(live));
        break;
      default: {
        const uint64_t from =
            reservations.empty() || random() % 4 == 0 ? 0 : reservations[random() % reservations.size()];
        if (const auto address = pool.try_allocate(bytes, from)) live.push_back(*address);
      }
    }
    ASSERT_EQ(pool.buffers(), static_cast<int64_t>(live.size()));
  }
  for (const uint64_t address : live) pool.free(address);
  for (const uint64_t reservation : reservations) pool.release(reservation);
  EXPECT_EQ(pool.used_bytes(), 0);
  EXPECT_LE(pool.peak_bytes(), 3 << 20);
  EXPECT_TRUE(pool.try_allocate(3 << 20)) << "in one piece again";
}

TEST(MemoryPool, FreedMemoryIsUsedAgain) {
  FakeMemory raw(1 << 20);
  MemoryPool pool(raw, {});
  auto first = pool.try_allocate(1000);
  pool.free(*first);
  EXPECT_EQ(pool.try_allocate(1024), first);
  EXPECT_EQ(raw.blocks(), 1u);
}

TEST(MemoryPool, TrimsBeforeItGivesUp) {
  FakeMemory raw(1 << 20, 1 << 18);
  MemoryPool pool(raw, {});
  std::vector<uint64_t> quarters;
  for (int i = 0; i < 4; i++) quarters.push_back(pool.try_allocate(1 << 18).value());
  EXPECT_FALSE(pool.try_allocate(1).has_value());
  for (uint64_t address : quarters) pool.free(address);
  EXPECT_TRUE(pool.try_allocate(1 << 20).has_value());
  EXPECT_EQ(raw.blocks(), 1u);
}

// A driver takes long to give a block and to take it back.
TEST(MemoryPool, GivesBackNoMoreBlocksThanItHasTo) {
  FakeMemory raw(1 << 20, 1 << 16);
  MemoryPool pool(raw, {.limit = 5 << 16});
  std::vector<uint64_t> blocks;
  for (const int64_t bytes : {1 << 16, 2 << 16, 1 << 16, 1 << 16}) blocks.push_back(pool.try_allocate(bytes).value());
  pool.free(blocks[0]);
  EXPECT_FALSE(pool.try_allocate(2 << 16).has_value());
  EXPECT_EQ(raw.blocks(), 4u) << "it would have been in vain";
  pool.free(blocks[2]);
  pool.free(blocks[1]);
  pool.free(blocks[3]);
  // The block of two and that of one are not enough by themselves; three go of four, the smaller ones stay if they can.
  EXPECT_TRUE(pool.try_allocate(3 << 16).has_value());
  EXPECT_EQ(raw.blocks(), 3u);
  EXPECT_EQ(raw.bytes(), 5 << 16);
}

// Columns stay, and what is set aside comes and goes: it finds its memory in one piece again.
TEST(MemoryPool, WhatStaysLiesAtTheEnd) {
  FakeMemory raw(1 << 20, 1 << 20);
  MemoryPool pool(raw, {.limit = 1 << 20});
  std::vector<uint64_t> columns;
  for (int i = 0; i < 4; ++i) {
    const auto reservation = pool.try_reserve((100 + i) << 10);
    ASSERT_TRUE(reservation);
    columns.push_back(pool.try_allocate(64 << 10).value());
    pool.release(*reservation);
  }
  EXPECT_EQ(pool.pooled_bytes(), (1 << 20) - (256 << 10));
  EXPECT_EQ(pool.set_aside_bytes(), 0);
  EXPECT_TRUE(pool.try_reserve((1 << 20) - (256 << 10))) << "all that is free";
  EXPECT_EQ(pool.set_aside_bytes(), (1 << 20) - (256 << 10));
  for (const uint64_t column : columns) pool.free(column);
}

// Pieces between used ones count: they are nobody else's.
TEST(MemoryPool, LimitHoldsForBlocks) {
  FakeMemory raw(1 << 20, 1 << 16);
  MemoryPool pool(raw, {.limit = (1 << 17) + (1 << 15)});
  std::vector<uint64_t> halves;
  for (int i = 0; i < 5; i++) halves.push_back(pool.try_allocate(1 << 15).value());
  EXPECT_EQ(raw.bytes(), (1 << 17) + (1 << 15));  // the last block is as large as the limit lets it be
  EXPECT_FALSE(pool.try_allocate(1).has_value());
  pool.free(halves[0]);
  pool.free(halves[2]);
  EXPECT_FALSE(pool.try_allocate(1 << 16).has_value());  // what is free lies in two blocks
  pool.free(halves[1]);
  EXPECT_TRUE(pool.try_allocate(1 << 16).has_value());
  pool.free(halves[4]);
  pool.set_limit(1 << 16);
  EXPECT_EQ(raw.bytes(), 1 << 17);  // the rest is in use
  pool.free(halves[3]);
  EXPECT_EQ(raw.bytes(), 1 << 16);
}

TEST(MemoryPool, KeepsNoMoreThanItMay) {
  FakeMemory raw(1 << 20, 1 << 16);
  MemoryPool pool(raw, {.keep_bytes = 1 << 16});
  std::vector<uint64_t> blocks;
  for (int i = 0; i < 4; i++) blocks.push_back(pool.try_allocate(1 << 16).value());
  for (uint64_t address : blocks) pool.free(address);
  EXPECT_EQ(raw.blocks(), 1u);
}

TEST(MemoryPool, ImpossibleSizes) {
  FakeMemory raw(1 << 20);
  MemoryPool pool(raw, {});
  EXPECT_FALSE(pool.try_allocate(-1).has_value());
  EXPECT_FALSE(pool.try_allocate(INT64_MAX).has_value());
  EXPECT_FALSE(pool.try_allocate(int64_t{1} << 40).has_value());
  EXPECT_NE(pool.try_allocate(0), pool.try_allocate(0));
}

}  // namespace
}  // namespace diptych::testing
