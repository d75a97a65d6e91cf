#include "storage/tablet_directory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

namespace diptych {
namespace {

constexpr int64_t tablet_rows = 64;

class TabletDirectoryTest : public testing::Test {
 protected:
  TabletHandle tablet(int64_t rows) {
    EncodedTablet encoded;
    encoded.rows = rows;
    return std::make_shared<StoredTablet>(++last_id_, std::move(encoded), MemoryReservation(budget_, "test"));
  }

  // All rows of each are there.
  static std::vector<MaskedTablet> whole(const std::vector<TabletHandle>& tablets) {
    std::vector<MaskedTablet> members;
    for (const TabletHandle& one : tablets) members.push_back({one, nullptr});
    return members;
  }

  // Compares with the same list kept plainly.
  void expect_equal(const TabletDirectory& directory, const std::vector<TabletHandle>& expected) {
    ASSERT_EQ(directory.size(), expected.size());
    int64_t row = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(directory[i].tablet, expected[i]);
      EXPECT_EQ(directory[i].first_row, row);
      row += expected[i]->rows();
    }
    EXPECT_EQ(directory.rows(), row);
  }

  MemoryBudget budget_{1000};
  uint64_t last_id_ = 0;
};

TEST_F(TabletDirectoryTest, RandomTails) {
  for (uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    TabletDirectory directory;
    std::vector<TabletHandle> expected;
    for (int i = 0; i < 300; ++i) {
      size_t cut = std::min<size_t>(expected.size(), random() % 4);
      std::vector<TabletHandle> added;
      for (size_t full = random() % 5; full > 0; --full) added.push_back(tablet(tablet_rows));
      if (random() % 2) added.push_back(tablet(1 + static_cast<int64_t>(random() % 63)));
      expected.resize(expected.size() - cut);
      expected.insert(expected.end(), added.begin(), added.end());
      TabletDirectory before = directory;
      directory.replace_tail(directory.size() - cut, whole(added), tablet_rows);
      expect_equal(directory, expected);
      EXPECT_LE(before.size(), expected.size() + cut);
    }
  }
}

TEST_F(TabletDirectoryTest, OneByOneRewritesLittle) {
  TabletDirectory directory;
  size_t rewritten = 0;
  constexpr size_t count = 2000;
  for (size_t i = 0; i < count; ++i) {
    directory.replace_tail(directory.size(), whole({tablet(tablet_rows)}), tablet_rows);
    rewritten += directory.parts().back().chunk->tablets.size();
    EXPECT_LE(directory.parts().size(), i / DirectoryChunk::most_tablets * 2 + 10);
  }
  EXPECT_LE(rewritten, count * 8);  // entries of 256 tablets are rewritten about log2(256) times
}

TEST_F(TabletDirectoryTest, FullTabletsAndFragmentsStayApart) {
  TabletDirectory directory;
  for (int i = 0; i < 20; ++i) directory.replace_tail(directory.size(), whole({tablet(tablet_rows)}), tablet_rows);
  size_t full_parts = directory.parts().size();
  auto first = directory.parts()[0].chunk;
  directory.replace_tail(20, whole({tablet(9)}), tablet_rows);
  directory.replace_tail(21, whole({tablet(3)}), tablet_rows);
  directory.replace_tail(20, whole({tablet(13)}), tablet_rows);
  EXPECT_EQ(directory.parts().size(), full_parts + 1);
  EXPECT_EQ(directory.parts()[0].chunk, first);
}

TEST_F(TabletDirectoryTest, CopiesShareWhatDidNotChange) {
  TabletDirectory directory;
  std::vector<TabletHandle> many;
  for (int i = 0; i < 600; ++i) many.push_back(tablet(tablet_rows));
  directory.replace_tail(0, whole(many), tablet_rows);
  TabletDirectory copy = directory;
  copy.replace_tail(600, whole({tablet(5)}), tablet_rows);
  ASSERT_EQ(directory.parts().size(), 3u);
  for (size_t part : {0, 1, 2}) EXPECT_EQ(copy.parts()[part].chunk, directory.parts()[part].chunk);
  expect_equal(directory, many);
}

TEST_F(TabletDirectoryTest, ChunksSumTheirColumnsUp) {
  std::vector<TabletHandle> tablets;
  for (int i = 0; i < 3; ++i) {
    EncodedTablet encoded;
    encoded.rows = tablet_rows;
    EncodedColumn& column = encoded.columns.emplace_back();
    column.zone.has_bounds = true;
    column.zone.null_count = i;
    column.zone.low = i;
    column.zone.high = 10 * i;
    column.data.resize(100);
    tablets.push_back(
        std::make_shared<StoredTablet>(++last_id_, std::move(encoded), MemoryReservation(budget_, "test")));
  }
  TabletDirectory directory;
  directory.replace_tail(0, whole(tablets), tablet_rows);
  const ColumnSummary& summary = directory.parts().front().chunk->columns.front();
  EXPECT_EQ(summary.widest.low, 0);
  EXPECT_EQ(summary.widest.high, 20);
  EXPECT_TRUE(summary.has_nulls);
  EXPECT_TRUE(summary.is_bounded);
  EXPECT_EQ(summary.bytes, 300);
}

// Erases rows at random, and compares with a list of the rows that are left, each known by its tablet and slot.
TEST_F(TabletDirectoryTest, MasksLeaveRowsOut) {
  for (uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<TabletHandle> tablets;
    for (int i = 0; i < 300; ++i) tablets.push_back(tablet(1 + static_cast<int64_t>(random() % 4)));
    TabletDirectory directory;
    directory.replace_tail(0, whole(tablets), tablet_rows);
    std::vector<std::pair<TabletHandle, int64_t>> left;
    for (const TabletHandle& one : tablets)
      for (int64_t slot = 0; slot < one->rows(); ++slot) left.emplace_back(one, slot);
    while (!left.empty()) {
      std::vector<int64_t> rows;
      for (int64_t row = 0; row < static_cast<int64_t>(left.size()); ++row)
        if (random() % 8 == 0) rows.push_back(row);
      const std::vector<int64_t> positions = directory.positions_of(rows);
      EXPECT_EQ(directory.live_rows_before(positions), rows);
      std::map<size_t, std::vector<int64_t>> slots;
      for (size_t i = 0; i < rows.size(); ++i) {
        const size_t number = directory.tablet_of(positions[i]);
        const auto [handle, mask, first_row] = directory[number];
        EXPECT_EQ(left[static_cast<size_t>(rows[i])], std::pair(handle, positions[i] - first_row));
        slots[number].push_back(positions[i] - first_row);
      }
      std::vector<NewMask> masks;
      for (const auto& [number, gone] : slots) {
        const auto [handle, mask, first_row] = directory[number];
        masks.push_back(
            {number, std::make_shared<VisibilityMask>(++last_id_, handle->rows(), mask.get(), gone, 0, budget_)});
      }
      directory.put_masks(masks);
      for (auto row = rows.rbegin(); row != rows.rend(); ++row) left.erase(left.begin() + *row);
      ASSERT_EQ(directory.live_rows(), static_cast<int64_t>(left.size()));
    }
    EXPECT_EQ(directory.size(), 0u);
  }
}

}  // namespace
}  // namespace diptych
