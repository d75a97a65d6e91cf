// A power cut at every file operation of every workload: what comes back is what was committed, plus at most the commit
// in flight.
#include <gtest/gtest.h>

#include <iostream>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/workload.h"

namespace diptych::test {
namespace {

constexpr int images_per_crash = 4;

struct Outcome {
  Contents committed;
  Contents in_flight;  // had the last transaction been committed
  bool ended = false;  // all transactions ran
};

// Runs until the first error.
Outcome run_until_error(MemoryFileSystem& files, const Workload& workload) {
  Outcome outcome;
  try {
    MemoryBudget budget(int64_t{64} << 20);
    auto store = Store::open_file(files, budget, "db", small_tablets);
    for (const Transaction& transaction : workload.transactions) {
      outcome.in_flight = contents_after(outcome.committed, transaction);
      run(*store, transaction);
      outcome.committed = outcome.in_flight;
    }
    outcome.ended = true;
  } catch (const Error&) {
  }
  return outcome;
}

// The image must hold one of the two states, whole, and be a store that works.
void check_image(MemoryFileSystem& files, const Outcome& outcome) {
  MemoryBudget budget(int64_t{64} << 20);
  Contents found;
  {
    auto store = Store::open_file(files, budget, "db", small_tablets);
    found = read_all(*store->snapshot());
    ASSERT_TRUE(found == outcome.committed || found == outcome.in_flight);
    store->verify();
    Transaction more{{create("after"), append("after", 1, 100)}};
    run(*store, more);
    found = contents_after(found, more);
    ASSERT_EQ(read_all(*store->snapshot()), found);
  }
  auto store = Store::open_file(files, budget, "db", small_tablets);
  ASSERT_EQ(read_all(*store->snapshot()), found);
  store->verify();
  EXPECT_GE(budget.used(), 0);
}

class CrashTest : public testing::TestWithParam<Workload> {};

INSTANTIATE_TEST_SUITE_P(Workloads, CrashTest, testing::ValuesIn(all_workloads()),
                         [](const auto& info) { return info.param.name; });

TEST_P(CrashTest, EveryOperation) {
  const Workload& workload = GetParam();
  uint64_t seed = base_seed();
  SCOPED_TRACE("DIPTYCH_TEST_SEED=" + std::to_string(seed));
  int64_t crashes = 0;
  for (int64_t at = 0;; ++at) {
    SCOPED_TRACE("crash at operation " + std::to_string(at));
    MemoryFileSystem files(seed);
    files.set_faults({.kind = FaultPlan::Kind::PowerCut, .at = at, .short_transfers = at % 3 == 0});
    Outcome outcome = run_until_error(files, workload);
    for (int image = 0; image < images_per_crash; ++image) {
      uint64_t image_seed = seed * 1000003 + static_cast<uint64_t>(at * images_per_crash + image);
      SCOPED_TRACE("image seed " + std::to_string(image_seed));
      auto survivor = files.after_crash(image_seed);
      check_image(*survivor, outcome);
      if (HasFatalFailure()) return;
    }
    if (outcome.ended) break;
    ++crashes;
  }
  std::cout << "seed " << seed << ": " << crashes << " crashes, " << crashes * images_per_crash << " images\n";
}

// Power fails again while the store is opened and written to after a crash.
TEST(CrashAgainTest, EveryOperationAfterEveryThird) {
  const Workload workload = all_workloads().back();
  uint64_t seed = base_seed();
  SCOPED_TRACE("DIPTYCH_TEST_SEED=" + std::to_string(seed));
  bool ended = false;
  for (int64_t first = 11; !ended; first += 3) {
    MemoryFileSystem files(seed);
    files.set_faults({.kind = FaultPlan::Kind::PowerCut, .at = first});
    Outcome before = run_until_error(files, workload);
    ended = before.ended;
    bool ended_again = false;
    for (int64_t second = 0; !ended_again; ++second) {
      SCOPED_TRACE("crash at operation " + std::to_string(first) + " and again at " + std::to_string(second));
      auto survivor = files.after_crash(seed + static_cast<uint64_t>(first * 100 + second));
      Outcome outcome = before;
      survivor->set_faults({.kind = FaultPlan::Kind::PowerCut, .at = second});
      try {
        MemoryBudget budget(int64_t{64} << 20);
        auto store = Store::open_file(*survivor, budget, "db", small_tablets);
        outcome.committed = read_all(*store->snapshot());
        Transaction more{{create("more"), append("more", 1, 70)}};
        outcome.in_flight = contents_after(outcome.committed, more);
        run(*store, more);
        outcome.committed = outcome.in_flight;
        ended_again = true;
      } catch (const Error&) {
      }
      check_image(*survivor->after_crash(seed + static_cast<uint64_t>(second)), outcome);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace diptych::test
