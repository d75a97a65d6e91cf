#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/error.h"

namespace diptych {
namespace {

TEST(MemoryBudgetTest, CountsUpToTheLimit) {
  MemoryBudget budget(100);
  budget.reserve(60, "a");
  EXPECT_TRUE(budget.try_reserve(40));
  EXPECT_FALSE(budget.try_reserve(1));
  try {
    budget.reserve(1, "hash table");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(code_of(error.state()), "53200");
    EXPECT_NE(error.message().find("hash table"), std::string::npos);
  }
  budget.release(100);
  EXPECT_EQ(budget.used(), 0);
  EXPECT_EQ(budget.peak(), 100);
}

TEST(MemoryBudgetTest, AsksReclaimersInOrder) {
  MemoryBudget budget(100);
  int64_t held[2] = {30, 50};
  auto reclaimer = [&](int which) {
    return [&, which](int64_t) {
      int64_t given = std::exchange(held[which], 0);
      budget.release(given);
      return given;
    };
  };
  budget.reserve(80, "cache");
  int64_t first = budget.add_reclaimer(reclaimer(0));
  budget.add_reclaimer(reclaimer(1));
  EXPECT_FALSE(budget.try_reserve_free(40));
  budget.reserve(40, "statement");
  EXPECT_EQ(held[0], 0);
  EXPECT_EQ(held[1], 50);
  budget.reserve(50, "statement");
  EXPECT_EQ(held[1], 0);
  EXPECT_THROW(budget.reserve(50, "statement"), Error);
  budget.remove_reclaimer(first);
  budget.release(90);
  EXPECT_EQ(budget.used(), 0);
}

// One that writes a file takes its time; whoever comes meanwhile neither fails nor asks it for the same bytes again.
TEST(MemoryBudgetTest, WhatAnotherThreadReclaimsIsWaitedFor) {
  MemoryBudget budget(100);
  budget.reserve(100, "result");
  std::promise<void> begun, may_end;
  std::atomic<bool> is_taken = false;
  const int64_t number = budget.add_reclaimer([&](int64_t) -> int64_t {
    if (is_taken.exchange(true)) return 0;
    begun.set_value();
    may_end.get_future().wait();
    budget.release(100);
    return 100;
  });
  auto first = std::async(std::launch::async, [&] { return budget.try_reserve(40); });
  begun.get_future().wait();
  auto second = std::async(std::launch::async, [&] { return budget.try_reserve(50); });
  // A reclaimer that runs elsewhere holds up nobody who adds another or finds room.
  budget.remove_reclaimer(budget.add_reclaimer([](int64_t) { return 0; }));
  may_end.set_value();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
  EXPECT_EQ(budget.used(), 90);
  EXPECT_FALSE(budget.try_reserve(20)) << "nobody has anything left";
  budget.remove_reclaimer(number);
}

TEST(MemoryBudgetTest, AReclaimerThatFailsIsNoLongerWaitedFor) {
  MemoryBudget budget(100);
  budget.reserve(100, "result");
  const int64_t number =
      budget.add_reclaimer([](int64_t) -> int64_t { throw Error(SqlState::disk_full, "no room on the disk"); });
  EXPECT_THROW(budget.reserve(1, "sort"), Error);
  EXPECT_THROW(budget.reserve(1, "sort"), Error);
  budget.remove_reclaimer(number);
}

TEST(MemoryBudgetTest, AReservationFollowsWhatItIsFor) {
  MemoryBudget budget(100);
  {
    MemoryReservation reservation(budget, "sort");
    reservation.follow(30);
    reservation.follow(20);
    EXPECT_EQ(budget.used(), 30);
    EXPECT_FALSE(reservation.try_grow(71));
    EXPECT_THROW(reservation.follow(101), Error);
    EXPECT_EQ(budget.used(), 30);
  }
  EXPECT_EQ(budget.used(), 0);
  MemoryReservation uncounted(nullptr, "sort");
  uncounted.follow(1000);
  EXPECT_TRUE(uncounted.try_grow(1000));
}

TEST(MemoryBudgetTest, ReservationEndsWithItsScope) {
  MemoryBudget budget(100);
  {
    MemoryReservation reservation(budget, "sort");
    reservation.grow(30);
    reservation.shrink(10);
    MemoryReservation moved(std::move(reservation));
    EXPECT_EQ(moved.bytes(), 20);
    EXPECT_EQ(budget.used(), 20);
  }
  EXPECT_EQ(budget.used(), 0);
}

TEST(MemoryBudgetTest, NeverExceedsTheLimitWithManyThreads) {
  MemoryBudget budget(1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        if (budget.try_reserve(300)) budget.release(300);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(budget.peak(), 1000);
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace diptych
