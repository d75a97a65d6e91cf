// Tables larger than memory, writers and readers at once.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/test_rows.h"
#include "tablet/builder.h"

namespace diptych::test {
namespace {

constexpr int64_t mebibyte = 1 << 20;

TEST(StoreLimitsTest, TableOfSeveralTimesTheMemory) {
  MemoryFileSystem files;
  MemoryBudget budget(3 * mebibyte);
  auto store = Store::open_file(files, budget, "db", {.tablet_rows = 2048});
  constexpr int64_t batch = 10000, batches = 30;
  {
    auto transaction = store->begin_write();
    transaction->create_table(mixed_table("t"));
    for (int64_t i = 0; i < batches; ++i) append_numbers(*transaction, "t", range(i * batch, batch));
    transaction->commit();
  }
  EXPECT_LE(budget.peak(), budget.limit());
  auto table = store->snapshot()->find_table("t");
  std::atomic<int64_t> rows = 0;
  std::atomic<uint64_t> sum = 0;
  std::vector<std::thread> threads;
  std::atomic<size_t> next = 0;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      std::vector<size_t> wanted = {0, 3};
      for (size_t tablet = next++; tablet < 2 * table->tablet_count(); tablet = next++) {
        auto pinned = table->pin(tablet % table->tablet_count(), wanted);
        for (int64_t row = 0; row < pinned->rows; ++row) {
          int64_t number = static_cast<int64_t>(value_at(pinned->views[0], {TypeId::BigInt}, row).as_integral());
          EXPECT_EQ(number, pinned->first_position + row);
          sum += value_at(pinned->views[1], {TypeId::Text}, row).as_string() == MixedRows::note(number);
        }
        rows += pinned->rows;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rows, 2 * batch * batches);
  EXPECT_EQ(sum, static_cast<uint64_t>(rows));
  EXPECT_LE(budget.peak(), budget.limit());
}

TEST(StoreLimitsTest, MemoryTableThatDoesNotFit) {
  MemoryBudget budget(2 * mebibyte);
  auto store = Store::open_memory(budget, {.tablet_rows = 1024});
  EXPECT_EQ(state_of([&] {
              auto transaction = store->begin_write();
              transaction->create_table(mixed_table("t"));
              for (int64_t i = 0; i < 200; ++i) append_numbers(*transaction, "t", range(i * 1000, 1000));
              transaction->commit();
            }),
            "53200");
  EXPECT_TRUE(store->snapshot()->table_names().empty());
  auto transaction = store->begin_write();
  transaction->create_table(mixed_table("t"));
  append_numbers(*transaction, "t", range(0, 1000));
  transaction->commit();
  EXPECT_EQ(read_numbers(*store->snapshot()->find_table("t")), range(0, 1000));
}

// A tablet takes over the memory that its rows were given for it, so that what others take meanwhile does not matter.
TEST(StoreLimitsTest, ATabletInMemoryNeedsNoMoreThanItsRowsHad) {
  constexpr int64_t rows = 32768;
  TableDefinition definition;
  definition.name = "t";
  definition.columns = {{"a", {TypeId::BigInt}, false, ""}};
  std::vector<int64_t> values(rows);
  std::mt19937_64 random(1);
  for (int64_t& value : values) value = static_cast<int64_t>(random() >> 1);
  const std::vector<BatchColumn> columns = {{.physical = PhysicalType::Int64, .values = values.data()}};
  const std::vector<ColumnDefinition> staged = {{"a", {TypeId::BigInt}}};
  TabletBuilder builder(staged, rows, {nullptr});
  builder.append({rows, columns}, 0, rows);
  MemoryBudget budget(3 * builder.staged_bytes() + 1000);
  auto store = Store::open_memory(budget, {.tablet_rows = rows});
  auto transaction = store->begin_write();
  transaction->create_table(definition);
  EXPECT_EQ(state_of([&] { transaction->append("t", {rows, columns}); }), "");
  EXPECT_EQ(state_of([&] { transaction->commit(); }), "");
  EXPECT_GE(budget.used(), rows * 8);
  EXPECT_LE(budget.used(), 2 * rows * 8);
}

TEST(StoreLimitsTest, ReadersSeeWholeCommitsWhileOneWrites) {
  MemoryFileSystem files;
  MemoryBudget budget(16 * mebibyte);
  auto store = Store::open_file(files, budget, "db", {.tablet_rows = 64});
  {
    auto transaction = store->begin_write();
    transaction->create_table(mixed_table("t"));
    transaction->commit();
  }
  std::atomic<bool> is_done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!is_done) {
        std::vector<int64_t> numbers = read_numbers(*store->snapshot()->find_table("t"));
        EXPECT_EQ(numbers.size() % 17, 0u);
        EXPECT_EQ(numbers, range(0, static_cast<int64_t>(numbers.size())));
      }
    });
  }
  for (int64_t i = 0; i < 60; ++i) {
    auto transaction = store->begin_write();
    append_numbers(*transaction, "t", range(i * 17, 17));
    if (i % 5 == 4) {
      append_numbers(*transaction, "t", range(9000, 500));
      transaction.reset();  // given up
      transaction = store->begin_write();
      append_numbers(*transaction, "t", range(i * 17, 17));
    }
    transaction->commit();
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();
  store->verify();
}

}  // namespace
}  // namespace diptych::test
