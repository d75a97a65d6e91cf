// Which runs a decision of where a program runs serves.
#include "engine/kept_decisions.h"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>
#include <utility>

#include "engine/program_maker.h"

namespace diptych {
namespace {

using testing::make_table;
using testing::NumberedTablets;

const Type integer{TypeId::Integer};

std::shared_ptr<const TabletSource> table(int rows, uint64_t first_tablet = 1) {
  const std::vector<std::vector<Value>> values(static_cast<size_t>(rows), {Value::integer(1)});
  return std::make_shared<NumberedTablets>(make_table({{"a", integer}}, values, 64), first_tablet);
}

class KeptDecisionsTest : public ::testing::Test {
 protected:
  KeptDecisionsTest() {
    program_.text_number = 1;
    program_.sources = {table(6400)};
    decision_->facts = std::make_shared<ProgramFacts>();
  }

  ProgramRun run() const { return {program_, context_, wanted_}; }
  void keep() { kept_.keep(*KeptDecisions::entry_for(run(), choice_, changes_, decision_)); }
  bool serves() { return kept_.find(run(), choice_, changes_) == decision_; }

  const std::shared_ptr<PlacementDecision> decision_ = std::make_shared<PlacementDecision>();
  Program program_;
  ExecutionContext context_;
  PlacementChoice choice_;
  int64_t wanted_ = -1;
  uint64_t changes_ = 0;
  KeptDecisions kept_;
};

TEST_F(KeptDecisionsTest, ServesSoManyRuns) {
  EXPECT_FALSE(serves());
  keep();
  for (int i = 0; i < KeptDecisions::most_uses; ++i) EXPECT_TRUE(serves()) << i;
  EXPECT_FALSE(serves());
  EXPECT_FALSE(serves()) << "it is gone";
  keep();
  EXPECT_TRUE(serves());
}

TEST_F(KeptDecisionsTest, ServesATableThatFewRowsHaveChangedOf) {
  keep();
  program_.sources = {table(6500)};
  EXPECT_TRUE(serves());
  program_.sources = {table(6300)};
  EXPECT_TRUE(serves());
  program_.sources = {table(6501)};
  EXPECT_FALSE(serves()) << "larger than it was when it was decided";
}

TEST_F(KeptDecisionsTest, ServesNoOtherRun) {
  const std::vector<std::pair<const char*, std::function<void()>>> others = {
      {"another text", [&] { program_.text_number = 2; }},
      {"no number", [&] { program_.text_number = 0; }},
      {"another table", [&] { program_.sources = {table(6400, 1000)}; }},
      {"a smaller table", [&] { program_.sources = {table(6200)}; }},
      {"an empty table", [&] { program_.sources = {table(0)}; }},
      {"fewer rows wanted", [&] { wanted_ = 10; }},
      {"more threads", [&] { context_.threads = 2; }},
      {"another device", [&] { choice_.device = "opencl"; }},
      {"another residency", [&] { choice_.residency = "serial"; }},
      {"other kernels", [&] { choice_.gpu_engine = "interpreter"; }},
      {"columns were dropped", [&] { changes_ = 1; }},
      {"it went otherwise", [&] { kept_.forget(1); }},
      {"all are gone", [&] { kept_.clear(); }}};
  for (const auto& [name, change] : others) {
    const auto before = std::tuple(program_, context_, choice_, wanted_, changes_);
    keep();
    EXPECT_TRUE(serves()) << name;
    change();
    EXPECT_FALSE(serves()) << name;
    std::tie(program_, context_, choice_, wanted_, changes_) = before;
  }
}

TEST_F(KeptDecisionsTest, NothingIsKeptWithoutANumber) {
  program_.text_number = 0;
  EXPECT_FALSE(KeptDecisions::entry_for(run(), choice_, changes_, decision_).has_value());
}

TEST(PlacementDecisions, MayServeAgainOnceSettled) {
  PlacementDecision decision;
  EXPECT_TRUE(may_serve_again(decision, false));
  decision.placement.chains.resize(2);
  EXPECT_FALSE(may_serve_again(decision, false)) << "nobody knows yet what they take";
  EXPECT_TRUE(may_serve_again(decision, true)) << "asked for";
  for (ChainPlace& chain : decision.placement.chains) chain.is_known = true;
  EXPECT_TRUE(may_serve_again(decision, false)) << "on the CPU";
  ChainPlace& chain = decision.placement.chains[1];
  chain.way = ChainWay{};
  EXPECT_FALSE(may_serve_again(decision, false)) << "its columns are not there yet";
  chain.way->is_settled = true;
  EXPECT_TRUE(may_serve_again(decision, false));
  chain.is_trial = true;
  EXPECT_FALSE(may_serve_again(decision, false));
  chain.is_trial = false;
  chain.pays_rent = true;
  EXPECT_FALSE(may_serve_again(decision, false));
  chain.pays_rent = false;
  decision.not_found = "no device";
  EXPECT_FALSE(may_serve_again(decision, true));
}

}  // namespace
}  // namespace diptych
