// Tablets that are written anew without the rows that were deleted from them.
#include "storage/compaction.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/workload.h"
#include "storage/write_transaction.h"

namespace diptych::test {
namespace {

// Of numbers those for which `stays` holds.
template <typename Stays>
std::vector<int64_t> those_of(std::vector<int64_t> numbers, Stays stays) {
  std::erase_if(numbers, [&](int64_t number) { return !stays(number); });
  return numbers;
}

void erase_numbers(WriteTransaction& transaction, const std::string& table, const std::vector<int64_t>& gone) {
  const auto before = transaction.preview()->find_table(table);
  const std::vector<int64_t> numbers = read_numbers(*before), positions = positions_in(*before);
  std::vector<int64_t> erased;
  for (size_t i = 0; i < numbers.size(); ++i)
    if (std::binary_search(gone.begin(), gone.end(), numbers[i])) erased.push_back(positions[i]);
  transaction.erase(table, erased);
}

// The parameter: in a file.
class CompactionTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { open(small_tablets); }
  void open(const StoreOptions& options) {
    store_.reset();
    store_ = GetParam() ? Store::open_file(files_, budget_, "db", options) : Store::open_memory(budget_, options);
  }
  void commit(const std::vector<Change>& changes) { run(*store_, {changes}); }
  std::shared_ptr<const TableSnapshot> table() { return store_->snapshot()->find_table("t"); }
  void check(const std::vector<int64_t>& numbers) {
    EXPECT_EQ(read_numbers(*table()), numbers);
    store_->verify();
    if (!GetParam()) return;
    open(small_tablets);
    EXPECT_EQ(read_numbers(*table()), numbers);
    store_->verify();
  }

