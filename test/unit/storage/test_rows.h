// Rows for the tests of storage: a table of one column of each kind, filled by a formula from the row's number, so that
// any row can be checked wherever it turns up.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "storage/store.h"
#include "tablet/validity_bits.h"
#include "tablet/values.h"

namespace diptych::test {

inline constexpr StoreOptions small_tablets{.tablet_rows = 64, .compacts_in_background = false};

// The seed of a random test: DIPTYCH_TEST_SEED, or 1.
inline uint64_t base_seed() {
  const char* given = std::getenv("DIPTYCH_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

// Columns: id bigint, small integer, label text (few strings), note text (all different), price double; label and small
// have nulls.
inline TableDefinition mixed_table(const std::string& name, bool with_key = false) {
  TableDefinition definition;
  definition.name = name;
  definition.columns = {{"id", {TypeId::BigInt}, with_key, ""},
                        {"small", {TypeId::Integer}, false, "7"},
                        {"label", {TypeId::Text}, false, ""},
                        {"note", {TypeId::Varchar, 0, 0, 40}, false, ""},
                        {"price", {TypeId::Double}, false, ""}};
  if (with_key) definition.primary_key = {0};
  return definition;
}

// Rows made from numbers: row `number` is the same in every table and test.
class MixedRows {
 public:
  explicit MixedRows(const std::vector<int64_t>& numbers) : rows_(static_cast<int64_t>(numbers.size())) {
    label_offsets_ = note_offsets_ = {0};
    small_validity_.assign(numbers.size() / 8 + 1, 0);
    label_validity_ = small_validity_;
    for (size_t i = 0; i < numbers.size(); ++i) add(i, numbers[i]);
    columns_.resize(5);
    columns_[0] = {.physical = PhysicalType::Int64, .values = id_.data()};
    columns_[1] = {.physical = PhysicalType::Int32, .values = small_.data(), .validity = small_validity_.data()};
    columns_[2] = text(label_offsets_, labels_, label_validity_.data());
    columns_[3] = text(note_offsets_, notes_, nullptr);
    columns_[4] = {.physical = PhysicalType::Float64, .values = price_.data()};
  }
  MixedRows(const MixedRows&) = delete;
  MixedRows& operator=(const MixedRows&) = delete;

  RowBatch batch() const { return {rows_, columns_}; }

  static std::string label(int64_t number) { return "label " + std::to_string(number % 37); }
  static std::string note(int64_t number) { return "note of row " + std::to_string(number * 7919); }
  static bool label_is_null(int64_t number) { return number % 11 == 5; }
  static bool small_is_null(int64_t number) { return number % 13 == 3; }
  static int32_t small(int64_t number) { return static_cast<int32_t>(number % 1000 * 100); }
  static double price(int64_t number) { return static_cast<double>(number) / 8; }

 private:
  void add(size_t row, int64_t number) {
    id_.push_back(number);
    small_.push_back(small(number));
    if (!small_is_null(number)) small_validity_[row / 8] |= static_cast<uint8_t>(1 << row % 8);
    if (!label_is_null(number)) {
      labels_ += label(number);
      label_validity_[row / 8] |= static_cast<uint8_t>(1 << row % 8);
    }
    label_offsets_.push_back(static_cast<uint32_t>(labels_.size()));
    notes_ += note(number);
    note_offsets_.push_back(static_cast<uint32_t>(notes_.size()));
    price_.push_back(price(number));
  }

  static BatchColumn text(const std::vector<uint32_t>& offsets, const std::string& bytes, const uint8_t* validity) {
    BatchColumn column;
    column.physical = PhysicalType::Text;
    column.validity = validity;
    column.offsets = offsets.data();
    column.bytes = bytes.data();
    return column;
  }

  int64_t rows_;
  std::vector<int64_t> id_;
  std::vector<int32_t> small_;
  std::vector<double> price_;
  std::vector<uint8_t> small_validity_, label_validity_;
  std::vector<uint32_t> label_offsets_, note_offsets_;
  std::string labels_, notes_;
  std::vector<BatchColumn> columns_;
};

inline std::vector<int64_t> range(int64_t first, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

inline void append_numbers(WriteTransaction& transaction, const std::string& table,
                           const std::vector<int64_t>& numbers) {
  MixedRows rows(numbers);
  transaction.append(table, rows.batch());
}

// Of the rows that are there.
inline std::vector<int64_t> positions_in(const TableSnapshot& table) {
  std::vector<int64_t> positions;
  const size_t visibility = *table.visibility_column();
  for (size_t tablet = 0; tablet < table.tablet_count(); ++tablet) {
    const auto pinned = table.pin(tablet, {&visibility, 1});
    for (int64_t row = 0; row < pinned->rows; ++row)
      if (is_valid(pinned->views[0].validity, row)) positions.push_back(pinned->first_position + row);
  }
  EXPECT_EQ(static_cast<int64_t>(positions.size()), table.live_rows());
  return positions;
}

// Reads a mixed table and gives back its rows' numbers; what a row holds besides must follow from its number.
inline std::vector<int64_t> read_numbers(const TableSnapshot& table) {
  std::vector<int64_t> numbers;
  std::vector<size_t> wanted = {0, 1, 2, 3, 4, *table.visibility_column()};
  int64_t position = 0;
  for (size_t tablet = 0; tablet < table.tablet_count(); ++tablet) {
    auto pinned = table.pin(tablet, wanted);
    EXPECT_EQ(pinned->first_position, position);
    position += pinned->rows;
    for (int64_t row = 0; row < pinned->rows; ++row) {
      if (!is_valid(pinned->views[5].validity, row)) continue;
      auto cell = [&](size_t column) { return value_at(pinned->views[column], table.columns()[column].type, row); };
      int64_t number = static_cast<int64_t>(cell(0).as_integral());
      numbers.push_back(number);
      if (MixedRows::small_is_null(number)) {
        EXPECT_TRUE(cell(1).is_null());
      } else {
        EXPECT_EQ(static_cast<int32_t>(cell(1).as_integral()), MixedRows::small(number));
      }
      if (MixedRows::label_is_null(number)) {
        EXPECT_TRUE(cell(2).is_null());
      } else {
        EXPECT_EQ(cell(2).as_string(), MixedRows::label(number));
      }
      EXPECT_EQ(cell(3).as_string(), MixedRows::note(number));
      EXPECT_EQ(cell(4).as_double(), MixedRows::price(number));
    }
  }
  EXPECT_EQ(table.row_count(), position);
  EXPECT_EQ(table.live_rows(), static_cast<int64_t>(numbers.size()));
  return numbers;
}

// All tables of a catalog, by name.
using Contents = std::map<std::string, std::vector<int64_t>>;

inline Contents read_all(const CatalogSnapshot& catalog) {
  Contents contents;
  for (const std::string& name : catalog.table_names()) contents[name] = read_numbers(*catalog.find_table(name));
  return contents;
}

// The SQLSTATE that the call ends with: "" when it does not throw.
template <typename Call>
std::string state_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_FALSE(error.message().empty());
    return code_of(error.state());
  }
  return "";
}

}  // namespace diptych::test
