// What runs teach: no clock, no device.
#include "engine/placement/learnt.h"

#include <gtest/gtest.h>

namespace diptych {
namespace {

TEST(LearntTime, OneSlowRunProvesNothing) {
  LearntTime way;
  add_run(way, 400, 50);
  EXPECT_EQ(way.ratio, 1) << "the first finds caches cold";
  add_run(way, 100, 50);
  EXPECT_EQ(way.ratio, 2);
  add_run(way, 10'000, 50);
  EXPECT_EQ(way.ratio, 2) << "a disturbed run";
  add_run(way, 110, 50);
  EXPECT_EQ(way.ratio, 2.2);
}

TEST(LearntTime, AFastRunCountsAtOnce) {
  LearntTime way;
  add_run(way, 25, 50);
  EXPECT_EQ(way.ratio, 0.5);
  add_run(way, 200, 50);
  EXPECT_EQ(way.ratio, 0.5);
}

TEST(LearntTime, NothingIsLearntWithoutAnEstimate) {
  LearntTime way;
  add_run(way, 25, 0);
  EXPECT_EQ(way.ratio, 1);
  EXPECT_EQ(way.last, 1);
}

TEST(LearntChain, RestsEnd) {
  LearntChain chain;
  LearntTime& way = chain.of(0, Residency::Cached);
  way.rest = 2;
  pass_rests(chain);
  EXPECT_EQ(way.rest, 1);
  pass_rests(chain);
  pass_rests(chain);
  EXPECT_EQ(way.rest, 0);
}

}  // namespace
}  // namespace diptych
