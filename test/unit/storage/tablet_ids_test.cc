// A tablet's id is given once, comes back from the file, and is checked there.
#include "storage/tablet_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/file/blob_codec.h"
#include "storage/file/file_header.h"
#include "storage/test_rows.h"
#include "tablet/layout.h"

namespace diptych::test {
namespace {

using Ids = std::vector<uint64_t>;

Ids ids_of(const TableSnapshot& table) {
  Ids ids;
  for (size_t tablet = 0; tablet < table.tablet_count(); ++tablet) ids.push_back(table.tablet_id(tablet));
  return ids;
}

TEST(TabletIdCounter, EndsBeforeRowIdsOverflow) {
  TabletIds ids;
  ids.go_on_from(TabletIds::end - 1);
  EXPECT_EQ(ids.take(), TabletIds::end - 1);
  EXPECT_EQ(state_of([&] { ids.take(); }), "54000");
  EXPECT_EQ(ids.next(), TabletIds::end);
}

class TabletIdsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    open();
    change([](WriteTransaction& transaction) { transaction.create_table(mixed_table("t")); });
  }
  void open() {
    store_.reset();
    store_ = GetParam() ? Store::open_file(files_, budget_, "db", small_tablets)
                        : Store::open_memory(budget_, small_tablets);
  }
  template <typename Call>
  void change(Call call) {
    auto transaction = store_->begin_write();
    call(*transaction);
    transaction->commit();
  }
  void append(int64_t first, int64_t count) {
    change([&](WriteTransaction& transaction) { append_numbers(transaction, "t", range(first, count)); });
  }
  Ids ids() const { return ids_of(*store_->snapshot()->find_table("t")); }

  // `kept` tablets stay, and those behind them have ids that no tablet had; all ascend.
  void expect_new(const Ids& before, const Ids& after, size_t kept) {
    ASSERT_GT(after.size(), kept);
    EXPECT_TRUE(std::is_sorted(after.begin(), after.end()));
    for (size_t i = 0; i < kept; ++i) EXPECT_EQ(after[i], before[i]);
    for (size_t i = kept; i < after.size(); ++i) EXPECT_TRUE(given_.insert(after[i]).second) << "id " << after[i];
  }

  MemoryFileSystem files_;
  MemoryBudget budget_{int64_t{64} << 20};
  std::unique_ptr<Store> store_;
  std::set<uint64_t> given_;
};

INSTANTIATE_TEST_SUITE_P(FileAndMemory, TabletIdsTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "File" : "Memory"; });

TEST_P(TabletIdsTest, FullTabletsKeepTheirs) {
  append(0, 128);
  const Ids two = ids();
  expect_new({}, two, 0);
  append(128, 64);
  expect_new(two, ids(), 2);
}

TEST_P(TabletIdsTest, FragmentsThatAreWrittenAgainGetOthers) {
  append(0, 74);
  const Ids first = ids();
  expect_new({}, first, 0);
  append(74, 7);
  const Ids second = ids();
  ASSERT_EQ(second.size(), 2u);
  expect_new(first, second, 1);
  append(81, 300);
  expect_new(second, ids(), 1);
}

TEST_P(TabletIdsTest, ManyTabletsOfOneTransaction) {
  append(0, 64 * 100 + 5);
  const Ids all = ids();
  ASSERT_EQ(all.size(), 101u);
  expect_new({}, all, 0);
}

// What a transaction that was given up has shown may still be in caches.
TEST_P(TabletIdsTest, RolledBackIdsAreNotGivenAgain) {
  append(0, 100);
  const Ids before = ids();
  expect_new({}, before, 0);
  {
    auto transaction = store_->begin_write();
    append_numbers(*transaction, "t", range(100, 200));
    expect_new(before, ids_of(*transaction->preview()->find_table("t")), 1);
  }
  EXPECT_EQ(ids(), before);
  append(100, 200);
  expect_new(before, ids(), 1);
}