  MemoryFileSystem files_;
  MemoryBudget budget_{int64_t{64} << 20};
  std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(FileAndMemory, CompactionTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

TEST_P(CompactionTest, OfRowsHereAndThere) {
  commit({create("t"), append("t", 0, 6400)});
  commit({erase("t", 0, 6400, 10)});
  const auto stays = [](int64_t number) { return number % 10 != 0; };
  auto before = table();
  EXPECT_EQ(before->row_count(), 6400);
  store_->checkpoint();
  // 32 tablets at a time: the last of each run need not be full.
  EXPECT_EQ(table()->row_count(), 5760);
  EXPECT_LE(table()->tablet_count(), 5760 / 64 + 4);
  EXPECT_EQ(read_numbers(*before), those_of(range(0, 6400), stays));
  before.reset();
  check(those_of(range(0, 6400), stays));
}

TEST_P(CompactionTest, LeavesWhatHasLostLittle) {
  commit({create("t"), append("t", 0, 6400)});
  commit({erase("t", 0, 64 * 10, 32)});  // two of each
  const uint64_t first = table()->tablet_id(0), last = table()->tablet_id(99);
  store_->checkpoint();
  EXPECT_EQ(table()->tablet_id(0), first);
  EXPECT_EQ(table()->row_count(), 6400);
  commit({erase("t", 0, 64 * 3, 16)});
  store_->checkpoint();
  EXPECT_NE(table()->tablet_id(0), first);
  EXPECT_EQ(table()->tablet_id(table()->tablet_count() - 1), last);
}

TEST_P(CompactionTest, ChangesNoRow) {
  commit({create("t"), append("t", 0, 640)});
  commit({erase("t", 0, 300, 2)});
  const auto before = store_->snapshot();
  store_->checkpoint();
  const auto behind = store_->snapshot();
  EXPECT_NE(behind->version(), before->version());
  const auto contents = [](const CatalogSnapshot& catalog) { return catalog.find_table("t")->contents_version(); };
  EXPECT_EQ(contents(*behind), contents(*before));
  EXPECT_EQ(behind->schema_version(), before->schema_version());
  commit({append("t", 700, 1)});
  EXPECT_NE(contents(*store_->snapshot()), contents(*before));
}

TEST_P(CompactionTest, NothingToDo) {
  store_->checkpoint();
  commit({create("t")});
  store_->checkpoint();
  commit({append("t", 0, 100)});
  store_->checkpoint();
  store_->checkpoint();
  check(range(0, 100));
}

TEST_P(CompactionTest, WaitsForTheWriterAsLongAsIsAskedFor) {
  commit({create("t"), append("t", 0, 100)});
  commit({erase("t", 0, 50)});
  const auto writer = store_->begin_write();
  EXPECT_EQ(state_of([&] { store_->checkpoint(nullptr, std::chrono::milliseconds(20)); }), "55P03");
  const std::atomic<bool> cancelled = true;
  EXPECT_EQ(state_of([&] { store_->checkpoint(&cancelled); }), "57014");
}

TEST_P(CompactionTest, SpaceIsUsedAgain) {
  if (!GetParam()) GTEST_SKIP() << "memory has no pages";
  commit({create("t"), append("t", 0, 64000)});
  const int64_t bytes = files_.open("db", OpenMode::Read)->size();
  for (int64_t i = 0; i < 4; ++i) {
    commit({erase("t", 0, 64000, 2), append("t", (i + 1) * 64000, 32000)});
    store_->checkpoint();
  }
  // Twice what is there, and a dictionary of a few strings more each time.
  EXPECT_LT(files_.open("db", OpenMode::Read)->size(), 5 * bytes / 2);
  EXPECT_EQ(table()->live_rows(), 64000);
}

// What was written anew meets a table that has changed since: rows were deleted, added, tablets are others.
class LaterTest : public testing::TestWithParam<bool> {
 protected:
  LaterTest() {
    std::shared_ptr<DatabaseFile> file;
    std::shared_ptr<TabletBuffer> buffer;
    std::unique_ptr<CommitLog> log;
    if (GetParam()) {
      file = DatabaseFile::open(files_, "db");
      buffer = std::make_shared<TabletBuffer>(budget_, file);
      log = std::make_unique<CommitLog>(files_, "db");
    }
    state_ = std::make_unique<StoreState>(
        TabletStorage{budget_, file, buffer, std::make_shared<TabletIds>()}, std::move(log), small_tablets,
        std::make_shared<CatalogView>(TableMap{}, ViewMap{}, CatalogVersions{}, nullptr));
    change([](WriteTransaction& transaction) {
      transaction.create_table(mixed_table("t"));
      append_numbers(transaction, "t", range(0, 700));
    });
    change([](WriteTransaction& transaction) {
      erase_numbers(transaction, "t", those_of(range(64, 300), [](int64_t number) { return number % 2 == 0; }));
    });
  }
  ~LaterTest() override { state_->close(); }
  template <typename Work>
  void change(Work work) {
    StoredTransaction transaction(*state_, nullptr, {});
    work(transaction);
    transaction.commit();
  }
  CompactedRun written() {
    auto run = run_to_compact(state_->current()->tables().find("t")->second, CompactedPart::All);
    EXPECT_TRUE(run.has_value());
    EXPECT_TRUE(write_run(state_->storage, *run, nullptr));
    return *run;
  }
  // None: it can't be put in.
  std::optional<std::vector<int64_t>> put(const CompactedRun& run) {
    TableState later = state_->current()->tables().find("t")->second->state();
    const int64_t rows = later.directory.rows();
    if (!put_run(state_->storage, run, later)) return {};
    EXPECT_LT(later.directory.rows(), rows);
    return read_numbers(TableView(std::move(later)));
  }
  std::vector<int64_t> now() { return read_numbers(*state_->current()->find_table("t")); }

  MemoryFileSystem files_;
  MemoryBudget budget_{int64_t{64} << 20};
  std::unique_ptr<StoreState> state_;
};

INSTANTIATE_TEST_SUITE_P(FileAndMemory, LaterTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

TEST_P(LaterTest, RowsWereDeletedSince) {
  const CompactedRun run = written();
  for (const std::vector<int64_t>& gone : {range(100, 1), range(80, 90), range(0, 70), range(200, 200)}) {
    change([&](WriteTransaction& transaction) { erase_numbers(transaction, "t", gone); });
    EXPECT_EQ(put(run), now());
  }
}

TEST_P(LaterTest, RowsWereAddedSince) {
  const CompactedRun run = written();
  change([](WriteTransaction& transaction) { append_numbers(transaction, "t", range(1000, 500)); });
  EXPECT_EQ(put(run), now());
}

TEST_P(LaterTest, ATabletBeforeIsGone) {
  const CompactedRun run = written();
  change([](WriteTransaction& transaction) { erase_numbers(transaction, "t", range(0, 64)); });
  EXPECT_EQ(put(run), now());
}

TEST_P(LaterTest, TabletsOfItAreGone) {
  const CompactedRun run = written();
  change([](WriteTransaction& transaction) { erase_numbers(transaction, "t", range(128, 64)); });
  EXPECT_EQ(put(run), now());
  change([](WriteTransaction& transaction) { erase_numbers(transaction, "t", range(64, 300)); });
  EXPECT_EQ(put(run), std::nullopt);
}

TEST_P(LaterTest, ItWasWrittenAnewByAnother) {
  const CompactedRun run = written();
  state_->compactor().run(nullptr, {});
  EXPECT_EQ(put(run), std::nullopt);
}

// They have the same ids in the file.
TEST_P(LaterTest, AFragmentOfItWasWrittenToTheFileSince) {
  for (int64_t i = 0; i < 3; ++i)
    change([i](WriteTransaction& transaction) { append_numbers(transaction, "t", range(1000 + 16 * i, 16)); });
  change([&](WriteTransaction& transaction) {
    erase_numbers(transaction, "t", those_of(now(), [](int64_t number) { return number % 4 != 3; }));
  });
  const auto last_tablet = [this] {
    const TabletDirectory& directory = state_->current()->tables().find("t")->second->state().directory;
    return directory[directory.size() - 1].tablet;
  };
  const CompactedRun run = written();
  EXPECT_EQ(run.first + run.count, run.table->state().directory.size());
  const TabletHandle before = last_tablet();
  EXPECT_TRUE(before->is_in_memory());
  state_->begin_writing(nullptr, {});
  state_->write_checkpoint();
  state_->end_writing();
  EXPECT_EQ(last_tablet()->is_in_memory(), !GetParam());
  EXPECT_EQ(last_tablet()->id(), before->id());
  EXPECT_EQ(put(run), now());
}

TEST_P(LaterTest, TheTableIsAnotherOne) {
  const CompactedRun run = written();
  change([](WriteTransaction& transaction) {
    transaction.drop_table("t");
    transaction.create_table(mixed_table("t"));
    append_numbers(transaction, "t", range(0, 700));
  });
  EXPECT_EQ(put(run), std::nullopt);
}

// The thread beside writers that add, delete and give up, and readers of what they left.
TEST_P(CompactionTest, BesideWritersAndReaders) {
  const uint64_t seed = base_seed();
  SCOPED_TRACE("DIPTYCH_TEST_SEED=" + std::to_string(seed));
  open({.tablet_rows = 64});
  commit({create("t", true), append("t", 0, 2000)});
  std::vector<int64_t> numbers = range(0, 2000);
  std::atomic<bool> is_done = false;
  std::thread reader([&] {
    while (!is_done) {
      const auto snapshot = store_->snapshot();
      const std::vector<int64_t> first = read_numbers(*snapshot->find_table("t"));
      EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
      std::this_thread::yield();
      EXPECT_EQ(read_numbers(*snapshot->find_table("t")), first);
    }
  });
  std::mt19937_64 random(seed);
  int64_t next = 2000;
  for (int i = 0; i < 300; ++i) {
    const uint64_t step = 2 + random() % 40, first = random() % step;
    const bool commits = random() % 4 != 0;
    std::vector<int64_t> gone, left;
    for (size_t row = 0; row < numbers.size(); ++row) (row % step == first ? gone : left).push_back(numbers[row]);
    const int64_t count = static_cast<int64_t>(gone.size());
    auto writer = store_->begin_write();
    erase_numbers(*writer, "t", gone);
    append_numbers(*writer, "t", range(next, count));
    if (!commits) continue;
    writer->commit();
    for (int64_t row = 0; row < count; ++row) left.push_back(next++);
    numbers = left;
    EXPECT_EQ(read_numbers(*table()), numbers);
  }
  is_done = true;
  reader.join();
  store_->checkpoint();
  EXPECT_LT(table()->row_count(), 2000 * 17 / 16 + 64);
  check(numbers);
}

}  // namespace
}  // namespace diptych::test
