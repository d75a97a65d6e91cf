// PRIMARY KEY through the store: within a batch, within a transaction and against stored rows.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/fault_file_system.h"
#include "base/integer_set.h"
#include "base/memory_budget.h"
#include "storage/test_rows.h"

namespace diptych::test {
namespace {

class PrimaryKeyTest : public testing::Test {
 protected:
  void SetUp() override {
    store_ = Store::open_file(files_, budget_, "db", {.tablet_rows = 64});
    auto transaction = store_->begin_write();
    transaction->create_table(mixed_table("t", true));
    transaction->commit();
  }

  // Appends each list in one batch, all in one transaction; the SQLSTATE or "".
  std::string append(const std::vector<std::vector<int64_t>>& batches) {
    return state_of([&] {
      auto transaction = store_->begin_write();
      for (const auto& batch : batches) append_numbers(*transaction, "t", batch);
      transaction->commit();
    });
  }
  std::vector<int64_t> read() { return read_numbers(*store_->snapshot()->find_table("t")); }

  MemoryFileSystem files_;
  MemoryBudget budget_{int64_t{64} << 20};
  std::unique_ptr<Store> store_;
};

TEST_F(PrimaryKeyTest, WithinABatch) {
  EXPECT_EQ(append({{1, 2, 2}}), "23505");
  EXPECT_EQ(append({{3, 2, 3}}), "23505");
  EXPECT_EQ(append({{3, 2, 1}}), "");
  EXPECT_EQ(read(), (std::vector<int64_t>{3, 2, 1}));
}

TEST_F(PrimaryKeyTest, WithinATransaction) {
  EXPECT_EQ(append({{1, 2, 3}, {3}}), "23505");
  EXPECT_EQ(append({{1, 2, 3}, {2, 9}}), "23505");
  EXPECT_EQ(append({range(0, 200), {77}}), "23505");
  EXPECT_EQ(append({range(100, 200), range(0, 100)}), "");
}

TEST_F(PrimaryKeyTest, AgainstStoredRows) {
  EXPECT_EQ(append({range(0, 500)}), "");
  EXPECT_EQ(append({{499}}), "23505");
  EXPECT_EQ(append({{600, 0}}), "23505");
  EXPECT_EQ(append({range(500, 100)}), "");
  EXPECT_EQ(append({{-5, 1000, 599}}), "23505");
  EXPECT_EQ(append({{-5, 1000, -4}}), "");
  EXPECT_EQ(append({{-5}}), "23505");
}

TEST_F(PrimaryKeyTest, MessageNamesTableAndKey) {
  append({range(0, 100)});
  auto transaction = store_->begin_write();
  append_numbers(*transaction, "t", {42});
  try {
    transaction->commit();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("\"t\""), std::string::npos);
    EXPECT_NE(error.message().find("(id)=(42)"), std::string::npos) << error.message();
  }
}

TEST_F(PrimaryKeyTest, KeysInOrderReadNothing) {
  append({range(0, 1000)});
  MemoryBudget budget(int64_t{64} << 20);
  store_.reset();
  store_ = Store::open_file(files_, budget_, "db", {});
  auto transaction = store_->begin_write();
  files_.set_faults({});
  append_numbers(*transaction, "t", range(1000, 1));
  int64_t before = files_.operations();
  EXPECT_EQ(before, 0);
  transaction->commit();
}

TEST_F(PrimaryKeyTest, RandomAgainstASet) {
  for (uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    MemoryBudget budget(int64_t{64} << 20);
    store_ = Store::open_memory(budget, {.tablet_rows = 64});
    auto create = store_->begin_write();
    create->create_table(mixed_table("t", true));
    create->commit();
    create.reset();
    std::set<int64_t> present;
    for (int i = 0; i < 150; ++i) {
      std::vector<int64_t> numbers(1 + random() % 20);
      std::set<int64_t> next = present;
      bool is_unique = true;
      for (int64_t& number : numbers) {
        number = static_cast<int64_t>(random() % 20000);
        is_unique = next.insert(number).second && is_unique;
      }
      ASSERT_EQ(append({numbers}), is_unique ? "" : "23505");
      if (is_unique) present = next;
    }
    EXPECT_EQ(read().size(), present.size());
    store_.reset();
  }
}

TEST_F(PrimaryKeyTest, StringsAndSeveralColumns) {
  TableDefinition definition = mixed_table("s");
  definition.primary_key = {2, 3};  // label is null in rows 5, 16, ...; those are left out
  auto transaction = store_->begin_write();
  transaction->create_table(definition);
  append_numbers(*transaction, "s", {1, 2, 3, 4});
  transaction->commit();
  auto add = [&](const std::vector<int64_t>& numbers) {
    return state_of([&] {
      auto more = store_->begin_write();
      append_numbers(*more, "s", numbers);
      more->commit();
    });
  };
  EXPECT_EQ(add({6, 7, 6}), "23505");
  EXPECT_EQ(add({3}), "23505");
  EXPECT_EQ(add({5}), "23502");  // NULL in a key column
  EXPECT_EQ(add({75, 76}), "");  // the labels of 1 and 2, other notes
  EXPECT_EQ(add({76}), "23505");
}

TEST(IntegerSetTest, AgainstStdSet) {
  std::mt19937_64 random(9);
  IntegerSet set;
  std::set<int64_t> expected;
  for (int i = 0; i < 20000; ++i) {
    int64_t key = i % 100 == 0 ? std::numeric_limits<int64_t>::min() + i / 5000
                               : static_cast<int64_t>(random() % 8192) * (1 << 20);
    EXPECT_EQ(set.insert(key), expected.insert(key).second);
    int64_t other = static_cast<int64_t>(random() % 8192) * (1 << 20);
    EXPECT_EQ(set.contains(other), expected.count(other) == 1);
  }
  EXPECT_EQ(set.size(), expected.size());
  EXPECT_TRUE(set.contains(std::numeric_limits<int64_t>::min()));
}

}  // namespace
}  // namespace diptych::test
