// Every file operation of every workload failing, once or from then on: a clean error, and a store that is as before
// and goes on.
#include <gtest/gtest.h>

#include <vector>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/workload.h"

namespace diptych::test {
namespace {

// Is this among the errors that a failing file system may lead to?
void expect_clean(const Error& error) {
  EXPECT_TRUE(error.state() == SqlState::io_error || error.state() == SqlState::disk_full) << error.message();
}

// A transaction after a failed one may meet tables that are there or not, and keys that are: these errors are right,
// too.
bool is_consequence(const Error& error) {
  return error.state() == SqlState::undefined_table || error.state() == SqlState::duplicate_table ||
         error.state() == SqlState::unique_violation;
}

class FaultTest : public testing::TestWithParam<Workload> {
 protected:
  // Runs all transactions; those that fail must change nothing. At the end the store and the file must agree.
  void run_with(const FaultPlan& plan) {
    MemoryFileSystem files(7);
    files.set_faults(plan);
    Contents committed;
    std::vector<Contents> possible;  // in a file that was left while it could not be written
    {
      MemoryBudget budget(int64_t{64} << 20);
      std::unique_ptr<Store> store = open(files, budget);
      if (!store) store = open(files, budget);
      operations_ = files.operations();
      if (store) run_all(*store, files, committed, possible);
    }
    possible.push_back(committed);
    check_reopened("orderly end", *files.copy(), possible);
    check_reopened("power cut", *files.after_crash(static_cast<uint64_t>(plan.at)), possible);
  }

  void run_all(Store& store, MemoryFileSystem& files, Contents& committed, std::vector<Contents>& possible) {
    for (const Transaction& transaction : GetParam().transactions) {
      Contents next = contents_after(committed, transaction);
      try {
        run(store, transaction);
        committed = next;
        possible.clear();
      } catch (const Error& error) {
        if (!is_consequence(error)) expect_clean(error);
        if (possible.empty() && transaction.commits) possible.push_back(next);
      }
    }
    int64_t operations = files.operations();
    files.set_faults({});
    ASSERT_EQ(read_all(*store.snapshot()), committed);
    store.verify();
    Transaction more{{create("after"), append("after", 1, 100)}};
    if (possible.empty()) {
      run(store, more);
      committed = contents_after(committed, more);
    }
    operations_ = operations;
  }

  static std::unique_ptr<Store> open(MemoryFileSystem& files, MemoryBudget& budget) {
    try {
      return Store::open_file(files, budget, "db", small_tablets);
    } catch (const Error& error) {
      expect_clean(error);
      return nullptr;
    }
  }

  static void check_reopened(const char* what, MemoryFileSystem& files, const std::vector<Contents>& possible) {
    SCOPED_TRACE(what);
    MemoryBudget budget(int64_t{64} << 20);
    auto store = Store::open_file(files, budget, "db", small_tablets);
    store->verify();
    Contents found = read_all(*store->snapshot());
    ASSERT_NE(std::count(possible.begin(), possible.end(), found), 0)
        << testing::PrintToString(found) << " is none of " << testing::PrintToString(possible);
  }

  int64_t operations_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Workloads, FaultTest, testing::ValuesIn(all_workloads()),
                         [](const auto& info) { return info.param.name; });

TEST_P(FaultTest, EveryOperation) {
  // Each operation fails once with one error and for good with the other, with whole transfers and with short ones in
  // turn.
  using Kind = FaultPlan::Kind;
  for (bool for_good : {false, true}) {
    for (int64_t at = 0;; ++at) {
      Kind kind = (at / 2 + for_good) % 2 ? Kind::IoError : Kind::DiskFull;
      SCOPED_TRACE("fault at operation " + std::to_string(at) + (for_good ? ", for good" : ", once") +
                   (kind == Kind::IoError ? ", EIO" : ", ENOSPC"));
      run_with({.kind = kind, .at = at, .for_good = for_good, .short_transfers = at % 4 == 1});
      if (HasFatalFailure()) return;
      if (operations_ <= at) break;
    }
  }
}

TEST_P(FaultTest, LittleSpace) {
  for (int64_t capacity = 0; capacity < 400 * 4096; capacity += 5 * 4096 + 512) {
    SCOPED_TRACE("capacity " + std::to_string(capacity));
    run_with({.capacity_bytes = capacity});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace diptych::test