TEST_P(TabletIdsTest, TableThatIsCreatedAgain) {
  append(0, 100);
  expect_new({}, ids(), 0);
  change([](WriteTransaction& transaction) {
    transaction.drop_table("t");
    transaction.create_table(mixed_table("t"));
    append_numbers(transaction, "t", range(0, 100));
  });
  expect_new({}, ids(), 0);
  change([](WriteTransaction& transaction) { transaction.drop_table("t"); });
  if (GetParam()) open();
  change([](WriteTransaction& transaction) {
    transaction.create_table(mixed_table("t"));
    append_numbers(transaction, "t", range(0, 100));
  });
  expect_new({}, ids(), 0);
}

TEST_P(TabletIdsTest, TablesShareTheCounter) {
  append(0, 100);
  expect_new({}, ids(), 0);
  change([](WriteTransaction& transaction) {
    transaction.create_table(mixed_table("u"));
    append_numbers(transaction, "u", range(0, 100));
  });
  expect_new({}, ids_of(*store_->snapshot()->find_table("u")), 0);
}

TEST_P(TabletIdsTest, ComeBackFromTheFile) {
  append(0, 200);
  append(200, 20);
  const Ids before = ids();
  expect_new({}, before, 0);
  if (GetParam()) open();
  EXPECT_EQ(ids(), before);
  append(220, 1);
  expect_new(before, ids(), before.size());
}

// What only a program that means harm, or has a defect, writes: checksums are right.
class TabletIdsInFile : public testing::Test {
 protected:
  void SetUp() override {
    MemoryFileSystem files;
    {
      auto store = Store::open_file(files, budget_, "db", small_tablets);
      auto transaction = store->begin_write();
      for (const char* name : {"t", "u"}) {
        TableDefinition definition;
        definition.name = name;
        definition.columns = {{"i", {TypeId::BigInt}, false, ""}};
        transaction->create_table(definition);
        // t has tablets 1 and 2, u has tablet 3.
        for (int tablet = 0; tablet < (definition.name == "t" ? 2 : 1); ++tablet)
          transaction->append(name, full_tablet());
      }
      transaction->commit();
    }
    file_ = files.contents("db");
    for (int64_t page = 0; page < header_pages; ++page) {
      auto header = decode_header(std::span(file_).subspan(static_cast<size_t>(page * page_bytes), page_bytes));
      if (header->sequence >= header_.sequence) header_ = *header;
    }
    BlobReader root(bytes_of(header_.root), "root");
    EXPECT_EQ(root.varint(), 4u);
    EXPECT_EQ(root.count(), 2u);
    EXPECT_EQ(root.text(), "t");
    table_ = read_reference(root);
    // The table's only directory stands before its statistics.
    BlobReader table(bytes_of(table_), "table");
    EXPECT_EQ(table.text(), "t");
    EXPECT_EQ(table.varint(), 64u);
    EXPECT_EQ(table.count(), 1u);
    EXPECT_EQ(table.text(), "i");
    table.raw(3);
    table.varint();
    table.byte();
    table.text();
    EXPECT_EQ(table.count(), 0u);
    EXPECT_EQ(table.count(), 1u);
    directory_ = read_reference(table);
  }

  RowBatch full_tablet() const { return {64, std::span(&column_, 1)}; }

  static BlobReference read_reference(BlobReader& reader) {
    BlobReference reference;
    reference.first_page = static_cast<int64_t>(reader.varint());
    reference.bytes = static_cast<int64_t>(reader.varint());
    reference.checksum = reader.fixed();
    return reference;
  }

  std::span<std::byte> bytes_of(const BlobReference& place) {
    return std::span(file_).subspan(static_cast<size_t>(place.first_page * page_bytes),
                                    static_cast<size_t>(place.bytes));
  }

  // The parent has the child's checksum in it.
  void reseal(const BlobReference& child, const BlobReference& parent) {
    const uint64_t checksum = checksum_of(bytes_of(child));
    const auto old = std::as_bytes(std::span(&child.checksum, 1));
    const std::span<std::byte> bytes = bytes_of(parent);
    const auto at = std::search(bytes.begin(), bytes.end(), old.begin(), old.end());
    ASSERT_NE(at, bytes.end());
    std::memcpy(&*at, &checksum, sizeof checksum);
  }
  void reseal_root() {
    header_.root.checksum = checksum_of(bytes_of(header_.root));
    const HeaderPage page = encode_header(header_);
    for (size_t copy : {0, 1})
      std::memcpy(&file_[(header_.sequence % 2 * 2 + copy) * page_bytes], page.data(), page.size());
  }

