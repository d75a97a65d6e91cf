// Threads that are started when the calling one asks for them.
#include "engine/run/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace diptych {
namespace {

TEST(OtherThreadsTest, EachIsStartedOnce) {
  std::atomic<int> sum{0};
  OtherThreads others(4);
  others.start([&](int thread) { sum += 1 << thread; });
  others.wait();
  EXPECT_EQ(sum, 0b1110);
}

TEST(OtherThreadsTest, NobodyHasToCallThem) {
  OtherThreads others(4);
  others.wait();
}

TEST(OtherThreadsTest, TheyEndBeforeTheirWorkDoes) {
  std::atomic<int> done{0};
  {
    OtherThreads others(3);
    others.start([&](int) { ++done; });
  }
  EXPECT_EQ(done, 2);
}

TEST(OtherThreadsTest, TheirErrorsAreTold) {
  OtherThreads others(3);
  others.start([](int thread) {
    if (thread == 2) throw std::runtime_error("of the second");
  });
  EXPECT_THROW(others.wait(), std::runtime_error);
}

TEST(OtherThreadsTest, AnErrorOfTheCallingThreadWaitsForThem) {
  std::atomic<int> done{0};
  const auto work = [&] {
    OtherThreads others(3);
    others.start([&](int) {
      ++done;
      throw std::runtime_error("of another");
    });
    throw std::logic_error("of the calling one");
  };
  EXPECT_THROW(work(), std::logic_error);
  EXPECT_GE(done, 1);
}

}  // namespace
}  // namespace diptych
