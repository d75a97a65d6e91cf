#include "engine/gpu/device_reservations.h"

#include <gtest/gtest.h>

#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

#include "base/error.h"
#include "engine/device/memory_pool.h"

namespace diptych::gpu {
namespace {

using namespace std::chrono_literals;
using Wish = DeviceReservations::Wish;

constexpr int64_t limit = int64_t{1} << 20;

class OneBlock final : public RawMemory {
 public:
  std::optional<RawBlock> allocate_block(int64_t at_least, int64_t) override {
    if (std::exchange(is_taken_, true) || at_least > limit) return std::nullopt;
    return RawBlock{limit, limit};
  }
  void free_block(RawBlock) noexcept override { is_taken_ = false; }

 private:
  bool is_taken_ = false;
};

// Memory that nothing is behind.
class PooledDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  std::optional<DeviceBuffer> try_allocate(int64_t bytes, uint64_t reservation) override {
    const auto address = pool_.try_allocate(bytes, reservation);
    if (!address) return std::nullopt;
    return DeviceBuffer(this, {*address}, bytes);
  }
  PinnedBuffer allocate_pinned(int64_t, const char*) override { return {}; }
  void set_memory_limit(int64_t) override {}
  int64_t memory_limit() const override { return limit; }
  DeviceMemoryUse memory_use() const override {
    return {.used_bytes = pool_.used_bytes(), .set_aside_bytes = pool_.set_aside_bytes()};
  }
  std::unique_ptr<Queue> make_queue() override { return nullptr; }
  std::shared_ptr<const Kernel> compile(const KernelText&, CompileReport*) override { return nullptr; }
  std::shared_ptr<const Kernel> find_compiled(const KernelText&) override { return nullptr; }

 private:
  std::optional<uint64_t> reserve(int64_t bytes) override { return pool_.try_reserve(bytes); }
  void release(uint64_t reservation) noexcept override { pool_.release(reservation); }
  void free(DeviceAddress address, int64_t) noexcept override { pool_.free(address.value); }
  void free_pinned(std::byte*, int64_t) noexcept override {}
  void shrink_pinned(std::byte*, int64_t) noexcept override {}

  DeviceInfo info_;
  OneBlock raw_;
  MemoryPool pool_{raw_, {.alignment = 256, .limit = limit}};
};

// So many bytes, whatever it plans with.
Wish always(int64_t bytes) {
  return [bytes](int64_t) { return bytes; };
}
// As much as it plans with.
int64_t all_of(int64_t room) { return room; }

class DeviceReservationsTest : public ::testing::Test {
 protected:
  PooledDevice device_;
  DeviceReservations reservations_{device_};
};

TEST_F(DeviceReservationsTest, PlacesAreGivenAsLongAsThereIsRoom) {
  const auto first = reservations_.enter(always(limit / 2), nullptr);
  EXPECT_EQ(first->room(), limit);
  EXPECT_EQ(device_.room(), limit) << "of the reservation of this thread";
  {
    const auto second = reservations_.try_enter(all_of);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->room(), limit / 2);
    EXPECT_EQ(device_.room(), limit / 2);
    EXPECT_EQ(reservations_.try_enter(all_of), nullptr) << "there is not even an eighth";
    EXPECT_FALSE(reservations_.has_waiting());
  }
  EXPECT_EQ(device_.room(), limit);
  EXPECT_NE(reservations_.try_enter(all_of), nullptr);
}

// Beside others it does so at once where it does not wait for all of its wish.
TEST_F(DeviceReservationsTest, WithoutPatienceAPartOfAWishIsTaken) {
  DeviceReservations hasty(device_, 0s);
  const auto first = hasty.enter(always(limit / 2), nullptr);
  const auto second = hasty.enter(all_of, nullptr);
  EXPECT_EQ(second->room(), limit / 2);
}

