// Changes of several threads that are one commit.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/test_rows.h"

namespace diptych::test {
namespace {

using std::chrono::milliseconds;

class GroupCommitTest : public testing::Test {
 protected:
  void SetUp() override {
    auto transaction = store_->begin_write();
    transaction->create_table(mixed_table("t", true));
    append_numbers(*transaction, "t", range(0, 100));
    transaction->commit();
    // From now on commits are logged.
    for (int64_t i = 0; i < 3; ++i) ASSERT_TRUE(insert({1000 + i}));
    schema_version_ = store_->snapshot()->schema_version();
  }

  bool insert(const std::vector<int64_t>& numbers, const std::atomic<bool>* cancelled = nullptr,
              milliseconds timeout = {}) {
    const auto append = [&](WriteTransaction& transaction) { append_numbers(transaction, "t", numbers); };
    return store_->commit_in_group(schema_version_.value_or(store_->snapshot()->schema_version()), append, cancelled,
                                   timeout);
  }

  // What comes of inserts of one row each that wait for the one who writes at the same time, each in a thread. Nothing
  // depends on whether they wait; they do, mostly.
  std::vector<std::string> insert_behind_writer(const std::vector<int64_t>& numbers,
                                                const std::function<void(WriteTransaction&)>& write) {
    auto writer = store_->begin_write();
    std::vector<std::string> states(numbers.size());
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < numbers.size(); ++i)
      threads.emplace_back([&, i] {
        bool is_stored = false;
        const std::string state = state_of([&] { is_stored = insert({numbers[i]}); });
        states[i] = state.empty() && !is_stored ? "other tables" : state;
      });
    std::this_thread::sleep_for(milliseconds(20));
    write(*writer);
    writer.reset();
    threads.clear();
    return states;
  }

  std::vector<int64_t> numbers() {
    std::vector<int64_t> found = read_numbers(*store_->snapshot()->find_table("t"));
    std::sort(found.begin(), found.end());
    return found;
  }

  MemoryBudget budget_{int64_t{64} << 20};
  MemoryFileSystem files_;
  std::unique_ptr<Store> store_ = Store::open_file(files_, budget_, "db", small_tablets);
  std::optional<uint64_t> schema_version_;
};

TEST_F(GroupCommitTest, EachRowIsThereOnce) {
  constexpr int threads = 6, each = 80;
  {
    std::vector<std::jthread> all;
    for (int thread = 0; thread < threads; ++thread)
      all.emplace_back([&, thread] {
        for (int i = 0; i < each; ++i) {
          EXPECT_TRUE(insert(range(10000 * (thread + 1) + 2 * i, 2)));
          // Others are writers in the old way.
          if (i % 16 == 5) {
            auto transaction = store_->begin_write();
            append_numbers(*transaction, "t", {10000 * (thread + 1) + 5000 + i});
            transaction->commit();
          }
          EXPECT_GE(store_->snapshot()->find_table("t")->live_rows(), 103 + 2 * (i + 1));
        }
      });
  }
  const std::vector<int64_t> found = numbers();
  EXPECT_EQ(found.size(), size_t{103 + threads * (2 * each + 5)});
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
  store_->verify();
  const auto crashed = files_.copy();
  EXPECT_EQ(read_all(*Store::open_file(*crashed, budget_, "db", small_tablets)->snapshot()),
            read_all(*store_->snapshot()));
}

TEST_F(GroupCommitTest, OneThreadMakesTheChangesOfOthers) {
  bool is_made_by_another = false;
  for (int64_t round = 0; round < 1000 && !is_made_by_another; ++round) {
    auto writer = store_->begin_write();
    std::vector<std::jthread> threads;
    std::atomic<int> made_by_others = 0;
    for (int64_t i = 0; i < 3; ++i)
      threads.emplace_back([&, own = 10000 + round * 10 + i] {
        const auto here = std::this_thread::get_id();
        EXPECT_TRUE(store_->commit_in_group(*schema_version_, [&](WriteTransaction& transaction) {
          if (std::this_thread::get_id() != here) ++made_by_others;
          append_numbers(transaction, "t", {own});
        }));
      });
    std::this_thread::sleep_for(milliseconds(5));
    writer.reset();
    threads.clear();
    is_made_by_another = made_by_others > 0;
  }
  EXPECT_TRUE(is_made_by_another);
}

TEST_F(GroupCommitTest, WhatFailsIsOneMembersOwn) {
  const auto states = insert_behind_writer({5000, 7, 5001, 5002, 1001}, [](WriteTransaction&) {});
  EXPECT_EQ(states, (std::vector<std::string>{"", "23505", "", "", "23505"}));
  // One of them comes first.
  auto both = insert_behind_writer({6000, 6000, 6001}, [](WriteTransaction&) {});
  EXPECT_EQ(both[2], "");
  EXPECT_EQ(both[0] + both[1], "23505");
  std::vector<int64_t> expected = range(0, 100);
  for (const int64_t number : {1000, 1001, 1002, 5000, 5001, 5002, 6000, 6001}) expected.push_back(number);
  EXPECT_EQ(numbers(), expected);
}

TEST_F(GroupCommitTest, OtherTablesAreTold) {
  auto states = insert_behind_writer({5000, 5001, 5002}, [](WriteTransaction& writer) {
    writer.create_table(mixed_table("u"));
    writer.commit();
  });
  EXPECT_EQ(states, std::vector<std::string>(3, "other tables"));
  EXPECT_EQ(numbers().size(), 103u);
  schema_version_ = store_->snapshot()->schema_version();
  EXPECT_TRUE(insert({5000}));
}

TEST_F(GroupCommitTest, WhoGivesUpLeavesTheOthers) {
  const std::atomic<bool> cancelled = true;
  for (int round = 0; round < 20; ++round) {
    auto writer = store_->begin_write();
    std::vector<std::string> states(6);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        const std::vector<int64_t> row = {10000 + 10 * round + i};
        states[static_cast<size_t>(i)] =
            state_of([&] { insert(row, i % 3 == 0 ? &cancelled : nullptr, milliseconds(i % 3 == 1 ? 1 + round : 0)); });
      });
    if (round % 4 != 0) std::this_thread::sleep_for(milliseconds(round));
    writer.reset();
    threads.clear();
    const std::vector<int64_t> found = numbers();
    for (int i = 0; i < 6; ++i) {
      const std::string& state = states[static_cast<size_t>(i)];
      constexpr std::array<const char*, 3> refusals = {"57014", "55P03", ""};
      EXPECT_TRUE(state.empty() || state == refusals[static_cast<size_t>(i % 3)]) << state;
      EXPECT_EQ(std::binary_search(found.begin(), found.end(), 10000 + 10 * round + i), state.empty());
    }
  }
  EXPECT_TRUE(insert({5000}));
}

