// Commits that are in the log alone: they are there when the database is opened anew, in order and whole, or the log is
// damaged and says so.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/file/commit_log.h"
#include "storage/workload.h"
#include "storage/write_transaction.h"

namespace diptych::test {
namespace {

constexpr int pages_first = 3;  // commits of a process that write headers

class LogTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open(MemoryFileSystem& files) { return Store::open_file(files, budget_, "db", small_tablets); }

  // A store with a table, whose next small commits are logged.
  std::unique_ptr<Store> open_logged() {
    auto store = open(files_);
    change(*store, {{create("t", true), append("t", 0, 100)}});
    for (int i = 1; i < pages_first; ++i) change(*store, {{append("t", 100 * i, 10)}});
    EXPECT_FALSE(files_.exists("db-log"));
    return store;
  }

  void change(Store& store, const Transaction& transaction) {
    run(store, transaction);
    states_.push_back(contents_after(states_.empty() ? Contents() : states_.back(), transaction));
  }

  Contents read(MemoryFileSystem& files) { return read_all(*open(files)->snapshot()); }

  MemoryBudget budget_{int64_t{64} << 20};
  MemoryFileSystem files_;
  std::vector<Contents> states_;  // after each commit
};

TEST_F(LogTest, CommitsAreThereAfterACrash) {
  auto store = open_logged();
  change(*store, {{append("t", 1000, 3)}});
  EXPECT_TRUE(files_.exists("db-log"));
  change(*store, {{erase("t", 5, 60, 7), append("t", 2000, 90)}});
  change(*store, {{save(), append("t", 3000, 5), go_back(), append("t", 4000, 5)}});
  change(*store, {{truncate("t"), append("t", 7, 2)}});
  store->verify();
  const auto crashed = files_.copy();
  EXPECT_EQ(read(*crashed), states_.back());
  // That was a checkpoint, and closing leaves no log.
  EXPECT_FALSE(crashed->exists("db-log"));
  EXPECT_EQ(read(*crashed), states_.back());
  store.reset();
  EXPECT_FALSE(files_.exists("db-log"));
  EXPECT_EQ(read(files_), states_.back());
}

TEST_F(LogTest, FragmentsAreWrittenWithTheNextHeader) {
  auto store = open_logged();
  const std::vector<std::byte> before = files_.contents("db");
  change(*store, {{append("t", 1000, 2)}});
  const auto snapshot = store->snapshot();
  change(*store, {{append("t", 2000, 2)}});
  change(*store, {{erase("t", 121, 1), append("t", 3000, 1)}});
  EXPECT_EQ(files_.contents("db"), before);
  EXPECT_EQ(read(*files_.copy()), states_.back());
  store->checkpoint();
  EXPECT_NE(files_.contents("db"), before);
  store->verify();
  EXPECT_EQ(read_all(*store->snapshot()), states_.back());
  EXPECT_EQ(read_all(*snapshot), states_[states_.size() - 3]);
  EXPECT_EQ(read(*files_.copy()), states_.back());
}

TEST_F(LogTest, WhatIsMoreThanRowsWritesPages) {
  auto store = open_logged();
  change(*store, {{append("t", 1000, 3)}});
  change(*store, {{create("u"), append("u", 1, 5)}});
  change(*store, {{append("u", 10, 5)}});
  change(*store, {{append("t", 5000, 40000)}});
  change(*store, {{append("t", 1, 0), erase("t", 0, 10)}});
  EXPECT_EQ(read(*files_.copy()), states_.back());
}

TEST_F(LogTest, TheLogOfAFileThatIsGoneIsNoOnes) {
  auto store = open_logged();
  change(*store, {{append("t", 1000, 3)}});
  const std::vector<std::byte> log = files_.contents("db-log");
  MemoryFileSystem others;
  others.set_contents("db-log", log);
  EXPECT_TRUE(read(others).empty());
  EXPECT_FALSE(others.exists("db-log"));
}

TEST_F(LogTest, DamagedLogs) {
  auto store = open_logged();
  const size_t before = states_.size() - 1;
  for (int i = 0; i < 6; ++i) change(*store, {{append("t", 1000 + 10 * i, i + 1)}});
  std::mt19937_64 random(base_seed());
  SCOPED_TRACE("DIPTYCH_TEST_SEED=" + std::to_string(base_seed()));
  const std::vector<std::byte> whole = files_.contents("db-log");
  int errors = 0;
  for (size_t at = 0; at < 2500; at += 1 + random() % 9) {
    std::vector<std::byte> bytes = whole;
    bytes[at] ^= static_cast<std::byte>(1 + random() % 255);
    const auto damaged = files_.copy();
    damaged->set_contents("db-log", bytes);
    try {
      const Contents found = read(*damaged);
      EXPECT_TRUE(std::find(states_.begin() + static_cast<int64_t>(before), states_.end(), found) != states_.end())
          << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::data_corrupted) << error.message();
      ++errors;
    }
  }
  EXPECT_GT(errors, 0);
}

