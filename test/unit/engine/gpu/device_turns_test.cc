#include "engine/gpu/device_turns.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"

namespace diptych::gpu {
namespace {

using Turn = DeviceTurns::Turn;
using Kind = DeviceTurns::Kind;

TEST(DeviceTurns, ManyTogetherKnowOfEachOther) {
  DeviceTurns turns;
  const Turn first(turns, Kind::Together, nullptr);
  EXPECT_FALSE(first.had_company());
  { const Turn second(turns, Kind::Together, nullptr); }
  EXPECT_TRUE(first.had_company()) << "also of those that have gone";
  const Turn third(turns, Kind::Together, nullptr);
  EXPECT_TRUE(third.had_company());
}

TEST(DeviceTurns, WhoIsCancelledWhileItWaitsHoldsUpNobody) {
  DeviceTurns turns;
  const Turn inside(turns, Kind::Together, nullptr);
  const std::atomic<bool> cancelled = true;
  try {
    const Turn alone(turns, Kind::Alone, &cancelled);
    FAIL() << "another is inside";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::query_canceled);
  }
  const Turn other(turns, Kind::Together, nullptr);
}

TEST(DeviceTurns, OneAloneIsAlone) {
  DeviceTurns turns;
  std::atomic<int> inside{0}, alone{0}, broken{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 500; ++i) {
          const bool is_alone = (i + thread) % 4 == 0;
          const Turn turn(turns, is_alone ? Kind::Alone : Kind::Together, nullptr);
          if (is_alone) ++alone;
          const int others = inside.fetch_add(1);
          if ((is_alone && others > 0) || (!is_alone && alone > 0)) ++broken;
          std::this_thread::yield();
          --inside;
          if (is_alone) --alone;
        }
      });
    }
  }
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(inside, 0);
}

}  // namespace
}  // namespace diptych::gpu
