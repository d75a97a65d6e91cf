// What the rows of a change are taken apart into.
#include "session/changed_rows.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "session/session_evaluator.h"
#include "tablet/memory_source.h"
#include "tablet/values.h"

namespace diptych {
namespace {

// Rows with these positions, and their numbers behind them.
std::shared_ptr<const TabletSource> rows_at(const std::vector<int64_t>& positions) {
  std::vector<Value> cells;
  for (size_t i = 0; i < positions.size(); ++i) {
    cells.push_back(Value::bigint(positions[i]));
    cells.push_back(Value::bigint(static_cast<int64_t>(i)));
  }
  return make_value_source({{"position", Type{TypeId::BigInt}}, {"number", Type{TypeId::BigInt}}}, cells,
                           static_cast<int64_t>(positions.size()));
}

std::vector<int64_t> numbers_of(const TabletSource& rows) {
  std::vector<int64_t> numbers;
  for (const Value& value : read_values(rows)) numbers.push_back(static_cast<int64_t>(value.as_integral()));
  return numbers;
}

class ChangedRowsTest : public ::testing::Test {
 protected:
  std::vector<int64_t> sorted(const std::vector<int64_t>& positions) {
    const Positions sorted = positions_of(*rows_at(positions), context_);
    return {sorted.values.begin(), sorted.values.end()};
  }

  MemoryBudget budget_{int64_t{1} << 30};
  ExecutionContext context_{.budget = &budget_};
};

TEST_F(ChangedRowsTest, PositionsInOrderAndOnce) {
  EXPECT_EQ(sorted({}), std::vector<int64_t>());
  EXPECT_EQ(sorted({7}), (std::vector<int64_t>{7}));
  EXPECT_EQ(sorted({0, 1, 1, 64}), (std::vector<int64_t>{0, 1, 64}));
  EXPECT_EQ(sorted({65, 3, 3, 9, 0, 65, 64}), (std::vector<int64_t>{0, 3, 9, 64, 65}));
  EXPECT_EQ(sorted({int64_t{1} << 40, 3, int64_t{1} << 40, 2}), (std::vector<int64_t>{2, 3, int64_t{1} << 40}));
}

TEST_F(ChangedRowsTest, TheFirstOfEach) {
  const auto kept = first_of_each(*rows_at({5, 3, 3, 9, 5, 0}), 9, context_);
  EXPECT_EQ(numbers_of(*kept), (std::vector<int64_t>{5, 0, 3, 1, 9, 3, 0, 5}));
  EXPECT_EQ(numbers_of(*pick_columns(kept, {1})), (std::vector<int64_t>{0, 1, 3, 5}));
}

TEST_F(ChangedRowsTest, TheyCanBeCancelled) {
  const std::atomic<bool> is_cancelled = true;
  context_.cancelled = &is_cancelled;
  EXPECT_THROW(sorted({1, 2}), Error);
  EXPECT_THROW(first_of_each(*rows_at({1, 1}), 1, context_), Error);
}

}  // namespace
}  // namespace diptych
