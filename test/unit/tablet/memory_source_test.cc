#include "tablet/memory_source.h"

#include <gtest/gtest.h>

#include "tablet/builder.h"
#include "tablet/random_rows.h"

namespace diptych {
namespace {

TEST(MemorySource, HandsOutItsTablets) {
  std::mt19937_64 random(1);
  MemorySource source({{"n", {TypeId::Integer, 0, 0, 0}}, {"t", {TypeId::Text, 0, 0, 0}}});
  TabletBuilder builder(source.columns(), 64, source.new_dictionaries());
  testing::RandomColumn numbers =
      testing::random_column(random, source.columns()[0].type, testing::Spread::Wide, 100, 10);
  testing::RandomColumn texts =
      testing::random_column(random, source.columns()[1].type, testing::Spread::Narrow, 100, 10);
  std::vector<BatchColumn> columns = {numbers.batch(), texts.batch()};
  RowBatch batch{100, columns};
  EXPECT_EQ(builder.append(batch, 0, 100), 64);
  source.add(builder.finish());
  EXPECT_EQ(builder.append(batch, 64, 36), 36);
  source.add(builder.finish());
  EXPECT_EQ(source.tablet_count(), 2u);
  EXPECT_EQ(source.row_count(), 100);
  EXPECT_EQ(source.rows_in(1), 36);
  EXPECT_NE(source.common_dictionary(1), nullptr);
  EXPECT_EQ(source.common_dictionary(0), nullptr);
  std::vector<size_t> wanted = {1, 0};
  auto pinned = source.pin(1, wanted);
  EXPECT_EQ(pinned->first_position, 64);
  for (int64_t i = 0; i < 36; ++i) {
    EXPECT_EQ(testing::cell_at(pinned->views[0], i), texts.cells[static_cast<size_t>(64 + i)]);
    EXPECT_EQ(testing::cell_at(pinned->views[1], i), numbers.cells[static_cast<size_t>(64 + i)]);
  }
}

}  // namespace
}  // namespace diptych
