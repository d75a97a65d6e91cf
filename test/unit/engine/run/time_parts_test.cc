#include "engine/run/time_parts.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace diptych {
namespace {

// Long enough to be seen by any clock.
void pass_time() {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(50)) {
  }
}

TEST(TimeParts, AMomentBelongsToTheInnermostPart) {
  const auto start = std::chrono::steady_clock::now();
  PartClock clock(TimePart::Prepare);
  {
    const PartScope load(&clock, TimePart::Load);
    pass_time();
    {
      const PartScope wait(&clock, TimePart::Wait);
      pass_time();
    }
    pass_time();
  }
  const PartTimes times = clock.times();
  const std::chrono::nanoseconds all = std::chrono::steady_clock::now() - start;
  EXPECT_GE(times[TimePart::Load], 100'000);
  EXPECT_GE(times[TimePart::Wait], 50'000);
  EXPECT_EQ(times[TimePart::Launch], 0);
  EXPECT_LE(times.sum(), all.count());
  EXPECT_EQ(times.sum(), times[TimePart::Prepare] + times[TimePart::Load] + times[TimePart::Wait]);
}

TEST(TimeParts, WithoutAClockNothingIsMeasured) {
  const PartScope scope(nullptr, TimePart::Load);
  PartTimes times, other;
  other[TimePart::Merge] = 7;
  times.add(other);
  times.add(other);
  EXPECT_EQ(times[TimePart::Merge], 14);
  EXPECT_EQ(times.sum(), 14);
}

TEST(TimeParts, EachHasANameOfItsOwn) {
  EXPECT_EQ(std::set<std::string>(time_part_names.begin(), time_part_names.end()).size(), time_part_count);
  EXPECT_EQ(static_cast<size_t>(TimePart::Release) + 1, time_part_count);
}

}  // namespace
}  // namespace diptych
