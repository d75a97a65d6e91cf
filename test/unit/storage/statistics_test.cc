// Statistics of tables: what commits, rollbacks and files do to them.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/file/statistics_format.h"
#include "storage/test_rows.h"
#include "tablet/statistics/statistics_builder.h"

namespace diptych::test {
namespace {

class StatisticsTest : public testing::Test {
 protected:
  std::unique_ptr<Store> open() { return Store::open_file(files_, budget_, "db", small_tablets); }

  static void create(Store& store, const std::string& name = "t") {
    const auto transaction = store.begin_write();
    transaction->create_table(mixed_table(name));
    transaction->commit();
  }
  static void append(Store& store, int64_t first, int64_t count, const std::string& name = "t") {
    const auto transaction = store.begin_write();
    append_numbers(*transaction, name, range(first, count));
    transaction->commit();
  }
  static std::shared_ptr<const TableSnapshot> table_of(Store& store, const std::string& name = "t") {
    return store.snapshot()->find_table(name);
  }

  MemoryFileSystem files_;
  MemoryBudget budget_{int64_t{64} << 20};
};

void expect_same(const TableStatistics& a, const TableStatistics& b) {
  EXPECT_EQ(a.sketches(), b.sketches());
  EXPECT_EQ(a.sample(), b.sample());
}

TEST_F(StatisticsTest, ATableWithoutRowsHasNone) {
  const auto store = open();
  create(*store);
  EXPECT_EQ(table_of(*store)->statistics(), nullptr);
}

TEST_F(StatisticsTest, AllRowsCount) {
  const auto store = open();
  create(*store);
  for (int64_t first = 0; first < 3000; first += 300) append(*store, first, 300);
  const auto table = table_of(*store);
  ASSERT_NE(table->statistics(), nullptr);
  EXPECT_NEAR(table->statistics()->different(0), 3000, 600);
  EXPECT_NEAR(table->statistics()->different(1), 1000, 200);
  EXPECT_EQ(table->statistics()->sample().rows(), RowSample::most_rows);
}

TEST_F(StatisticsTest, RowsByTheThousandOrOneByOneHaveTheSameSample) {
  const auto store = open();
  create(*store, "a");
  create(*store, "b");
  append(*store, 0, 2000, "a");
  for (int64_t row = 0; row < 2000; row += 20) append(*store, row, 20, "b");
  EXPECT_EQ(table_of(*store, "a")->statistics()->sample(), table_of(*store, "b")->statistics()->sample());
  EXPECT_EQ(table_of(*store, "a")->statistics()->sketches()[0], table_of(*store, "b")->statistics()->sketches()[0]);
}

TEST_F(StatisticsTest, WhatIsRolledBackDoesNotCount) {
  const auto store = open();
  create(*store);
  append(*store, 0, 100);
  const auto before = table_of(*store);
  {
    const auto transaction = store->begin_write();
    append_numbers(*transaction, "t", range(100, 1000));
    const auto preview = transaction->preview()->find_table("t");
    EXPECT_EQ(preview->statistics()->sample().rows(), 1024);
  }
  EXPECT_EQ(table_of(*store)->statistics(), before->statistics());
  EXPECT_EQ(before->statistics()->sample().rows(), 100);
}

TEST_F(StatisticsTest, ATableThatIsMadeAgainStartsAnew) {
  const auto store = open();
  create(*store);
  append(*store, 0, 5000);
  const auto transaction = store->begin_write();
  transaction->drop_table("t");
  transaction->create_table(mixed_table("t"));
  append_numbers(*transaction, "t", range(0, 10));
  transaction->commit();
  EXPECT_NEAR(table_of(*store)->statistics()->different(0), 10, 1);
  EXPECT_EQ(table_of(*store)->statistics()->sample().rows(), 10);
}

TEST_F(StatisticsTest, ValuesThatTheTableHadAreNotCountedAgain) {
  const auto store = open();
  for (const char* name : {"known", "empty"}) create(*store, name);
  append(*store, 0, 3000, "known");
  const auto before = table_of(*store, "known");
  const std::vector<bool> had = {true, false, true, true, true};
  const MixedRows rows(range(10'000, 900));
  RowBatch batch = rows.batch();
  batch.had = &had;
  for (const char* name : {"known", "empty"}) {
    const auto transaction = store->begin_write();
    transaction->append(name, batch);
    transaction->commit();
  }
  const auto after = table_of(*store, "known")->statistics();
  EXPECT_EQ(after->sketches()[0], before->statistics()->sketches()[0]);
  append(*store, 10'000, 900, "known");
  EXPECT_NE(table_of(*store, "known")->statistics()->sketches()[0], after->sketches()[0]);
  // Nothing was known of the rows of an empty table.
  EXPECT_NEAR(table_of(*store, "empty")->statistics()->different(0), 900, 180);
}

TEST_F(StatisticsTest, AFileKeepsThem) {
  auto store = open();
  create(*store);
  append(*store, 0, 5000);
  const TableStatistics& before = *table_of(*store)->statistics();
  const TableStatistics copy(before.sketches(), before.sample());
  store->verify();
  store = nullptr;
  const auto again = open();
  again->verify();
  expect_same(*table_of(*again)->statistics(), copy);
  append(*again, 5000, 5000);
  EXPECT_NEAR(table_of(*again)->statistics()->different(0), 10'000, 2000);
}

// However few rows a process brings before the next one opens the file.
TEST_F(StatisticsTest, AFileThatGrowsByFewRowsKeepsUp) {
  create(*open());
  for (int64_t row = 0; row < 1000; ++row) append(*open(), row, 1);
  const auto store = open();
  const auto table = table_of(*store);
  ASSERT_NE(table->statistics(), nullptr);
  EXPECT_NEAR(table->statistics()->different(0), 1000, 200);
}

TEST_F(StatisticsTest, RowsThatChangeNothingShareThem) {
  const auto store = Store::open_memory(budget_, {});
  create(*store);
  append(*store, 0, 200'000);
  const auto before = table_of(*store);
  int same = 0;
  for (int round = 0; round < 10; ++round) {
    append(*store, 7, 1);
    same += table_of(*store)->statistics() == before->statistics();
  }
  EXPECT_GT(same, 5);
}

std::vector<std::byte> bytes_of(const TableStatistics& statistics) {
  BlobWriter writer;
  write_statistics(writer, statistics);
  return writer.bytes();
}

TEST_F(StatisticsTest, BytesThatMakeNoSenseAreAnError) {
  const auto store = open();
  create(*store);
  append(*store, 0, 40);
  const auto table = table_of(*store);
  const std::vector<std::byte> good = bytes_of(*table->statistics());
  const auto read = [&](std::span<const std::byte> bytes) {
    return state_of([&] {
      BlobReader reader(bytes, "statistics");
      read_statistics(reader, table->definition())->sorted(4);
    });
  };
  EXPECT_EQ(read(good), "");
  for (size_t size = 0; size < good.size(); ++size) EXPECT_EQ(read(std::span(good).first(size)), "XX001") << size;
  const uint64_t seed = std::random_device()();
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  int errors = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> damaged = good;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    const std::string state = read(damaged);
    ASSERT_TRUE(state.empty() || state == "XX001") << state;
    errors += !state.empty();
  }
  EXPECT_GT(errors, 100);
}

TEST_F(StatisticsTest, NumbersOfAllKindsAreReadAsTheyWereWritten) {
  SampledColumn numbers{{0, 1, 0, 0}, {0.25, 0, 1e300, sampled_number(std::nan(""))}, {}};
  SampledColumn whole{{0, 0, 0, 1}, {-1e15, 7, 0x1p61, 0}, {}};
  SampledColumn texts{{0, 0, 1, 0}, {}, {"a", "", "", std::string(64, 'x')}};
  const TableStatistics statistics(std::vector<DistinctSketch>(3),
                                   RowSample({1, 5, 9, UINT64_MAX}, {numbers, whole, texts}));
  TableDefinition table;
  table.columns = {
      {"a", {TypeId::Double}, false, ""}, {"b", {TypeId::BigInt}, false, ""}, {"c", {TypeId::Text}, false, ""}};
  const std::vector<std::byte> bytes = bytes_of(statistics);
  BlobReader reader(bytes, "statistics");
  expect_same(*read_statistics(reader, table), statistics);
}

}  // namespace
}  // namespace diptych::test