TEST_F(DeviceReservationsTest, BesideOthersASectionWaitsForAllOfItsWish) {
  DeviceReservations patient(device_, 1h);
  int asked_to_give_way = 0;
  auto first = patient.enter(always(limit / 2), nullptr);
  device_.when_short([&](int64_t) { return ++asked_to_give_way > 1000; });
  std::jthread other([&] {
    const auto place = patient.enter(all_of, nullptr);
    EXPECT_EQ(place->room(), limit);
  });
  while (!patient.has_waiting()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(asked_to_give_way, 0) << "columns stay while others work";
  first.reset();
  other.join();
  device_.when_short(nullptr);
}

// For columns that are brought meanwhile, and for what sections take beyond their places.
TEST_F(DeviceReservationsTest, BesideOthersAnEighthStaysFree) {
  DeviceReservations patient(device_, 1h);
  auto first = patient.enter(always(limit / 2), nullptr);
  EXPECT_EQ(patient.enter_at_once(always(limit / 8 * 3 + 256)), nullptr);
  auto second = patient.enter_at_once(always(limit / 8 * 3));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->room(), limit);
  EXPECT_EQ(patient.enter_at_once(always(256)), nullptr);
  // Who has rows there is done the sooner.
  EXPECT_NE(patient.try_enter(always(limit / 8)), nullptr);
}

TEST_F(DeviceReservationsTest, WhoNeedNotWaitDoesNotPassThoseWhoDo) {
  DeviceReservations patient(device_, 1h);
  auto first = patient.enter(always(limit / 2), nullptr);
  std::jthread other([&] { EXPECT_NE(patient.enter(always(limit), nullptr), nullptr); });
  while (!patient.has_waiting()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(patient.enter_at_once(always(256)), nullptr);
  first.reset();
}

// Those who wait leave it what it has given back.
TEST_F(DeviceReservationsTest, WhoComesBackFindsItsRoom) {
  DeviceReservations patient(device_, 1h);
  const auto stays = patient.enter(always(limit / 8), nullptr);
  auto first = patient.enter_at_once(always(limit / 2));
  ASSERT_NE(first, nullptr);
  std::atomic<bool> is_in = false;
  std::jthread other([&] {
    const auto place = patient.enter(always(limit / 2), nullptr);
    is_in = true;
  });
  while (!patient.has_waiting()) std::this_thread::sleep_for(1ms);
  first->comes_back();
  first.reset();
  const auto again = patient.try_enter(always(limit / 2));
  // If this thread was held up for longer, the other has it.
  EXPECT_TRUE(again != nullptr || is_in);
}

// Columns of a table are not given up for more room while others, who may want them, wait too.
TEST_F(DeviceReservationsTest, WithOthersInTheLineItTakesLessBeforeColumnsGo) {
  DeviceReservations patient(device_, 1h);
  DeviceBuffer columns = device_.allocate_to_stay(limit / 2, "columns");
  auto first = patient.enter(always(limit / 2), nullptr);
  std::atomic<int64_t> room = 0;
  std::vector<std::jthread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      const auto place = patient.enter(all_of, nullptr);
      int64_t none = 0;
      room.compare_exchange_strong(none, place->room());
    });
  }
  while (!patient.has_waiting()) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(20ms);
  device_.when_short([&](int64_t) {
    const bool had_some = columns.bytes() > 0;
    columns = DeviceBuffer();
    return had_some;
  });
  first.reset();
  while (room == 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(room, limit / 2);
  others.clear();
  device_.when_short(nullptr);
}

TEST_F(DeviceReservationsTest, WhatIsSetAsideIsTakenFirstAndStaysWithItsOwner) {
  DeviceBuffer kept;
  {
    const auto mine = reservations_.enter(always(limit - 4096), nullptr);
    const DeviceBuffer stays = device_.allocate_to_stay(4096, "columns");
    EXPECT_THROW(device_.allocate_to_stay(256, "columns"), Error) << "the rest is set aside";
    kept = device_.allocate(limit / 2, "rows");
    std::jthread([&] { EXPECT_THROW(device_.allocate(256, "of another thread"), Error); });
  }
  EXPECT_EQ(device_.memory_use().used_bytes, limit / 2);
  EXPECT_THROW(device_.allocate(limit / 2 + 256, "rows"), Error);
  kept = DeviceBuffer();
  kept = device_.allocate(limit, "all in one piece again");
}

