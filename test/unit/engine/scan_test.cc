// Scans: columns of all types through filters into results, at the sizes where words, blocks and tablets end.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "engine/program_maker.h"

namespace diptych {
namespace {

using testing::make_table;
using testing::ProgramMaker;

const Type integer{TypeId::Integer}, bigint{TypeId::BigInt}, text{TypeId::Text}, real{TypeId::Real},
    boolean{TypeId::Boolean};

std::vector<std::vector<Value>> numbers(int64_t rows) {
  std::vector<std::vector<Value>> result;
  for (int64_t i = 0; i < rows; ++i) {
    const bool null = i % 7 == 3;
    result.push_back({Value::integer(static_cast<int32_t>(i % 101 - 50)), Value::bigint(i * 1'000'000'007),
                      null ? Value::null(text) : Value::string(text, "s" + std::to_string(i % 5)),
                      Value::floating(real, static_cast<double>(i) / 2),
                      null ? Value::null(boolean) : Value::boolean(i % 3 == 0)});
  }
  return result;
}

class Scan : public ::testing::TestWithParam<std::tuple<int64_t, int64_t, int>> {};

TEST_P(Scan, FiltersAndOutputsEveryType) {
  const auto [rows, tablet_rows, threads] = GetParam();
  const auto table = numbers(rows);
  for (const bool dictionaries : {true, false}) {
    ProgramMaker maker(make_table({{"a", integer}, {"b", bigint}, {"c", text}, {"d", real}, {"e", boolean}}, table,
                                  tablet_rows, dictionaries));
    maker.parallel(0);
    const int a = maker.column(0), b = maker.column(1), c = maker.column(2), d = maker.column(3), e = maker.column(4);
    const int bound = maker.constant(Value::integer(10));
    const int32_t leave = maker.emit(Opcode::Ge, a, bound, 0, jump_if_null);
    maker.result({a, b, c, d, e});
    maker.land(leave);
    maker.converge();
    std::vector<std::vector<Value>> expected;
    for (const auto& row : table) {
      if (row[0].as_integral() < 10) expected.push_back(row);
    }
    EXPECT_EQ(maker.run(threads), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Scan,
                         ::testing::Combine(::testing::Values(0, 1, 31, 32, 33, 2047, 2048, 2049, 10000),
                                            ::testing::Values(64, 3000, 1 << 17), ::testing::Values(1, 4)));

TEST(ScanTest, UngroupedAndGroupedSums) {
  const auto table = numbers(5000);
  for (const bool grouped : {false, true}) {
    ProgramMaker maker(
        make_table({{"a", integer}, {"b", bigint}, {"c", text}, {"d", real}, {"e", boolean}}, table, 1024));
    Program& program = maker.program();
    const RegisterInfo wide{PhysicalType::Int64, bigint};
    HashTableInfo info;
    if (grouped) info.keys = {{PhysicalType::Text, text}};
    info.aggregates = {{AggregateState::CountStar, {}, wide},
                       {AggregateState::SumInt64, {PhysicalType::Int32, integer}, wide}};
    program.hash_tables.push_back(info);
    maker.emit(Opcode::HashTable, 0);
    maker.parallel(0);
    const int a = maker.column(0), c = maker.column(2);
    const int number = maker.reg(integer);
    if (grouped) maker.emit(Opcode::Group, number, c, 0);
    maker.emit(Opcode::Aggregate, 0, -1, grouped ? number : -1, int64_t{0});
    maker.emit(Opcode::Aggregate, 0, a, grouped ? number : -1, int64_t{1});
    maker.converge();
    const int cursor = maker.groups(0);
    maker.parallel(cursor);
    std::vector<int> out;
    for (size_t i = 0; i < info.keys.size() + 2; ++i) out.push_back(maker.column(static_cast<int>(i)));
    maker.result(out);
    maker.converge();
    std::map<std::string, std::pair<int64_t, int64_t>> expected;
    for (const auto& row : table) {
      auto& [count, sum] = expected[!grouped ? "" : row[2].is_null() ? "null" : row[2].as_string()];
      ++count;
      sum += static_cast<int64_t>(row[0].as_integral());
    }
    for (const int threads : {1, 4}) {
      const auto rows = maker.run(threads);
      EXPECT_EQ(rows.size(), expected.size());
      for (const auto& row : rows) {
        const auto& [count, sum] = expected[!grouped ? "" : row[0].is_null() ? "null" : row[0].as_string()];
        EXPECT_EQ(row[row.size() - 2].as_integral(), count);
        EXPECT_EQ(row[row.size() - 1].as_integral(), sum);
      }
    }
  }
}

// Enough groups for the tables of several threads to be merged in parts.
TEST(ScanTest, ManyGroups) {
  std::vector<std::vector<Value>> table;
  for (int i = 0; i < 90000; ++i) table.push_back({Value::integer(i % 30000 * 7), Value::integer(i)});
  ProgramMaker maker(make_table({{"a", integer}, {"b", integer}}, table, 4096));
  const RegisterInfo wide{PhysicalType::Int64, bigint, true, false, 0, 0};
  HashTableInfo info;
  info.keys = {{PhysicalType::Int32, integer, true, false, 0, 0}};
  info.aggregates = {{AggregateState::SumInt64, {PhysicalType::Int32, integer, true, false, 0, 0}, wide}};
  maker.program().hash_tables.push_back(info);
  maker.parallel(0);
  const int a = maker.column(0), b = maker.column(1), number = maker.reg(integer);
  maker.emit(Opcode::Group, number, a, 0);
  maker.emit(Opcode::Aggregate, 0, b, number, int64_t{0});
  maker.converge();
  const int cursor = maker.groups(0);
  maker.parallel(cursor);
  const int key = maker.column(0), sum = maker.column(1);
  maker.result({key, sum});
  maker.converge();
  for (const int threads : {1, 4}) {
    const auto rows = maker.run(threads);
    ASSERT_EQ(rows.size(), 30000U);
    for (const auto& row : rows) EXPECT_EQ(row[1].as_integral(), row[0].as_integral() / 7 * 3 + 90000);
  }
}

TEST(ScanTest, SortsAndCuts) {
  const auto table = numbers(5000);
  for (const int64_t limit : {int64_t{-1}, int64_t{10}}) {
    ProgramMaker maker(
        make_table({{"a", integer}, {"b", bigint}, {"c", text}, {"d", real}, {"e", boolean}}, table, 1024));
    RowSetInfo info;
    info.columns = {{PhysicalType::Text, text}, {PhysicalType::Int32, integer}, {PhysicalType::Int64, bigint}};
    info.keys = {{true, false}, {false, false}};
    info.limit = limit;
    const int sorted = maker.row_set(info);
    maker.parallel(0);
    const int a = maker.column(0), b = maker.column(1), c = maker.column(2);
    maker.emit(Opcode::Append, sorted, maker.block({c, a, b}), 3);
    maker.converge();
    const int cursor = maker.rows(sorted);
    maker.parallel(cursor);
    const int x = maker.column(0), y = maker.column(1), z = maker.column(2);
    maker.result({x, y, z});
    maker.converge();
    std::vector<std::vector<Value>> expected;
    for (const auto& row : table) expected.push_back({row[2], row[0], row[1]});
    std::stable_sort(expected.begin(), expected.end(), [](const auto& p, const auto& q) {
      if (p[0].is_null() != q[0].is_null()) return q[0].is_null();
      if (!p[0].is_null() && p[0].as_string() != q[0].as_string()) return p[0].as_string() > q[0].as_string();
      return p[1].as_integral() < q[1].as_integral();
    });
    if (limit >= 0) expected.resize(static_cast<size_t>(limit));
    for (const int threads : {1, 4}) EXPECT_EQ(maker.run(threads), expected);
  }
}

// Appends columns a, b and c of the rows whose a is at least the bound, as UNION ALL does.
void append_from(ProgramMaker& maker, int row_set, int32_t bound) {
  maker.parallel(0);
  const int a = maker.column(0), b = maker.column(1), c = maker.column(2);
  const int32_t leave = maker.emit(Opcode::Lt, a, maker.constant(Value::integer(bound)), 0, jump_if_null);
  maker.emit(Opcode::Append, row_set, maker.block({a, b, c}), 3);
  maker.land(leave);
  maker.converge();
}

void append_expected(const std::vector<std::vector<Value>>& table, int32_t bound,
                     std::vector<std::vector<Value>>& expected) {
  for (const auto& row : table)
    if (row[0].as_integral() >= bound) expected.push_back({row[0], row[1], row[2]});
}

// With keys, rows that are equal by them keep the order of the sections.
TEST(ScanTest, SeveralSectionsAppendToOneRowSet) {
  const auto table = numbers(7000);
  for (const bool sorts : {false, true}) {
    for (const bool dictionaries : {false, true}) {
      ProgramMaker maker(make_table({{"a", integer}, {"b", bigint}, {"c", text}, {"d", real}, {"e", boolean}}, table,
                                    1024, dictionaries));
      RowSetInfo info;
      info.columns = {{PhysicalType::Int32, integer}, {PhysicalType::Int64, bigint}, {PhysicalType::Text, text}};
      if (sorts) info.keys = {{false, false}};
      const int both = maker.row_set(info);
      append_from(maker, both, 20);
      append_from(maker, both, -10);
      const int cursor = maker.rows(both);
      maker.parallel(cursor);
      const int a = maker.column(0), b = maker.column(1), c = maker.column(2);
      maker.result({a, b, c});
      maker.converge();
      std::vector<std::vector<Value>> expected;
      append_expected(table, 20, expected);
      append_expected(table, -10, expected);
      if (sorts)
        std::stable_sort(expected.begin(), expected.end(),
                         [](const auto& p, const auto& q) { return p[0].as_integral() < q[0].as_integral(); });
      for (const int threads : {1, 4}) EXPECT_EQ(maker.run(threads), expected);
    }
  }
}

// Rows of which the first is pinned when the test wants to know something.
class Watched final : public TabletSource {
 public:
  Watched(std::shared_ptr<const TabletSource> source, std::function<void()> when_pinned)
      : source_(std::move(source)), when_pinned_(std::move(when_pinned)) {}
  const std::vector<ColumnDefinition>& columns() const override { return source_->columns(); }
  size_t tablet_count() const override { return source_->tablet_count(); }
  int64_t row_count() const override { return source_->row_count(); }
  int64_t rows_in(size_t tablet) const override { return source_->rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return source_->zone_map(tablet, column); }
  const Dictionary* common_dictionary(size_t column) const override { return source_->common_dictionary(column); }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    when_pinned_();
    return source_->pin(tablet, wanted);
  }
  int64_t encoded_bytes(size_t tablet, size_t column) const override { return source_->encoded_bytes(tablet, column); }

 private:
  std::shared_ptr<const TabletSource> source_;
  std::function<void()> when_pinned_;
};

// Bytes in use while a section runs that follows another one, whose rows it does not read.
int64_t bytes_held(bool is_sorted, bool is_dropped) {
  const std::vector<ColumnDefinition> columns = {
      {"a", integer}, {"b", bigint}, {"c", text}, {"d", real}, {"e", boolean}};
  MemoryBudget budget(int64_t{1} << 30);
  int64_t held = 0;
  ProgramMaker maker(make_table(columns, numbers(20000), 1024));
  RowSetInfo info;
  info.columns = {{PhysicalType::Int32, integer}, {PhysicalType::Int64, bigint}, {PhysicalType::Text, text}};
  if (is_sorted) info.keys = {{true, false}};
  const int rows = maker.row_set(info);
  append_from(maker, rows, -50);
  maker.rows(rows);
  if (is_dropped) maker.drop(rows);
  const auto watched = std::make_shared<Watched>(make_table({{"a", integer}}, {{Value::integer(1)}}, 1024),
                                                 [&] { held = budget.used(); });
  maker.parallel(maker.table(watched));
  maker.result({maker.column(0)});
  maker.converge();
  ExecutionContext context;
  context.budget = &budget;
  run_program(maker.finish(), context);
  return held;
}

TEST(ScanTest, ADroppedRowSetTakesNoMemory) {
  for (const bool is_sorted : {false, true}) {
    EXPECT_GT(bytes_held(is_sorted, false), int64_t{20000} * 12);
    EXPECT_LT(bytes_held(is_sorted, true), int64_t{20000} * 12) << is_sorted;
  }
}

// One row set is read by two sections, and dropped between others.
TEST(ScanTest, ARowSetIsReadTwice) {
  const auto table = numbers(3000);
  ProgramMaker maker(
      make_table({{"a", integer}, {"b", bigint}, {"c", text}, {"d", real}, {"e", boolean}}, table, 1024));
  RowSetInfo info;
  info.columns = {{PhysicalType::Int32, integer}, {PhysicalType::Int64, bigint}, {PhysicalType::Text, text}};
  const int first = maker.row_set(info), second = maker.row_set(info);
  append_from(maker, first, 0);
  for (int times = 0; times < 2; ++times) {
    maker.parallel(maker.rows(first));
    const int a = maker.column(0), b = maker.column(1), c = maker.column(2);
    maker.emit(Opcode::Append, second, maker.block({a, b, c}), 3);
    maker.converge();
  }
  maker.drop(first);
  maker.parallel(maker.rows(second));
  const int a = maker.column(0), b = maker.column(1), c = maker.column(2);
  maker.result({a, b, c});
  maker.converge();
  std::vector<std::vector<Value>> expected;
  append_expected(table, 0, expected);
  append_expected(table, 0, expected);
  for (const int threads : {1, 4}) EXPECT_EQ(maker.run(threads), expected);
}

}  // namespace
}  // namespace diptych
