#include "base/memory_budget.h"

#include <gtest/gtest.h>

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