// The disk has all of a commit or nothing of it.
TEST_F(GroupCommitTest, ACommitThatFailsIsEachMembersFailure) {
  for (int64_t at = 0; at < 12; ++at) {
    const std::vector<int64_t> before = numbers();
    files_.set_faults({.kind = FaultPlan::Kind::IoError, .at = at});
    const int64_t first = 10000 + 10 * at;
    const auto states = insert_behind_writer(range(first, 4), [](WriteTransaction&) {});
    files_.set_faults({});
    const std::vector<int64_t> after = numbers();
    for (int64_t i = 0; i < 4; ++i) {
      const std::string& state = states[static_cast<size_t>(i)];
      EXPECT_EQ(std::binary_search(after.begin(), after.end(), first + i), state.empty()) << at << ' ' << state;
      EXPECT_TRUE(state.empty() || state == "58030") << state;
    }
    EXPECT_TRUE(insert({first + 9}));
    EXPECT_TRUE(std::includes(after.begin(), after.end(), before.begin(), before.end()));
    EXPECT_EQ(read_all(*Store::open_file(*files_.copy(), budget_, "db", small_tablets)->snapshot()),
              read_all(*store_->snapshot()));
  }
}

// Whatever the disk refuses meanwhile: who was told that a row is stored finds it, once. The others may.
TEST_F(GroupCommitTest, NothingIsLostWhereTheDiskFailsNowAndThen) {
  const uint64_t seed = base_seed();
  SCOPED_TRACE("DIPTYCH_TEST_SEED=" + std::to_string(seed));
  constexpr int64_t threads = 6, each = 150;
  std::vector<std::vector<int64_t>> stored(threads);
  std::atomic<bool> is_done = false;
  std::jthread faults([&] {
    std::mt19937_64 random(seed);
    while (!is_done) {
      const FaultPlan::Kind kind = random() % 4 == 0 ? FaultPlan::Kind::DiskFull : FaultPlan::Kind::IoError;
      files_.set_faults({.kind = kind, .at = static_cast<int64_t>(random() % 12)});
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 400));
    }
  });
  {
    std::vector<std::jthread> all;
    for (int64_t thread = 0; thread < threads; ++thread)
      all.emplace_back([&, thread] {
        for (int64_t i = 0; i < each; ++i) {
          const int64_t number = 10000 * (thread + 1) + i;
          const std::string state = state_of([&] {
            if (thread % 3 != 0) return void(insert({number}));
            auto transaction = store_->begin_write();
            append_numbers(*transaction, "t", {number});
            transaction->commit();
          });
          if (state.empty()) stored[static_cast<size_t>(thread)].push_back(number);
        }
      });
  }
  is_done = true;
  faults.join();
  files_.set_faults({});
  const std::vector<int64_t> found = numbers();
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
  for (const std::vector<int64_t>& numbers : stored)
    EXPECT_TRUE(std::includes(found.begin(), found.end(), numbers.begin(), numbers.end()));
  EXPECT_TRUE(insert({5000}));
  store_->verify();
  EXPECT_EQ(read_all(*Store::open_file(*files_.copy(), budget_, "db", small_tablets)->snapshot()),
            read_all(*store_->snapshot()));
}

}  // namespace
}  // namespace diptych::test
