// Statistics of Parquet files: which rows they are of, and that what is wrong with a file is left to queries.
#include "io/parquet/parquet_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "io/data_writer.h"
#include "io/file_rows.h"
#include "io/parquet/parquet_pages.h"
#include "tablet/memory_source.h"

namespace diptych {
namespace {

using testing::rows_of;
using testing::type;

void check_clusters(const std::vector<int64_t>& row_groups) {
  const int64_t rows = std::accumulate(row_groups.begin(), row_groups.end(), int64_t{0});
  size_t drawn = 0;
  int64_t behind = 0;  // the cluster before
  for (const SampleCluster& cluster : sample_clusters(row_groups)) {
    const int64_t before =
        std::accumulate(row_groups.begin(), row_groups.begin() + static_cast<ptrdiff_t>(cluster.row_group), int64_t{0});
    EXPECT_GE(before + cluster.first, behind);
    behind = before + cluster.first + cluster.rows;
    EXPECT_LE(cluster.first + cluster.rows, row_groups[cluster.row_group]);
    ASSERT_FALSE(cluster.drawn.empty());
    EXPECT_TRUE(std::is_sorted(cluster.drawn.begin(), cluster.drawn.end()));
    EXPECT_EQ(std::adjacent_find(cluster.drawn.begin(), cluster.drawn.end()), cluster.drawn.end());
    EXPECT_GE(cluster.drawn.front(), cluster.first);
    EXPECT_LT(cluster.drawn.back(), cluster.first + cluster.rows);
    drawn += cluster.drawn.size();
  }
  EXPECT_LE(drawn, RowSample::most_rows);
  if (rows <= 1024 && row_groups.size() < 64) {
    EXPECT_EQ(drawn, static_cast<size_t>(rows));
  }
  if (rows > 100'000) {
    EXPECT_GT(drawn, 500U) << row_groups.size();
  }
}

TEST(ParquetSample, ClustersAreApartAndWithinTheirRowGroups) {
  std::mt19937_64 random(7);
  for (const std::vector<int64_t>& row_groups :
       {std::vector<int64_t>{}, {0}, {1}, {1024}, {1025}, {1'000'000}, {122'880, 122'880, 40}, {5000, 1, 0, 5000}})
    check_clusters(row_groups);
  for (const int64_t most : {3, 20, 2000, 200'000}) {
    std::vector<int64_t> row_groups;
    for (int i = 0; i < 100; ++i) row_groups.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(most)));
    check_clusters(row_groups);
  }
  check_clusters(std::vector<int64_t>(100'000, 10));
}

TEST(ParquetSample, OnlyPagesOfWantedRowsAreKept) {
  const std::vector<int64_t> wanted{5, 7, 31};
  KeptPages pages(wanted);
  EXPECT_TRUE(pages.takes(10));
  EXPECT_FALSE(pages.takes(10));
  EXPECT_FALSE(pages.has_all());
  EXPECT_TRUE(pages.takes(15));
  EXPECT_TRUE(pages.has_all());
  EXPECT_EQ(pages.kept_rows(), (std::vector<int64_t>{5, 7, 21}));
}

class ParquetSampleTest : public ::testing::Test {
 protected:
  // n counts rows; quarter is NULL in three rows of four; word is one of five; long has as many bytes as asked for.
  static std::shared_ptr<MemorySource> numbered(int64_t rows, size_t long_bytes = 10) {
    std::vector<ColumnDefinition> columns{{"n", type(TypeId::BigInt)},
                                          {"quarter", type(TypeId::Integer)},
                                          {"word", type(TypeId::Text)},
                                          {"long", type(TypeId::Text)},
                                          {"nothing", type(TypeId::Double)}};
    auto source = std::make_shared<MemorySource>(columns);
    TabletBuilder builder(columns, 4096, {nullptr, nullptr, nullptr, nullptr, nullptr});
    for (int64_t row = 0; row < rows; ++row) {
      const auto quarter = static_cast<int32_t>(row / 4);
      const double nothing = 0;
      const std::string word = "w" + std::to_string(row * 7 % 5),
                        text = std::to_string(row) + std::string(long_bytes, 'x');
      const uint8_t null = 0;
      const uint32_t word_ends[] = {0, static_cast<uint32_t>(word.size())};
      const uint32_t text_ends[] = {0, static_cast<uint32_t>(text.size())};
      const BatchColumn cells[] = {
          {.physical = PhysicalType::Int64, .values = &row},
          {.physical = PhysicalType::Int32, .values = &quarter, .validity = row % 4 == 0 ? nullptr : &null},
          {.physical = PhysicalType::Text, .offsets = word_ends, .bytes = word.data()},
          {.physical = PhysicalType::Text, .offsets = text_ends, .bytes = text.data()},
          {.physical = PhysicalType::Float64, .values = &nothing, .validity = &null}};
      builder.append({1, cells}, 0, 1);
      if (builder.full()) source->add(builder.finish());
    }
    if (builder.rows() > 0) source->add(builder.finish());
    return source;
  }

  std::shared_ptr<const TabletSource> put(int64_t rows, size_t long_bytes = 10) {
    write_data_file(files_, "x.parquet", *options_for("x.parquet"), *numbered(rows, long_bytes));
    return open_file_source(files_, "x.parquet", *options_for("x.parquet"));
  }

  MemoryFileSystem files_;
};

TEST_F(ParquetSampleTest, IsOfRowsFromEverywhere) {
  const auto source = put(400'000);
  EXPECT_EQ(source->statistics(), nullptr);
  const SourceStatistics* statistics = source->sampled_statistics();
  ASSERT_EQ(statistics, source->sampled_statistics());
  ASSERT_EQ(statistics->sampled_rows(), RowSample::most_rows);
  ASSERT_EQ(statistics->clusters().size(), RowSample::most_rows);
  ASSERT_NE(statistics->sorted(0), nullptr);
  for (int quarter = 1; quarter < 4; ++quarter)
    EXPECT_NEAR(statistics->sorted(0)->find(quarter * 1e5).below, quarter * 256, 128);
  EXPECT_DOUBLE_EQ(statistics->different(0), 400'000);
  EXPECT_GT(statistics->different(1), 100'000 / 3.0);
  EXPECT_LE(statistics->different(1), 100'000 * 1.5);
  EXPECT_NEAR(statistics->sorted(1)->nulls(), 768, 100);
  EXPECT_EQ(statistics->different(2), 5);
  EXPECT_EQ(statistics->sorted(4)->nulls(), RowSample::most_rows);
  EXPECT_EQ(statistics->different(4), 1);
}

// The same rows in every column.
TEST_F(ParquetSampleTest, ColumnsAreOfTheSameRows) {
  const auto source = put(300'000);
  const SourceStatistics& statistics = *source->sampled_statistics();
  for (const size_t column : {0, 1, 2}) ASSERT_NE(statistics.sampled(column), nullptr);
  for (size_t row = 0; row < statistics.sampled_rows(); ++row) {
    const auto n = static_cast<int64_t>(statistics.sampled(0)->numbers[row]);
    ASSERT_EQ(statistics.sampled(2)->texts[row], "w" + std::to_string(n * 7 % 5));
    ASSERT_EQ(statistics.sampled(1)->is_null[row] == 0, n % 4 == 0);
    if (n % 4 == 0) {
      ASSERT_EQ(statistics.sampled(1)->numbers[row], static_cast<double>(n / 4));
    }
  }
}

TEST_F(ParquetSampleTest, FewRowsAreAllThereAre) {
  for (const int64_t rows : {0, 1, 2, 31, 1023, 1024}) {
    const auto source = put(rows);
    const SourceStatistics& statistics = *source->sampled_statistics();
    EXPECT_EQ(statistics.sampled_rows(), static_cast<size_t>(rows));
    if (rows == 0) {
      EXPECT_EQ(statistics.sampled(0), nullptr);
      continue;
    }
    EXPECT_EQ(statistics.sorted(0)->different(), rows);
    EXPECT_EQ(statistics.different(0), rows);
    EXPECT_EQ(statistics.different(2), std::min<int64_t>(rows, 5));
  }
}

TEST_F(ParquetSampleTest, LongTextsAreNotRead) {
  const auto source = put(5000, 1000);
  const SourceStatistics& statistics = *source->sampled_statistics();
  EXPECT_NE(statistics.sampled(2), nullptr);
  EXPECT_EQ(statistics.sampled(3), nullptr);
  EXPECT_EQ(statistics.sorted(3), nullptr);
}

// Whatever is changed in the pages, the file gives the same errors as without a sample, and no others.
TEST_F(ParquetSampleTest, DamageIsLeftToWhoReadsTheRows) {
  put(20'000);
  const std::vector<std::byte> good = files_.contents("x.parquet");
  std::mt19937_64 random(3);
  const std::vector<size_t> all{0, 1, 2, 3, 4};
  const auto error_of_rows = [&](const TabletSource& source) {
    return testing::message_of(testing::error_of([&] {
      for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) source.pin(tablet, all);
    }));
  };
  int unread = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bad = good;
    for (int i = 0; i < 3; ++i) bad[4 + random() % (bad.size() * 9 / 10)] ^= static_cast<std::byte>(1 + random() % 255);
    files_.set_contents("x.parquet", bad);
    std::shared_ptr<const TabletSource> plain, sampled;
    if (testing::error_of([&] { plain = open_file_source(files_, "x.parquet", *options_for("x.parquet")); })) continue;
    sampled = open_file_source(files_, "x.parquet", *options_for("x.parquet"));
    for (const size_t column : all) {
      unread += sampled->sampled_statistics()->sampled(column) == nullptr;
      EXPECT_GE(sampled->sampled_statistics()->different(column), 1);
    }
    EXPECT_EQ(error_of_rows(*sampled), error_of_rows(*plain));
  }
  EXPECT_GT(unread, 10);
}

TEST_F(ParquetSampleTest, AFileThatIsCutIsNotSampled) {
  const auto source = put(200'000);
  files_.open("x.parquet", OpenMode::ReadWrite)->truncate(20'000);
  EXPECT_EQ(source->sampled_statistics()->sampled(0), nullptr);
  EXPECT_GT(source->sampled_statistics()->different(0), 1e9);
  EXPECT_EQ(source->sampled_statistics()->sorted(0), nullptr);
}

}  // namespace
}  // namespace diptych
