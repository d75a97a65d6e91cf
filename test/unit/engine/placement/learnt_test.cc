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
  for (int i = 0; i < 3; ++i) add_run(way, 10'000, 50);
  EXPECT_EQ(way.ratio, 2) << "disturbed runs";
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
  EXPECT_EQ(way.runs, 0);
}

TEST(Trials, AreRarerTheLessTheyChange) {
  Trials trials;
  const auto runs_to_next = [&] {
    int64_t runs = 0;
    for (; trials.left > 0; ++runs) note_trial(trials, false, false);
    return runs;
  };
  const auto try_in_vain = [&] {
    for (int64_t i = 0; i < Trials::runs; ++i) {
      EXPECT_TRUE(trials.is_due());
      EXPECT_EQ(trials.is_at_hand(), i > 0);
      note_trial(trials, false, false);
      EXPECT_TRUE(trials.is_due()) << "another run between those of a trial ends nothing";
      note_trial(trials, true, false);
    }
    EXPECT_FALSE(trials.is_due());
  };
  EXPECT_EQ(runs_to_next(), 16);
  try_in_vain();
  EXPECT_EQ(runs_to_next(), 24);
  try_in_vain();
  EXPECT_EQ(runs_to_next(), 36);
  note_trial(trials, true, false);
  note_trial(trials, true, true);
  EXPECT_EQ(runs_to_next(), 16) << "one better run is enough";
  for (int i = 0; i < 100; ++i) {
    try_in_vain();
    runs_to_next();
  }
  try_in_vain();
  EXPECT_EQ(runs_to_next(), 1024);
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
