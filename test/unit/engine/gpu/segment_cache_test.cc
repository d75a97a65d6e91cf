#include "engine/gpu/input/segment_cache.h"

#include <cstdlib>

#include "base/error.h"
#include "engine/device/device_testing.h"
#include "engine/program_maker.h"

namespace diptych::testing {
namespace {

using gpu::ColumnSegment;
using gpu::SegmentCache;

// Tablets of another source, with ids as those of a table have.
class NumberedTablets final : public TabletSource {
 public:
  explicit NumberedTablets(std::shared_ptr<const TabletSource> source) : source_(std::move(source)) {}
  const std::vector<ColumnDefinition>& columns() const override { return source_->columns(); }
  size_t tablet_count() const override { return source_->tablet_count(); }
  int64_t row_count() const override { return source_->row_count(); }
  int64_t rows_in(size_t tablet) const override { return source_->rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return source_->zone_map(tablet, column); }
  uint64_t tablet_id(size_t tablet) const override { return tablet + 1; }
  const Dictionary* common_dictionary(size_t column) const override { return source_->common_dictionary(column); }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    return source_->pin(tablet, wanted);
  }
  int64_t encoded_bytes(size_t tablet, size_t column) const override { return source_->encoded_bytes(tablet, column); }

 private:
  std::shared_ptr<const TabletSource> source_;
};

// Four tablets of 64 rows of 8 bytes.
NumberedTablets four_tablets() {
  std::vector<std::vector<Value>> rows;
  for (int64_t i = 0; i < 256; ++i) rows.push_back({Value::bigint(i * i * 1000003)});
  return NumberedTablets(make_table({{"a", Type{TypeId::BigInt}}}, rows, 64));
}

class SegmentCacheTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("DIPTYCH_KERNEL_CACHE", "off", 1);
    try {
      device_ = devices_.find(GetParam());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    queue_ = device_->make_queue();
  }

  std::shared_ptr<const ColumnSegment> get(SegmentCache& cache, size_t tablet) {
    return cache.get(source_, tablet, 1, 0, *queue_);
  }

  const NumberedTablets source_ = four_tablets();
  DeviceList devices_;
  Device* device_ = nullptr;
  std::unique_ptr<Queue> queue_;
};

TEST_P(SegmentCacheTest, DropsTheOldestThatNobodyUses) {
  const int64_t bytes =
      SegmentCache(*device_, ColumnSegment::Place::Pinned, 1 << 20).get(source_, 0, 1, 0, *queue_)->bytes();
  SegmentCache cache(*device_, ColumnSegment::Place::Pinned, 2 * bytes);
  std::weak_ptr<const ColumnSegment> first = get(cache, 0), second = get(cache, 1);
  EXPECT_EQ(get(cache, 0), first.lock());
  const auto third = get(cache, 2);
  EXPECT_TRUE(second.expired());
  EXPECT_FALSE(first.expired());
  // Whoever lets go of segments is asked before there is said to be no room.
  auto held = first.lock();
  cache.before_evicting([&] { held.reset(); });
  const auto fourth = get(cache, 3);
  EXPECT_TRUE(first.expired());
  try {
    get(cache, 0);
    FAIL() << "both segments are in use";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("pinned memory"), std::string::npos) << error.what();
  }
  EXPECT_EQ(get(cache, 3), fourth);
}

INSTANTIATE_TEST_SUITE_P(Each, SegmentCacheTest, ::testing::Values("cuda", "opencl"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace diptych::testing
