#include "engine/rows/host_row_set.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "kernel/kernel.h"

namespace diptych {
namespace {

const std::vector<ColumnDefinition> columns = {{"a", {TypeId::Integer}}, {"b", {TypeId::Text}}, {"c", {TypeId::Text}}};

// Integers, strings as addresses and strings in a heap; every fifth b is NULL.
class Rows {
 public:
  explicit Rows(int64_t count) : count_(count), validity_(static_cast<size_t>(count + 7) / 8, uint8_t{0}) {
    offsets_.push_back(0);
    for (int64_t row = 0; row < count; ++row) {
      numbers_.push_back(static_cast<int32_t>(row * 3));
      strings_.push_back(std::string(static_cast<size_t>(row % 7), 'x') + std::to_string(row));
      heap_ += strings_.back();
      offsets_.push_back(static_cast<uint32_t>(heap_.size()));
      if (row % 5 != 0) validity_[static_cast<size_t>(row) / 8] |= static_cast<uint8_t>(1U << (row % 8));
    }
    for (int64_t row = 0; row < count; ++row) {
      const std::string& string = strings_[static_cast<size_t>(row)];
      // What a NULL has for a value is nobody's business.
      texts_.push_back(row % 5 == 0 ? dk_text{nullptr, 12345}
                                    : dk_text{string.data(), static_cast<int32_t>(string.size())});
    }
  }

  std::vector<ColumnView> views() const {
    std::vector<ColumnView> views(3);
    views[0].encoding = views[1].encoding = Encoding::Plain;
    views[0].data = reinterpret_cast<const std::byte*>(numbers_.data());
    views[1].physical = views[2].physical = PhysicalType::Text;
    views[1].data = reinterpret_cast<const std::byte*>(texts_.data());
    views[1].validity = validity_.data();
    views[2].encoding = Encoding::Heap;
    views[2].offsets = offsets_.data();
    views[2].heap = heap_.data();
    return views;
  }

  // That the source shows the rows from `first` on.
  void expect_in(const HostRowSet& source, int64_t first) const {
    const std::vector<size_t> all = {0, 1, 2};
    int64_t row = first;
    for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
      const auto pinned = source.pin(tablet, all);
      EXPECT_EQ(pinned->first_position, row - first);
      for (int64_t i = 0; i < pinned->rows; ++i, ++row) {
        const auto at = static_cast<size_t>(i);
        EXPECT_EQ(reinterpret_cast<const int32_t*>(pinned->views[0].data)[at], numbers_[static_cast<size_t>(row)]);
        EXPECT_EQ((pinned->views[1].validity[at / 8] >> (at % 8) & 1) != 0, row % 5 != 0);
        EXPECT_EQ(string_of(pinned->views[1], at), row % 5 == 0 ? "" : strings_[static_cast<size_t>(row)]);
        EXPECT_EQ(string_of(pinned->views[2], at), strings_[static_cast<size_t>(row)]);
      }
    }
    EXPECT_EQ(row, count_);
  }

 private:
  static std::string string_of(const ColumnView& view, size_t row) {
    EXPECT_EQ(view.encoding, Encoding::Heap);
    return {view.heap + view.offsets[row], view.heap + view.offsets[row + 1]};
  }

  int64_t count_;
  std::vector<int32_t> numbers_;
  std::vector<std::string> strings_;
  std::vector<dk_text> texts_;
  std::vector<uint8_t> validity_;
  std::vector<uint32_t> offsets_;
  std::string heap_;
};

class HostRowSetTest : public ::testing::Test {
 protected:
  MemoryFileSystem files_;
  TempSpace temp_{files_, "test"};
  MemoryBudget budget_{int64_t{1} << 30};
  Memory memory_{nullptr, &budget_, &temp_};
};

TEST_F(HostRowSetTest, CopiesHoldNoAddressesAndMoveToAFile) {
  const Rows rows(1000);
  HostRowSet source(columns, memory_);
  source.add(HostPiece{1000, rows.views(), {}, nullptr});
  const auto copy = copy_rows(source, memory_);
  EXPECT_EQ(copy->row_count(), 1000);
  rows.expect_in(*copy, 0);
  const int64_t before = budget_.used();
  EXPECT_GT(before, 0);
  copy->move_to_file();
  EXPECT_EQ(budget_.used(), 0);
  EXPECT_GE(memory_.spilled_bytes(), before);
  rows.expect_in(*copy, 0);
}

TEST_F(HostRowSetTest, PinnedPiecesStayInMemory) {
  const Rows rows(100);
  HostRowSet source(columns, memory_);
  source.add_copy(rows.views(), 0, 100);
  const std::array<size_t, 1> first = {0};
  {
    const auto pinned = source.pin(0, first);
    source.move_to_file();
    EXPECT_EQ(memory_.spilled_bytes(), 0);
  }
  source.move_to_file();
  EXPECT_GT(memory_.spilled_bytes(), 0);
  rows.expect_in(source, 0);
}

TEST_F(HostRowSetTest, ACutInTheMiddleOfAPiece) {
  const Rows rows(300);
  for (const bool is_in_file : {false, true}) {
    HostRowSet source(columns, memory_);
    source.add_copy(rows.views(), 0, 100);
    source.add_copy(rows.views(), 100, 200);
    if (is_in_file) source.move_to_file();
    source.cut(123, -1);
    EXPECT_EQ(source.row_count(), 177);
    rows.expect_in(source, 123);
  }
}

TEST_F(HostRowSetTest, PiecesTakenOverMoveWithTheOthers) {
  const Rows rows(100);
  auto store = std::make_shared<ChunkStore>(memory_);
  const size_t batch = store->open_batch();
  std::vector<Chunk> chunks;
  chunks.push_back(memory_.allocate(400, "test"));
  std::memcpy(chunks[0].data(), rows.views()[0].data, 400);
  StoredPiece piece{100, {rows.views()[0]}, {0}, store, batch};
  piece.views[0].data = chunks[0].data();
  store->close_batch(batch, std::move(chunks), true);
  HostRowSet source({columns[0]}, memory_);
  source.add(std::move(piece));
  source.move_to_file();
  EXPECT_EQ(budget_.used(), 0);
  const std::array<size_t, 1> first = {0};
  EXPECT_EQ(reinterpret_cast<const int32_t*>(source.pin(0, first)->views[0].data)[99], 297);
}

TEST_F(HostRowSetTest, WithoutAFileNothingMoves) {
  const Rows rows(100);
  HostRowSet source(columns);
  source.add_copy(rows.views(), 0, 100);
  source.move_to_file();
  rows.expect_in(source, 0);
}

TEST_F(HostRowSetTest, AFullDiskLosesNothing) {
  const Rows rows(1000);
  HostRowSet source(columns, memory_);
  source.add_copy(rows.views(), 0, 1000);
  files_.set_faults({.kind = FaultPlan::Kind::None, .capacity_bytes = 1000});
  EXPECT_THROW(source.move_to_file(), Error);
  rows.expect_in(source, 0);
}

}  // namespace
}  // namespace diptych
