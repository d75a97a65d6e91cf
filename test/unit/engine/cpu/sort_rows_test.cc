#include "engine/cpu/sort_rows.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"

namespace diptych::cpu {
namespace {

// Rows that are alike at first sight may be long strings, each comparison as long as they are; others cost little.
TEST(SortEntryBefore, IsCancelledBetweenRowsAlike) {
  RowSetInfo info;
  info.columns = {{.physical = PhysicalType::Int64, .type = {TypeId::BigInt}, .nullable = false}};
  info.keys.resize(1);
  const SortLayout layout(info);
  std::atomic<bool> cancelled = true;
  ExecutionContext context;
  context.cancelled = &cancelled;
  const SortEntryBefore before{&layout, &context};
  const SortEntry one{1, 0, nullptr}, same{1, 1, nullptr}, other{2, 0, nullptr};
  EXPECT_TRUE(before(one, other));
  try {
    before(one, same);
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::query_canceled);
  }
  cancelled = false;
  EXPECT_TRUE(before(one, same));
}

}  // namespace
}  // namespace diptych::cpu