TEST_F(DeviceReservationsTest, WhatIsSetAsideAndWhatIsFreeTogetherMayDo) {
  const auto mine = reservations_.enter(always(limit / 2), nullptr);
  const DeviceBuffer large = device_.allocate(limit, "more than either");
}

TEST_F(DeviceReservationsTest, AFloorThatIsNotThereIsLetInAloneWithNothing) {
  const auto alone = reservations_.enter(always(2 * limit), nullptr);
  EXPECT_EQ(alone->room(), limit);
  EXPECT_EQ(reservations_.try_enter(always(256)), nullptr);
  EXPECT_FALSE(alone->try_grow(all_of));
}

TEST_F(DeviceReservationsTest, MoreIsThereWhenOthersHaveLeft) {
  std::binary_semaphore is_inside{0}, may_leave{0};
  std::jthread other([&] {
    const auto place = reservations_.enter(always(limit / 4 * 3), nullptr);
    is_inside.release();
    may_leave.acquire();
  });
  is_inside.acquire();
  const Wish wish = [](int64_t room) { return room / 2; };
  const auto mine = reservations_.enter(wish, nullptr);
  EXPECT_EQ(mine->room(), limit / 2);
  EXPECT_FALSE(mine->try_grow(wish));
  may_leave.release();
  other.join();
  EXPECT_TRUE(mine->try_grow(wish));
  EXPECT_EQ(mine->room(), limit);
  const DeviceBuffer half = device_.allocate(limit / 2, "of what is set aside");
}

TEST_F(DeviceReservationsTest, WhoIsCancelledWhileItWaitsHoldsUpNobody) {
  const auto inside = reservations_.enter(always(limit / 2), nullptr);
  const std::atomic<bool> cancelled = true;
  try {
    reservations_.enter(always(limit), &cancelled);
    FAIL() << "another is inside";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::query_canceled);
  }
  EXPECT_NE(reservations_.try_enter(always(limit / 2)), nullptr);
}

// Who comes later does not pass one that waits.
TEST_F(DeviceReservationsTest, FirstComeFirstServed) {
  auto inside = reservations_.enter(always(limit / 2), nullptr);
  std::vector<int> order;
  std::jthread large([&] {
    const auto place = reservations_.enter(always(limit), nullptr);
    order.push_back(1);
  });
  while (!reservations_.has_waiting()) std::this_thread::sleep_for(1ms);
  EXPECT_NE(reservations_.try_enter(always(256)), nullptr) << "but one that has rows there does";
  std::jthread small([&] {
    const auto place = reservations_.enter(always(limit), nullptr);
    order.push_back(2);
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(order.empty());
  inside.reset();
  large.join();
  small.join();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(DeviceReservationsTest, NeverMoreThanThereIs) {
  std::atomic<int64_t> reserved{0}, most{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 300; ++i) {
          const int64_t bytes = limit / (1 + (i + thread) % 7);
          const auto place = reservations_.enter(always(bytes), nullptr);
          const int64_t now = reserved += bytes / 256 * 256;
          for (int64_t before = most; now > before && !most.compare_exchange_weak(before, now);) {
          }
          const DeviceBuffer buffer = device_.allocate(bytes / 2, "half of it");
          std::this_thread::yield();
          reserved -= bytes / 256 * 256;
        }
      });
    }
  }
  EXPECT_LE(most, limit);
  EXPECT_EQ(reserved, 0);
  EXPECT_EQ(device_.memory_use().used_bytes, 0);
}

}  // namespace
}  // namespace diptych::gpu