TEST_F(LogTest, ACommitThatFailsIsGivenUp) {
  auto store = open_logged();
  change(*store, {{append("t", 1000, 3)}});
  for (int64_t at = 0; at < 2; ++at) {
    files_.set_faults({.kind = FaultPlan::Kind::IoError, .at = at, .for_good = true});
    EXPECT_THROW(run(*store, {{append("t", 2000, 3)}}), Error);
    files_.set_faults({});
    EXPECT_EQ(read_all(*store->snapshot()), states_.back());
    change(*store, {{append("t", 3000 + 10 * at, 3)}});
    EXPECT_EQ(read_all(*store->snapshot()), states_.back());
    EXPECT_EQ(read(*files_.copy()), states_.back());
    for (int i = 0; i < 2; ++i) change(*store, {{append("t", 4000 + 100 * at + 10 * i, 3)}});
    EXPECT_EQ(read(*files_.copy()), states_.back());
  }
}

TEST_F(LogTest, ManyCommitAtOnce) {
  auto store = open_logged();
  constexpr int threads = 6, each = 60;
  std::vector<std::jthread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        run(*store, {{append("t", 10000 * (thread + 1) + i, 1)}});
        if (i % 20 == 7) run(*store, {{create("t" + std::to_string(thread * 100 + i))}});
        // What was committed is there.
        EXPECT_GE(store->snapshot()->find_table("t")->live_rows(), 120 + i + 1);
      }
    });
  }
  all.clear();
  const Contents found = read_all(*store->snapshot());
  EXPECT_EQ(found.at("t").size(), size_t{120 + threads * each});
  EXPECT_EQ(read(*files_.copy()), found);
  store->verify();
}

// Who goes on behind a failure goes on from what the disk has, and waits for nothing that it will never have.
TEST_F(LogTest, TransactionsGoOnBehindAFailure) {
  auto store = open_logged();
  change(*store, {{append("t", 1000, 3)}});
  files_.set_faults({.kind = FaultPlan::Kind::IoError, .at = 1});
  EXPECT_THROW(run(*store, {{append("t", 2000, 3)}}), Error);
  files_.set_faults({});
  {
    auto nothing = store->begin_write();
    nothing->wait_for_others();
    nothing->commit();
  }
  auto transaction = store->begin_write();
  transaction->wait_for_others();
  append_numbers(*transaction, "t", range(3000, 2));
  transaction->commit();
  const Contents expected = contents_after(states_.back(), {{append("t", 3000, 2)}});
  EXPECT_EQ(read_all(*store->snapshot()), expected);
  EXPECT_EQ(read(*files_.copy()), expected);
}

// The disk has a commit whose thread has not come to say so; then the log breaks, and others go on.
TEST_F(LogTest, ACommitOnTheDiskStaysWhenTheLogBreaks) {
  std::shared_ptr<DatabaseFile> file = DatabaseFile::open(files_, "db");
  auto buffer = std::make_shared<TabletBuffer>(budget_, file);
  StoreState state(TabletStorage{budget_, file, buffer, std::make_shared<TabletIds>()},
                   std::make_unique<CommitLog>(files_, "db"), small_tablets,
                   std::make_shared<CatalogView>(TableMap{}, ViewMap{}, CatalogVersions{}, nullptr));
  const auto append = [&](int64_t number) {
    StoredTransaction transaction(state, nullptr, {});
    if (number == 0) transaction.create_table(mixed_table("t"));
    append_numbers(transaction, "t", {number});
    return transaction.commit_to_log();
  };
  const auto now = [&] { return read_numbers(*state.current()->find_table("t")); };
  for (int64_t i = 0; i < pages_first; ++i) state.wait_for(append(i));
  const LoggedCommit on_disk = append(10);
  state.wait_for({state.current(), on_disk.place});
  EXPECT_EQ(now(), (std::vector<int64_t>{0, 1, 2}));
  const LoggedCommit lost = append(11);
  files_.set_faults({.kind = FaultPlan::Kind::IoError, .at = 0});
  EXPECT_EQ(state_of([&] { state.wait_for(lost); }), "58030");
  files_.set_faults({});
  state.wait_for(append(12));
  EXPECT_EQ(now(), (std::vector<int64_t>{0, 1, 2, 10, 12}));
  state.wait_for(on_disk);
  EXPECT_EQ(state_of([&] { state.wait_for(lost); }), "58030");
  state.wait_for(append(13));
  EXPECT_EQ(now(), (std::vector<int64_t>{0, 1, 2, 10, 12, 13}));
  EXPECT_EQ(read_numbers(*open(*files_.copy())->snapshot()->find_table("t")), now());
  state.close();
}

}  // namespace
}  // namespace diptych::test
