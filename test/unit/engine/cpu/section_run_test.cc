// Sections of several threads where there is memory for the tablets of some of them.
#include "engine/cpu/section_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>

#include "engine/program_maker.h"

namespace diptych {
namespace {

using testing::make_table;
using testing::ProgramMaker;

const Type integer{TypeId::Integer}, bigint{TypeId::BigInt};
constexpr int table_rows = 20000, threads = 4;
constexpr int64_t tablet_rows = 512;

std::vector<std::vector<Value>> numbers() {
  std::vector<std::vector<Value>> rows;
  for (int i = 0; i < table_rows; ++i) rows.push_back({Value::integer(i), Value::integer(i % 7)});
  return rows;
}

// Tablets of another source, of which so many can be pinned at a time.
class FewAtATime final : public TabletSource {
 public:
  FewAtATime(std::shared_ptr<const TabletSource> source, int most) : source_(std::move(source)), most_(most) {}
  const std::vector<ColumnDefinition>& columns() const override { return source_->columns(); }
  size_t tablet_count() const override { return source_->tablet_count(); }
  int64_t row_count() const override { return source_->row_count(); }
  int64_t rows_in(size_t tablet) const override { return source_->rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return source_->zone_map(tablet, column); }
  const Dictionary* common_dictionary(size_t column) const override { return source_->common_dictionary(column); }
  int64_t encoded_bytes(size_t tablet, size_t column) const override { return source_->encoded_bytes(tablet, column); }

  // All but the first tablet are given away only when a thread got none: otherwise one thread may have done everything
  // before another has begun.
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    std::unique_lock lock(mutex_);
    if (pins_ >= most_) {
      ++refused_;
      changed_.notify_all();
      throw Error(SqlState::out_of_memory, "no memory for a tablet");
    }
    ++pins_;
    const auto is_over = [&] { return refused_ > 0; };
    if (tablet > 0 && !has_waited_) has_waited_ = !changed_.wait_for(lock, std::chrono::seconds(10), is_over);
    return std::make_unique<Pinned>(*this, source_->pin(tablet, wanted));
  }
  int refused() const { return refused_; }

 private:
  class Pinned final : public PinnedTablet {
   public:
    Pinned(const FewAtATime& source, std::unique_ptr<PinnedTablet> own) : source_(source), own_(std::move(own)) {
      rows = own_->rows;
      first_position = own_->first_position;
      views = own_->views;
    }
    ~Pinned() override {
      const std::lock_guard guard(source_.mutex_);
      --source_.pins_;
    }

   private:
    const FewAtATime& source_;
    std::unique_ptr<PinnedTablet> own_;
  };

  std::shared_ptr<const TabletSource> source_;
  const int most_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable int pins_ = 0, refused_ = 0;
  mutable bool has_waited_ = false;  // in vain
};

// The parameter: tablets that can be pinned at a time.
class SectionRunTest : public ::testing::TestWithParam<int> {
 protected:
  std::shared_ptr<FewAtATime> source_ =
      std::make_shared<FewAtATime>(make_table({{"a", integer}, {"b", integer}}, numbers(), tablet_rows), GetParam());
  ProgramMaker maker_{source_};
};

TEST_P(SectionRunTest, RowsKeepTheirOrder) {
  maker_.parallel(0);
  const int a = maker_.column(0), b = maker_.column(1);
  maker_.result({a, b});
  maker_.converge();
  EXPECT_EQ(maker_.run(threads), numbers());
  EXPECT_GT(source_->refused(), 0);
}

TEST_P(SectionRunTest, LimitsCountRowsInOrder) {
  constexpr int limit = 15000;
  maker_.emit(Opcode::Limit, 0, 0, 0, Value::bigint(limit));
  maker_.parallel(0);
  const int a = maker_.column(0), b = maker_.column(1);
  maker_.result({a, b});
  maker_.converge();
  auto expected = numbers();
  expected.resize(limit);
  EXPECT_EQ(maker_.run(threads), expected);
  EXPECT_GT(source_->refused(), 0);
}

TEST_P(SectionRunTest, EveryRowIsCountedOnce) {
  const RegisterInfo wide{PhysicalType::Int64, bigint};
  HashTableInfo info;
  info.aggregates = {{AggregateState::CountStar, {}, wide},
                     {AggregateState::SumInt64, {PhysicalType::Int32, integer}, wide}};
  maker_.program().hash_tables.push_back(info);
  maker_.emit(Opcode::HashTable, 0);
  maker_.parallel(0);
  const int a = maker_.column(0);
  maker_.emit(Opcode::Aggregate, 0, -1, -1, int64_t{0});
  maker_.emit(Opcode::Aggregate, 0, a, -1, int64_t{1});
  maker_.converge();
  const int cursor = maker_.groups(0);
  maker_.parallel(cursor);
  const int count = maker_.column(0), sum = maker_.column(1);
  maker_.result({count, sum});
  maker_.converge();
  const auto rows = maker_.run(threads);
  EXPECT_EQ(rows[0][0].as_integral(), table_rows);
  EXPECT_EQ(rows[0][1].as_integral(), int64_t{table_rows} * (table_rows - 1) / 2);
  EXPECT_GT(source_->refused(), 0);
}

TEST_P(SectionRunTest, ErrorsOfRowsAreTheStatements) {
  maker_.parallel(0);
  const int a = maker_.column(0), b = maker_.constant(Value::integer(table_rows - 10)), left = maker_.reg(integer);
  maker_.emit(Opcode::Sub, left, a, b, Check::Register);
  const int one = maker_.constant(Value::integer(1)), out = maker_.reg(integer);
  maker_.emit(Opcode::Div, out, one, left, Check::Register);
  maker_.result({out});
  maker_.converge();
  try {
    maker_.run(threads);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::division_by_zero) << error.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Tablets, SectionRunTest, ::testing::Values(1, 2, 3));

TEST(SectionRunTest, NoMemoryForOneTabletIsAnError) {
  ProgramMaker maker(
      std::make_shared<FewAtATime>(make_table({{"a", integer}, {"b", integer}}, numbers(), tablet_rows), 0));
  maker.parallel(0);
  maker.result({maker.column(0)});
  maker.converge();
  try {
    maker.run(threads);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::out_of_memory) << error.message();
  }
}

}  // namespace
}  // namespace diptych
