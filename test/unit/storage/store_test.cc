// Stores in a file and in memory do the same.
#include "storage/store.h"

#include <gtest/gtest.h>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/test_rows.h"
#include "tablet/dictionary.h"

namespace diptych::test {
namespace {

class StoreTest : public testing::TestWithParam<bool> {
 protected:
  void open(int64_t tablet_rows = 64) {
    store_.reset();
    StoreOptions options{.tablet_rows = tablet_rows};
    store_ = GetParam() ? Store::open_file(files_, budget_, "db", options) : Store::open_memory(budget_, options);
  }
  // A file keeps its contents when it is opened again; memory has nothing to open.
  void reopen() {
    if (GetParam()) open();
  }
  void create(const std::string& name, bool with_key = false) {
    auto transaction = store_->begin_write();
    transaction->create_table(mixed_table(name, with_key));
    transaction->commit();
  }
  void append(const std::string& name, const std::vector<int64_t>& numbers) {
    auto transaction = store_->begin_write();
    append_numbers(*transaction, name, numbers);
    transaction->commit();
  }
  std::vector<int64_t> read(const std::string& name) { return read_numbers(*store_->snapshot()->find_table(name)); }

  MemoryFileSystem files_;
  MemoryBudget budget_{int64_t{64} << 20};
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(FileAndMemory, StoreTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

TEST_P(StoreTest, NewStoreIsEmpty) {
  open();
  EXPECT_TRUE(store_->snapshot()->table_names().empty());
  EXPECT_EQ(store_->snapshot()->find_table("t"), nullptr);
  reopen();
  EXPECT_TRUE(store_->snapshot()->table_names().empty());
  store_->verify();
}

TEST_P(StoreTest, ViewsAreKept) {
  open();
  create("t");
  append("t", range(0, 10));
  auto transaction = store_->begin_write();
  transaction->create_view({"v", {"a", "b"}, "SELECT 1, 2"}, false);
  transaction->create_view({"w", {}, "SELECT 3"}, false);
  EXPECT_THROW(transaction->create_view({"t", {}, "SELECT 4"}, true), Error);
  EXPECT_THROW(transaction->create_view({"w", {}, "SELECT 4"}, false), Error);
  EXPECT_THROW(transaction->create_table(mixed_table("v")), Error);
  EXPECT_THROW(transaction->drop_view("t"), Error);
  EXPECT_THROW(transaction->drop_table("v"), Error);
  EXPECT_NE(transaction->preview()->find_view("v"), nullptr);
  EXPECT_EQ(store_->snapshot()->find_view("v"), nullptr);
  transaction->commit();
  transaction.reset();
  reopen();
  EXPECT_EQ(store_->snapshot()->view_names(), (std::vector<std::string>{"v", "w"}));
  EXPECT_EQ(store_->snapshot()->find_view("v")->columns, (std::vector<std::string>{"a", "b"}));
  auto before = store_->snapshot();
  transaction = store_->begin_write();
  transaction->create_view({"v", {}, "SELECT 5"}, true);
  transaction->drop_view("w");
  transaction->commit();
  transaction.reset();
  EXPECT_EQ(before->find_view("w")->sql, "SELECT 3");
  before.reset();
  reopen();
  EXPECT_EQ(store_->snapshot()->view_names(), std::vector<std::string>{"v"});
  EXPECT_EQ(store_->snapshot()->find_view("v")->sql, "SELECT 5");
  EXPECT_EQ(read("t"), range(0, 10));
  store_->verify();
  store_->begin_write()->create_view({"given_up", {}, "SELECT 6"}, false);
  EXPECT_EQ(store_->snapshot()->find_view("given_up"), nullptr);
}

TEST_P(StoreTest, RowsKeepTheirOrderAcrossTabletBoundaries) {
  for (int64_t count : {1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000}) {
    SCOPED_TRACE(count);
    open();
    std::string name = "t" + std::to_string(count);
    create(name);
    append(name, range(10, count));
    reopen();
    EXPECT_EQ(read(name), range(10, count));
    store_->verify();
  }
}

TEST_P(StoreTest, SmallAppendsBecomeFewFragments) {
  open();
  create("t");
  for (int64_t i = 0; i < 200; ++i) append("t", {i});
  EXPECT_EQ(read("t"), range(0, 200));
  // 3 full tablets, and fragments of which each is at least twice as large as the next.
  EXPECT_LE(store_->snapshot()->find_table("t")->tablet_count(), 3u + 6u);
  reopen();
  EXPECT_EQ(read("t"), range(0, 200));
}

TEST_P(StoreTest, LargeAppendBehindFragments) {
  open();
  create("t");
  append("t", range(0, 40));
  append("t", range(40, 10));
  append("t", range(50, 3));
  EXPECT_EQ(store_->snapshot()->find_table("t")->tablet_count(), 3u);
  append("t", range(53, 300));
  EXPECT_EQ(read("t"), range(0, 353));
  EXPECT_EQ(store_->snapshot()->find_table("t")->tablet_count(), 6u);
}

TEST_P(StoreTest, SnapshotsStayAsTheyAre) {
  open();
  create("t");
  append("t", range(0, 100));
  auto old = store_->snapshot();
  append("t", range(100, 100));
  {
    auto transaction = store_->begin_write();
    transaction->drop_table("t");
    transaction->commit();
  }
  create("u");
  append("u", range(0, 500));
  EXPECT_EQ(read_numbers(*old->find_table("t")), range(0, 100));
  EXPECT_EQ(store_->snapshot()->find_table("t"), nullptr);
  EXPECT_GT(store_->snapshot()->version(), old->version());
}

TEST_P(StoreTest, NothingHappensWithoutCommit) {
  open();
  create("t");
  append("t", range(0, 10));
  {
    auto transaction = store_->begin_write();
    append_numbers(*transaction, "t", range(10, 1000));
    transaction->create_table(mixed_table("u"));
    EXPECT_EQ(read_numbers(*transaction->preview()->find_table("t")), range(0, 1010));
  }
  EXPECT_EQ(read("t"), range(0, 10));
  EXPECT_EQ(store_->snapshot()->find_table("u"), nullptr);
  append("t", range(10, 5));
  EXPECT_EQ(read("t"), range(0, 15));
}

TEST_P(StoreTest, PreviewThenMoreRows) {
  open();
  create("t");
  auto transaction = store_->begin_write();
  for (int64_t i = 0; i < 10; ++i) {
    append_numbers(*transaction, "t", range(i * 30, 30));
    EXPECT_EQ(read_numbers(*transaction->preview()->find_table("t")), range(0, i * 30 + 30));
  }
  transaction->commit();
  EXPECT_EQ(read("t"), range(0, 300));
}

TEST_P(StoreTest, TableErrors) {
  open();
  create("t");
  auto transaction = store_->begin_write();
  EXPECT_EQ(state_of([&] { transaction->create_table(mixed_table("t")); }), "42P07");
  EXPECT_EQ(state_of([&] { transaction->drop_table("u"); }), "42P01");
  EXPECT_EQ(state_of([&] { append_numbers(*transaction, "u", {1}); }), "42P01");
}

TEST_P(StoreTest, NullInNotNullColumn) {
  open();
  TableDefinition definition = mixed_table("t");
  definition.columns[1].not_null = true;
  auto transaction = store_->begin_write();
  transaction->create_table(definition);
  append_numbers(*transaction, "t", {1, 2});
  EXPECT_EQ(state_of([&] { append_numbers(*transaction, "t", {3}); }), "23502");
  EXPECT_EQ(state_of([&] { transaction->commit(); }), "25000");
}

TEST_P(StoreTest, DefinitionsComeBack) {
  open();
  create("t", true);
  reopen();
  const TableDefinition& definition = store_->snapshot()->find_table("t")->definition();
  TableDefinition expected = mixed_table("t", true);
  ASSERT_EQ(definition.columns.size(), expected.columns.size());
  for (size_t i = 0; i < expected.columns.size(); ++i) {
    EXPECT_EQ(definition.columns[i].name, expected.columns[i].name);
    EXPECT_EQ(definition.columns[i].type, expected.columns[i].type);
    EXPECT_EQ(definition.columns[i].not_null, expected.columns[i].not_null);
    EXPECT_EQ(definition.columns[i].default_sql, expected.columns[i].default_sql);
  }
  EXPECT_EQ(definition.primary_key, expected.primary_key);
}

TEST_P(StoreTest, NextWriterWaitsOnlyForTheCommit) {
  open();
  auto first = store_->begin_write();
  first->create_table(mixed_table("t"));
  first->commit();
  append("t", range(0, 3));  // `first` is still there
  EXPECT_EQ(state_of([&] { first->drop_table("t"); }), "25000");
  EXPECT_EQ(read("t"), range(0, 3));
}

TEST_P(StoreTest, TabletSizeOfNewTables) {
  open(64);
  create("small");
  store_->set_tablet_rows(256);
  create("large");
  append("small", range(0, 256));
  append("large", range(0, 256));
  EXPECT_EQ(store_->snapshot()->find_table("small")->tablet_count(), 4u);
  EXPECT_EQ(store_->snapshot()->find_table("large")->tablet_count(), 1u);
  EXPECT_EQ(state_of([&] { store_->set_tablet_rows(100); }), "22023");
}

TEST_P(StoreTest, CommonDictionary) {
  open();
  create("t");
  EXPECT_EQ(store_->snapshot()->find_table("t")->common_dictionary(2), nullptr);
  append("t", range(0, 500));
  reopen();
  auto table = store_->snapshot()->find_table("t");
  ASSERT_NE(table->common_dictionary(2), nullptr);
  EXPECT_EQ(table->common_dictionary(2)->size(), 37u);
  EXPECT_EQ(table->common_dictionary(0), nullptr);
}

TEST(StoreFileTest, OnlyOneMayHaveIt) {
  MemoryFileSystem files;
  MemoryBudget budget(int64_t{64} << 20);
  auto store = Store::open_file(files, budget, "db", {});
  EXPECT_EQ(state_of([&] { Store::open_file(files, budget, "db", {}); }), "55006");
  store.reset();
  Store::open_file(files, budget, "db", {});
}

TEST(StoreFileTest, SpaceOfDroppedTablesIsUsedAgain) {
  MemoryFileSystem files;
  MemoryBudget budget(int64_t{64} << 20);
  auto store = Store::open_file(files, budget, "db", {.tablet_rows = 64});
  size_t largest = 0;
  for (int i = 0; i < 30; ++i) {
    auto transaction = store->begin_write();
    if (i > 0) transaction->drop_table("t");
    transaction->create_table(mixed_table("t"));
    append_numbers(*transaction, "t", range(i, 2000));
    transaction->commit();
    largest = std::max(largest, files.contents("db").size());
    if (i == 3) largest = files.contents("db").size();
  }
  EXPECT_LE(files.contents("db").size(), largest);
  EXPECT_EQ(read_numbers(*store->snapshot()->find_table("t")), range(29, 2000));
  auto change = [&](auto call) {
    auto transaction = store->begin_write();
    call(*transaction);
    transaction->commit();
  };
  change([](WriteTransaction& t) {
    t.create_table(mixed_table("large"));
    append_numbers(t, "large", range(0, 30000));
  });
  largest = files.contents("db").size();
  change([](WriteTransaction& t) { t.drop_table("large"); });
  change([](WriteTransaction& t) { t.create_table(mixed_table("u")); });
  EXPECT_LT(files.contents("db").size(), largest / 2);
}

TEST(StoreFileTest, SnapshotsOutliveTheStore) {
  MemoryFileSystem files;
  MemoryBudget budget(int64_t{64} << 20);
  auto store = Store::open_file(files, budget, "db", {.tablet_rows = 64});
  auto transaction = store->begin_write();
  transaction->create_table(mixed_table("t"));
  append_numbers(*transaction, "t", range(0, 100));
  transaction->commit();
  transaction.reset();
  auto table = store->snapshot()->find_table("t");
  store.reset();
  EXPECT_EQ(read_numbers(*table), range(0, 100));
}

// What is in the log is there, too, and nothing is written.
TEST(ReadOnlyStoreTest, ReadsWhatWasCommitted) {
  MemoryFileSystem files;
  MemoryBudget budget(int64_t{64} << 20);
  std::vector<int64_t> numbers;
  std::unique_ptr<MemoryFileSystem> left;
  {
    auto store = Store::open_file(files, budget, "db", small_tablets);
    for (int64_t i = 0; i < 8; ++i) {
      auto transaction = store->begin_write();
      if (i == 0) transaction->create_table(mixed_table("t", true));
      append_numbers(*transaction, "t", range(i * 100, 100));
      if (i > 5) transaction->erase("t", range(i * 40, 30));
      transaction->commit();
    }
    numbers = read_numbers(*store->snapshot()->find_table("t"));
    left = files.after_crash(1);
  }
  StoreOptions options = small_tablets;
  options.is_read_only = true;
  {
    auto store = Store::open_file(*left, budget, "db", options);
    EXPECT_TRUE(store->is_read_only());
    EXPECT_EQ(read_numbers(*store->snapshot()->find_table("t")), numbers);
    EXPECT_EQ(state_of([&] { store->begin_write(); }), "25006");
    EXPECT_EQ(state_of([&] { store->checkpoint(); }), "25006");
    store->verify();
    auto beside = Store::open_file(*left, budget, "db", options);
    EXPECT_EQ(read_numbers(*beside->snapshot()->find_table("t")), numbers);
    EXPECT_EQ(state_of([&] { Store::open_file(*left, budget, "db", small_tablets); }), "55006");
  }
  auto store = Store::open_file(*left, budget, "db", small_tablets);
  EXPECT_EQ(state_of([&] { Store::open_file(*left, budget, "db", options); }), "55006");
  EXPECT_EQ(read_numbers(*store->snapshot()->find_table("t")), numbers);
}

TEST(ReadOnlyStoreTest, NeedsAFile) {
  MemoryFileSystem files;
  MemoryBudget budget(int64_t{64} << 20);
  EXPECT_EQ(state_of([&] { Store::open_file(files, budget, "db", {.is_read_only = true}); }), "58P01");
  files.open("db", OpenMode::Create);
  EXPECT_EQ(state_of([&] { Store::open_file(files, budget, "db", {.is_read_only = true}); }), "XX001");
}

}  // namespace
}  // namespace diptych::test
