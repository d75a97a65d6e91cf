#include "storage/change_record.h"

#include <gtest/gtest.h>

#include <random>

#include "base/memory_budget.h"
#include "storage/workload.h"

namespace diptych::test {
namespace {

class ChangeRecordTest : public testing::Test {
 protected:
  ChangeRecordTest() {
    for (Store* store : {changed_.get(), again_.get()}) run(*store, {{create("t"), append("t", 1, 200)}});
  }

  // In a transaction of its own, and recorded.
  void change(const std::function<void(WriteTransaction&, ChangeRecord&)>& make) {
    ChangeRecord record;
    auto transaction = changed_->begin_write();
    make(*transaction, record);
    transaction->commit();
    do_again_all(record.bytes());
    EXPECT_EQ(read_all(*again_->snapshot()), read_all(*changed_->snapshot()));
  }

  void do_again_all(std::span<const std::byte> record) {
    const auto catalog = again_->snapshot();
    auto transaction = again_->begin_write();
    do_again(record, "record 1", *transaction, *catalog);
    transaction->commit();
  }

  MemoryBudget budget_{int64_t{64} << 20};
  std::unique_ptr<Store> changed_ = Store::open_memory(budget_, small_tablets);
  std::unique_ptr<Store> again_ = Store::open_memory(budget_, small_tablets);
};

TEST_F(ChangeRecordTest, ChangesAreDoneAgain) {
  change([](WriteTransaction& transaction, ChangeRecord& record) {
    const MixedRows rows(range(1000, 77));
    transaction.append("t", rows.batch());
    record.append("t", rows.batch());
    const std::vector<int64_t> positions = {0, 1, 2, 63, 64, 200, 276};
    transaction.erase("t", positions);
    record.erase("t", positions);
    const MixedRows more(range(5, 1));
    transaction.append("t", more.batch());
    record.append("t", more.batch());
  });
  change([](WriteTransaction& transaction, ChangeRecord& record) {
    transaction.truncate("t");
    record.truncate("t");
    const MixedRows rows(range(3, 3));
    transaction.append("t", rows.batch());
    record.append("t", rows.batch());
  });
}

TEST_F(ChangeRecordTest, WhatIsCutOffIsNotDone) {
  ChangeRecord record;
  record.erase("t", std::vector<int64_t>{5});
  const size_t bytes = record.bytes().size();
  record.truncate("t");
  record.cut(bytes);
  do_again_all(record.bytes());
  EXPECT_EQ(again_->snapshot()->find_table("t")->live_rows(), 199);
}

// Every byte of a record with another value, and every beginning of it: refused, or some change; never more.
TEST_F(ChangeRecordTest, DamagedRecords) {
  ChangeRecord record;
  const MixedRows rows(range(1, 20));
  record.append("t", rows.batch());
  record.erase("t", std::vector<int64_t>{1, 5, 199});
  const std::vector<std::byte> whole(record.bytes().begin(), record.bytes().end());
  std::mt19937_64 random(base_seed());
  const auto attempt = [&](std::span<const std::byte> bytes) {
    const auto catalog = again_->snapshot();
    auto transaction = again_->begin_write();
    try {
      do_again(bytes, "record 1", *transaction, *catalog);
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::data_corrupted) << error.message();
    }
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::vector<std::byte> bytes = whole;
    bytes[i] ^= static_cast<std::byte>(1 + random() % 255);
    attempt(bytes);
    attempt(std::span(whole).first(i));
  }
}

}  // namespace
}  // namespace diptych::test
