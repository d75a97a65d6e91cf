#include "storage/tablet_buffer.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/fault_file_system.h"
#include "storage/row_decoder.h"
#include "storage/tablet_storage.h"
#include "storage/test_rows.h"
#include "tablet/builder.h"

namespace diptych::test {
namespace {

constexpr int64_t rows = 4096;
constexpr size_t tablets = 40;
constexpr int64_t mega = 1 << 20;

// 40 tablets of 4096 rows: two bigint columns of random numbers, which do not compress, 32 KiB each.
class TabletBufferTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = DatabaseFile::open(files_, "db");
    buffer_ = std::make_shared<TabletBuffer>(budget_, file_);
    TabletStorage storage{budget_, file_, buffer_, nullptr};
    std::vector<ColumnDefinition> columns = {{"a", {TypeId::BigInt}}, {"b", {TypeId::BigInt}}};
    std::mt19937_64 random(1);
    for (size_t i = 0; i < tablets; ++i) {
      std::vector<int64_t> a(rows), b(rows);
      for (int64_t row = 0; row < rows; ++row) {
        a[static_cast<size_t>(row)] = static_cast<int64_t>(random());
        b[static_cast<size_t>(row)] = a[static_cast<size_t>(row)] ^ 1;
      }
      std::vector<BatchColumn> batch(2);
      batch[0] = {.physical = PhysicalType::Int64, .values = a.data()};
      batch[1] = {.physical = PhysicalType::Int64, .values = b.data()};
      TabletBuilder builder(columns, rows, {nullptr, nullptr});
      builder.append({rows, batch}, 0, rows);
      tablets_.push_back(storage.store(i + 1, builder.finish(), {}));
      sums_.push_back(0);
      for (int64_t value : a) sums_.back() += static_cast<uint64_t>(value);
    }
    budget_.set_limit(mega);  // of 2.5 MiB of data
  }

  std::vector<ColumnView> pin(size_t tablet, std::span<const size_t> columns) {
    return buffer_->pin(*tablets_[tablet], columns, {table_, tablet, dictionaries_});
  }

  void scan(size_t tablet) {
    std::vector<size_t> columns = {0, 1};
    std::vector<ColumnView> views = pin(tablet, columns);
    uint64_t sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      sum += static_cast<uint64_t>(integer_at(views[0], row));
      EXPECT_EQ(integer_at(views[0], row) ^ 1, integer_at(views[1], row));
    }
    EXPECT_EQ(sum, sums_[tablet]);
    buffer_->unpin(*tablets_[tablet], columns);
  }

  MemoryFileSystem files_;
  MemoryBudget budget_{64 * mega};
  std::shared_ptr<DatabaseFile> file_;
  std::shared_ptr<TabletBuffer> buffer_;
  std::string table_ = "t";
  std::vector<const Dictionary*> dictionaries_{nullptr, nullptr};
  std::vector<TabletHandle> tablets_;
  std::vector<uint64_t> sums_;
};

TEST_F(TabletBufferTest, SecondPinReadsNothing) {
  scan(0);
  int64_t operations = files_.operations();
  scan(0);
  EXPECT_EQ(files_.operations(), operations);
  EXPECT_EQ(buffer_->hits(), 2);
  EXPECT_EQ(buffer_->misses(), 2);
}

TEST_F(TabletBufferTest, AdjacentColumnsAreOneRead) {
  int64_t operations = files_.operations();
  scan(3);
  EXPECT_EQ(files_.operations(), operations + 1);
}

TEST_F(TabletBufferTest, ScansOfMoreThanMemoryFindAPartThere) {
  for (int round = 0; round < 10; ++round) {
    for (size_t tablet = 0; tablet < tablets; ++tablet) scan(tablet);
    EXPECT_LE(budget_.peak(), std::max(budget_.limit(), int64_t{3} * mega));
  }
  EXPECT_LE(budget_.used(), budget_.limit());
  int64_t hits = buffer_->hits();
  for (size_t tablet = 0; tablet < tablets; ++tablet) scan(tablet);
  // About a third of the data fits; least-recently-used would find nothing.
  EXPECT_GT(buffer_->hits() - hits, static_cast<int64_t>(2 * tablets) / 6);
}

TEST_F(TabletBufferTest, ScanDoesNotDriveOutWhatIsUsedAgain) {
  for (int round = 0; round < 8; ++round) {
    for (size_t tablet = 0; tablet < 4; ++tablet) scan(tablet);
    for (size_t tablet = 4; tablet < 12; ++tablet) scan(tablet);
  }
  for (size_t tablet = 12; tablet < tablets; ++tablet) scan(tablet);
  int64_t misses = buffer_->misses();
  for (size_t tablet = 0; tablet < 4; ++tablet) scan(tablet);
  EXPECT_LT(buffer_->misses() - misses, 4);
}

TEST_F(TabletBufferTest, PinnedColumnsStay) {
  std::vector<size_t> columns = {0};
  std::vector<ColumnView> views = pin(7, columns);
  for (size_t tablet = 0; tablet < tablets; ++tablet) scan(tablet);
  uint64_t sum = 0;
  for (int64_t row = 0; row < rows; ++row) sum += static_cast<uint64_t>(integer_at(views[0], row));
  EXPECT_EQ(sum, sums_[7]);
  buffer_->unpin(*tablets_[7], columns);
}

TEST_F(TabletBufferTest, EverythingPinnedIsAnError) {
  std::vector<size_t> columns = {0, 1};
  size_t pinned = 0;
  EXPECT_EQ(state_of([&] {
              for (; pinned < tablets; ++pinned) pin(pinned, columns);
            }),
            "53200");
  EXPECT_GT(pinned, 4u);
  for (size_t tablet = 0; tablet < pinned; ++tablet) buffer_->unpin(*tablets_[tablet], columns);
  for (size_t tablet = 0; tablet < tablets; ++tablet) scan(tablet);
}

TEST_F(TabletBufferTest, GivesWayToStatements) {
  for (size_t tablet = 0; tablet < tablets; ++tablet) scan(tablet);
  EXPECT_GT(buffer_->cached_bytes(), mega / 2);
  budget_.reserve(mega - 1000, "statement");
  EXPECT_EQ(buffer_->cached_bytes(), 0);
  budget_.release(mega - 1000);
}

TEST_F(TabletBufferTest, FailedLoadCanBeRepeated) {
  files_.set_faults({.kind = FaultPlan::Kind::IoError, .at = 0});
  std::vector<size_t> columns = {0, 1, 0};
  EXPECT_EQ(state_of([&] { pin(0, columns); }), "58030");
  scan(0);
}

TEST_F(TabletBufferTest, DroppedTabletsAreForgotten) {
  for (size_t tablet = 0; tablet < tablets; ++tablet) scan(tablet);
  tablets_.clear();
  EXPECT_EQ(buffer_->cached_bytes(), 0);
  EXPECT_EQ(budget_.used(), 0);  // nor are their blocks kept
  buffer_.reset();
  EXPECT_EQ(budget_.used(), 0);
}

TEST_F(TabletBufferTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([this, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 200; ++i) scan(random() % tablets);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(budget_.used(), budget_.limit());
}

}  // namespace
}  // namespace diptych::test
