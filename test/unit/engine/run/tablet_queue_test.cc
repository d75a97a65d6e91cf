#include "engine/run/tablet_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

namespace diptych {
namespace {

// Tablets of so many rows, without columns.
class RowCounts final : public TabletSource {
 public:
  explicit RowCounts(std::vector<int64_t> rows) : rows_(std::move(rows)) {}
  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return rows_.size(); }
  int64_t row_count() const override { return std::accumulate(rows_.begin(), rows_.end(), int64_t{0}); }
  int64_t rows_in(size_t tablet) const override { return rows_[tablet]; }
  ZoneMap zone_map(size_t, size_t) const override { return {}; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  std::unique_ptr<PinnedTablet> pin(size_t, std::span<const size_t>) const override { return nullptr; }
  int64_t encoded_bytes(size_t, size_t) const override { return 0; }

 private:
  std::vector<ColumnDefinition> columns_;
  std::vector<int64_t> rows_;
};

using Runs = std::vector<std::pair<size_t, size_t>>;

Runs take_all(TabletQueue& queue, int64_t most_rows) {
  Runs runs;
  for (TabletRun run = queue.take(most_rows); !run.is_empty(); run = queue.take(most_rows))
    runs.emplace_back(run.first, run.end);
  return runs;
}

TEST(TabletQueue, TakesAsManyRowsAsAreWanted) {
  const RowCounts source({10, 10, 10, 10, 5});
  const std::vector<bool> all(5, true);
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, all), 20), (Runs{{0, 2}, {2, 4}, {4, 5}}));
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, all), 29), (Runs{{0, 2}, {2, 5}}));
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, all), 44), (Runs{{0, 4}, {4, 5}}));
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, all), 45), (Runs{{0, 5}}));
  // A tablet is never divided.
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, all), 1), (Runs{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}));
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, all), 0).size(), 5U);
}

TEST(TabletQueue, LeavesOutWhatIsNotNeeded) {
  const RowCounts source({10, 10, 10, 10, 10, 10, 10});
  const std::vector<bool> needed{false, true, false, true, false, true, false};
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, needed), 20), (Runs{{1, 4}, {5, 6}}));
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, needed), 1000), (Runs{{1, 6}}));
  EXPECT_EQ(take_all(*std::make_unique<TabletQueue>(source, needed), 10), (Runs{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_TRUE(TabletQueue(source, std::vector<bool>(7, false)).left().is_empty());
  EXPECT_TRUE(TabletQueue(source, std::vector<bool>(7, false)).take(5).is_empty());
  const RowCounts empty({});
  EXPECT_TRUE(TabletQueue(empty, {}).take(5).is_empty());
}

TEST(TabletQueue, EachTabletIsTakenOnceByManyThreads) {
  constexpr size_t tablets = 10000;
  const RowCounts source(std::vector<int64_t>(tablets, 7));
  TabletQueue queue(source, std::vector<bool>(tablets, true));
  std::vector<Runs> taken(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < taken.size(); ++i)
    threads.emplace_back([&, i] { taken[i] = take_all(queue, 7 * static_cast<int64_t>(i + 1)); });
  for (std::thread& thread : threads) thread.join();
  Runs all;
  for (const Runs& runs : taken) all.insert(all.end(), runs.begin(), runs.end());
  std::sort(all.begin(), all.end());
  size_t next = 0;
  for (const auto& [first, end] : all) {
    EXPECT_EQ(first, next);
    next = end;
  }
  EXPECT_EQ(next, tablets);
}

}  // namespace
}  // namespace diptych