  void set_next(uint64_t next) {
    BlobWriter writer;
    writer.varint(next);
    writer.raw(bytes_of(header_.root).subspan(1));
    header_.root.bytes = static_cast<int64_t>(writer.bytes().size());
    std::memcpy(bytes_of(header_.root).data(), writer.bytes().data(), writer.bytes().size());
    reseal_root();
  }
  void set_id(size_t tablet, uint8_t id) {
    // Count; of each tablet id, first page and pages in a byte each, header and records, no mask.
    const size_t entry = 4 + tablet_meta_bytes(1);
    bytes_of(directory_)[1 + tablet * entry] = std::byte{id};
    reseal(directory_, table_);
    reseal(table_, header_.root);
    reseal_root();
  }
  void set_tablet_rows(uint8_t rows) {
    bytes_of(table_)[2] = std::byte{rows};
    reseal(table_, header_.root);
    reseal_root();
  }

  // What opening the file ends with; with no error, what `use` does.
  template <typename Call>
  std::string opened(Call use) {
    MemoryFileSystem files;
    files.set_contents("db", file_);
    return state_of([&] { use(*Store::open_file(files, budget_, "db", small_tablets)); });
  }
  std::string opened() {
    return opened([](Store&) {});
  }

  MemoryBudget budget_{int64_t{64} << 20};
  std::vector<int64_t> numbers_ = range(0, 64);
  BatchColumn column_{.physical = PhysicalType::Int64, .values = numbers_.data()};
  std::vector<std::byte> file_;
  FileHeader header_;
  BlobReference table_, directory_;  // of t
};

TEST_F(TabletIdsInFile, AreThoseThatWereGiven) {
  EXPECT_EQ(opened([](Store& store) {
              EXPECT_EQ(ids_of(*store.snapshot()->find_table("t")), (Ids{1, 2}));
              EXPECT_EQ(ids_of(*store.snapshot()->find_table("u")), Ids{3});
            }),
            "");
}

TEST_F(TabletIdsInFile, CounterThatIsNotAboveAllIds) {
  for (uint64_t next : {0, 1, 2, 3}) {
    SetUp();
    SCOPED_TRACE(next);
    set_next(next);
    EXPECT_EQ(opened(), "XX001");
  }
}

TEST_F(TabletIdsInFile, CounterBehindTheEnd) {
  for (uint64_t next : {TabletIds::end + 1, ~uint64_t{0}}) {
    SetUp();
    SCOPED_TRACE(next);
    set_next(next);
    EXPECT_EQ(opened(), "XX001");
  }
}

TEST_F(TabletIdsInFile, CounterGoesOn) {
  set_next(1000);
  EXPECT_EQ(opened([this](Store& store) {
              auto transaction = store.begin_write();
              transaction->append("t", full_tablet());
              transaction->commit();
              EXPECT_EQ(ids_of(*store.snapshot()->find_table("t")), (Ids{1, 2, 1000}));
            }),
            "");
}

TEST_F(TabletIdsInFile, AllIdsAreGiven) {
  set_next(TabletIds::end);
  EXPECT_EQ(opened([this](Store& store) { store.begin_write()->append("t", full_tablet()); }), "54000");
}

TEST_F(TabletIdsInFile, IdTwiceOrNeverGiven) {
  for (uint8_t id : {0, 1, 3, 4, 100}) {  // 1: of the tablet before, 3: of another table's
    SetUp();
    SCOPED_TRACE(int{id});
    set_id(1, id);
    EXPECT_EQ(opened(), "XX001");
  }
}

TEST_F(TabletIdsInFile, RowSlotsThatAreNoPowerOfTwo) {
  for (uint8_t rows : {0, 32, 65, 127}) {  // 32: fewer than a tablet has rows
    SetUp();
    SCOPED_TRACE(int{rows});
    set_tablet_rows(rows);
    EXPECT_EQ(opened(), "XX001");
  }
}

}  // namespace
}  // namespace diptych::test
