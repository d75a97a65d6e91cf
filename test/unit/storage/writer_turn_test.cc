// Who has the turn to write.
#include "storage/writer_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"

namespace diptych {
namespace {

using std::chrono::milliseconds;

// Nothing: it has the turn.
std::optional<SqlState> refusal(WriterTurn& turn, const std::atomic<bool>* cancelled, milliseconds timeout) {
  try {
    turn.begin(cancelled, timeout);
  } catch (const Error& error) {
    return error.state();
  }
  return std::nullopt;
}

TEST(WriterTurn, OneHasItAtATime) {
  WriterTurn turn;
  int64_t changed = 0;  // guarded by the turn
  constexpr int threads = 8, times = 2000;
  std::vector<std::jthread> writers;
  for (int i = 0; i < threads; ++i)
    writers.emplace_back([&] {
      for (int k = 0; k < times; ++k) {
        turn.begin(nullptr, milliseconds(0));
        ++changed;
        turn.end();
      }
    });
  writers.clear();
  EXPECT_EQ(changed, int64_t{threads} * times);
}

TEST(WriterTurn, WhoGivesUpIsPassedOver) {
  WriterTurn turn;
  turn.begin(nullptr, milliseconds(0));
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(refusal(turn, &cancelled, milliseconds(0)), SqlState::query_canceled);
  EXPECT_EQ(refusal(turn, nullptr, milliseconds(15)), SqlState::lock_not_available);
  std::atomic<bool> stops = false;
  std::optional<SqlState> first, second;
  {
    std::jthread one([&] { first = refusal(turn, &stops, milliseconds(0)); });
    std::this_thread::sleep_for(milliseconds(30));
    std::jthread other([&] {
      second = refusal(turn, nullptr, milliseconds(0));
      turn.end();
    });
    std::this_thread::sleep_for(milliseconds(30));
    stops = true;
    one.join();
    turn.end();
  }
  EXPECT_EQ(first, SqlState::query_canceled);
  EXPECT_EQ(second, std::nullopt);
  turn.begin(nullptr, milliseconds(1));
  turn.end();
}

// Some give up at any moment, also when the turn has just been passed to them.
TEST(WriterTurn, IsNeverLost) {
  WriterTurn turn;
  std::atomic<int64_t> had = 0, gave_up = 0;
  std::vector<std::jthread> writers;
  constexpr int threads = 6, times = 300;
  for (int i = 0; i < threads; ++i)
    writers.emplace_back([&, i] {
      for (int k = 0; k < times; ++k) {
        const milliseconds timeout(i % 2 == 0 ? 1 : 0);
        if (refusal(turn, nullptr, timeout)) {
          ++gave_up;
          continue;
        }
        if (k % 16 == 0) std::this_thread::sleep_for(milliseconds(1));
        ++had;
        turn.end();
      }
    });
  writers.clear();
  EXPECT_EQ(had + gave_up, int64_t{threads} * times);
  EXPECT_EQ(refusal(turn, nullptr, milliseconds(1000)), std::nullopt);
}

}  // namespace
}  // namespace diptych
