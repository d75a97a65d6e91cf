// Every claim of a column's record that later code relies on, told falsely.
#include "tablet/column_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "tablet/dictionary.h"

namespace diptych {
namespace {

std::string problem_of(const ColumnMeta& meta, int64_t rows, const ColumnView& view) {
  try {
    check_values(meta, rows, view);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::data_corrupted);
    return error.message();
  }
}

// A column of some rows, and what its record says.
struct Column {
  ColumnMeta meta;
  ColumnView view;

  Column(Encoding encoding, PhysicalType physical) {
    meta.encoding = view.encoding = encoding;
    meta.physical = view.physical = physical;
    meta.zone.null_count = 0;
  }

  template <typename T>
  void set_values(const std::vector<T>& values) {
    view.data = reinterpret_cast<const std::byte*>(values.data());
    rows = static_cast<int64_t>(values.size());
  }

  template <typename Code>
  void set_codes(const std::vector<Code>& codes) {
    set_values(codes);
    meta.width = view.width = sizeof(Code);
  }

  void set_bounds(int128_t low, int128_t high) {
    meta.zone.has_bounds = true;
    meta.zone.low = low;
    meta.zone.high = high;
  }

  std::string problem() const { return problem_of(meta, rows, view); }

  int64_t rows = 0;
};

const std::string outside = "damaged tablet: values outside their bounds";

template <typename Code>
void expect_codes_checked() {
  std::vector<Code> codes(1000, 1);
  for (size_t place : {size_t{0}, size_t{63}, size_t{500}, size_t{999}}) {
    codes[place] = 9;
    Column column(Encoding::FrameOfReference, PhysicalType::Int32);
    column.set_codes(codes);
    column.meta.base = column.view.base = -5;
    column.meta.factor = column.view.factor = 10;
    column.set_bounds(-5, 85);
    EXPECT_EQ(column.problem(), "");
    column.set_bounds(-5, 84);
    EXPECT_EQ(column.problem(), outside);
    column.set_bounds(-4, 85);
    EXPECT_EQ(column.problem(), outside);
    codes[place] = 1;
  }
}

TEST(ColumnCheck, CodesOfEveryWidthLieWithinTheBounds) {
  expect_codes_checked<uint8_t>();
  expect_codes_checked<uint16_t>();
  expect_codes_checked<uint32_t>();
  expect_codes_checked<uint64_t>();
}

TEST(ColumnCheck, ValuesDoNotWrap) {
  const std::vector<uint64_t> codes = {0, UINT64_MAX};
  Column column(Encoding::FrameOfReference, PhysicalType::Int64);
  column.set_codes(codes);
  column.meta.base = INT64_MIN;
  column.set_bounds(INT64_MIN, INT64_MAX);
  EXPECT_EQ(column.problem(), "");
  column.meta.base = INT64_MIN + 1;
  EXPECT_EQ(column.problem(), outside);
  column.meta.factor = INT64_MAX;
  EXPECT_EQ(column.problem(), outside);
}

TEST(ColumnCheck, ColumnsWithoutCodes) {
  Column column(Encoding::FrameOfReference, PhysicalType::Int32);
  column.rows = 10;
  column.meta.base = 7;
  column.set_bounds(7, 7);
  EXPECT_EQ(column.problem(), "");
  column.set_bounds(8, 9);
  EXPECT_EQ(column.problem(), outside);
  column.set_bounds(1, 6);
  EXPECT_EQ(column.problem(), outside);
  const uint8_t no_row[] = {0, 0};
  column.view.validity = no_row;
  column.meta.zone = {};
  column.meta.zone.null_count = 10;
  EXPECT_EQ(column.problem(), "damaged tablet: values where all should be NULL");
  column.meta.base = 0;
  EXPECT_EQ(column.problem(), "");
}

TEST(ColumnCheck, NullsAreCounted) {
  const std::vector<uint8_t> codes(10, 0);
  const uint8_t valid[] = {0xFF, 0x02};
  Column column(Encoding::FrameOfReference, PhysicalType::Int32);
  column.set_codes(codes);
  column.set_bounds(0, 0);
  column.view.validity = valid;
  column.meta.zone.null_count = 1;
  EXPECT_EQ(column.problem(), "");
  column.meta.zone.null_count = 2;
  EXPECT_EQ(column.problem(), "damaged tablet: another number of NULLs");
}

// Such a column may have codes, as other tablets of its table do, but no values.
TEST(ColumnCheck, CodesOfNullsAre0) {
  std::vector<uint16_t> codes(10, 0);
  Column column(Encoding::FrameOfReference, PhysicalType::Int32);
  column.set_codes(codes);
  const uint8_t no_row[] = {0, 0};
  column.view.validity = no_row;
  column.meta.zone.null_count = 10;
  EXPECT_EQ(column.problem(), "");
  codes[7] = 1;
  column.set_codes(codes);
  EXPECT_EQ(column.problem(), "damaged tablet: values where all should be NULL");
}

TEST(ColumnCheck, CodesOfDictionaries) {
  Dictionary dictionary;
  for (const char* text : {"a", "b", "c"}) dictionary.find_or_append(text);
  const std::vector<uint8_t> codes = {0, 2, 1};
  Column column(Encoding::Dictionary, PhysicalType::Text);
  column.set_codes(codes);
  column.view.dictionary = &dictionary;
  EXPECT_EQ(column.problem(), "");
  // The dictionary has grown since, and what was compiled before counts on what it had.
  column.meta.code_end = 2;
  EXPECT_EQ(column.problem(), "damaged tablet: codes outside the dictionary");
  Dictionary empty;
  column.meta.code_end = UINT32_MAX;
  column.view.dictionary = &empty;
  EXPECT_EQ(column.problem(), "damaged tablet: codes outside the dictionary");
  const std::vector<uint8_t> null_codes = {0, 0, 0};
  column.set_codes(null_codes);
  EXPECT_EQ(column.problem(), "");
  column.meta.code_end = 0;
  EXPECT_EQ(column.problem(), "");
}

TEST(ColumnCheck, WideIntegers) {
  const std::vector<int128_t> values = {int128_t{1} << 100, 0, -5};
  Column column(Encoding::Plain, PhysicalType::Int128);
  column.set_values(values);
  column.set_bounds(-5, int128_t{1} << 100);
  EXPECT_EQ(column.problem(), "");
  column.set_bounds(-5, (int128_t{1} << 100) - 1);
  EXPECT_EQ(column.problem(), outside);
  column.set_bounds(-4, int128_t{1} << 100);
  EXPECT_EQ(column.problem(), outside);
  const uint8_t but_the_last[] = {0x03};
  column.view.validity = but_the_last;
  column.meta.zone.null_count = 1;
  EXPECT_EQ(column.problem(), "");
}

template <typename T>
void expect_floats_checked(PhysicalType physical) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  const std::vector<T> numbers = {T{1.5}, T{-2}, T{3}}, mixed = {T{1.5}, nan}, nans = {nan, nan};
  const auto problem = [&](const std::vector<T>& values, double low, double high) {
    Column column(Encoding::Plain, physical);
    column.set_values(values);
    column.meta.zone.has_bounds = true;
    column.meta.zone.low_float = low;
    column.meta.zone.high_float = high;
    return column.problem();
  };
  EXPECT_EQ(problem(numbers, -2, 3), "");
  EXPECT_EQ(problem(numbers, -1, 3), outside);
  EXPECT_EQ(problem(numbers, -2, 2), outside);
  EXPECT_EQ(problem(numbers, -2, no_number), "");
  EXPECT_EQ(problem(numbers, no_number, no_number), outside);
  EXPECT_EQ(problem(mixed, 1.5, no_number), "");
  EXPECT_EQ(problem(mixed, 1.5, 2), outside);
  EXPECT_EQ(problem(mixed, 2, no_number), outside);
  EXPECT_EQ(problem(nans, no_number, no_number), "");
}

TEST(ColumnCheck, Floats) {
  expect_floats_checked<float>(PhysicalType::Float32);
  expect_floats_checked<double>(PhysicalType::Float64);
}

TEST(ColumnCheck, Strings) {
  const uint32_t offsets[] = {0, 3, 3, 10};
  const uint8_t but_the_second[] = {0x05}, but_the_last[] = {0x03};
  Column column(Encoding::Heap, PhysicalType::Text);
  column.rows = 3;
  column.view.offsets = offsets;
  column.view.validity = but_the_second;
  column.meta.zone.null_count = 1;
  EXPECT_EQ(column.problem(), "");
  column.view.validity = but_the_last;
  EXPECT_EQ(column.problem(), "damaged tablet: a NULL that has a string");
  const uint32_t huge[] = {0, 1, 2, 2 + (uint32_t{1} << 30)};
  column.view.offsets = huge;
  column.view.validity = nullptr;
  EXPECT_EQ(column.problem(), "damaged tablet: a string that is too long");
}

}  // namespace
}  // namespace diptych
