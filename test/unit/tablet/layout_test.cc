#include "tablet/layout.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tablet/builder.h"
#include "tablet/random_rows.h"

namespace diptych {
namespace {

using testing::cell_at;
using testing::RandomColumn;
using testing::Spread;

// A tablet with a column of every type and spread, and what its cells are.
struct Sample {
  std::vector<std::unique_ptr<Dictionary>> dictionaries;
  std::vector<RandomColumn> columns;
  EncodedTablet tablet;
};

Sample make_sample(uint64_t seed, int64_t rows, int null_percent) {
  std::mt19937_64 random(seed);
  Sample sample;
  std::vector<ColumnDefinition> definitions;
  std::vector<Dictionary*> pointers;
  std::vector<BatchColumn> batch_columns;
  for (Type type : testing::every_type()) {
    for (Spread spread : {Spread::Constant, Spread::Narrow, Spread::Stepped, Spread::Wide, Spread::Extreme}) {
      sample.columns.push_back(testing::random_column(random, type, spread, rows, null_percent));
      sample.dictionaries.push_back(std::make_unique<Dictionary>());
      definitions.push_back({"c", type});
      pointers.push_back(sample.dictionaries.back().get());
    }
  }
  for (const RandomColumn& column : sample.columns) batch_columns.push_back(column.batch());
  TabletBuilder builder(definitions, 65536, pointers);
  builder.append({rows, batch_columns}, 0, rows);
  sample.tablet = builder.finish();
  return sample;
}

void expect_same(const Sample& sample, const AlignedBuffer& block) {
  TabletMeta meta = parse_meta(block.span(), block.size());
  ASSERT_EQ(meta.rows, sample.tablet.rows);
  for (size_t c = 0; c < sample.columns.size(); ++c) {
    LoadedColumn loaded = load_column(meta, c, block.span(), sample.dictionaries[c].get());
    for (int64_t i = 0; i < meta.rows; ++i) {
      ASSERT_EQ(cell_at(loaded.view, i), sample.columns[c].cells[static_cast<size_t>(i)])
          << "column " << c << " row " << i;
    }
    EXPECT_EQ(meta.columns[c].zone.null_count, sample.tablet.columns[c].zone.null_count);
    EXPECT_EQ(meta.columns[c].zone.low, sample.tablet.columns[c].zone.low);
    EXPECT_EQ(meta.columns[c].zone.high, sample.tablet.columns[c].zone.high);
  }
}

TEST(Layout, BlocksComeBack) {
  for (int64_t rows : {0, 1, 7, 8, 9, 64, 5000}) {
    for (int null_percent : {0, 15, 100}) {
      for (bool compress : {false, true}) {
        Sample sample = make_sample(static_cast<uint64_t>(rows), rows, null_percent);
        std::vector<size_t> keys = {3, 7};
        AlignedBuffer block = serialize(sample.tablet, {compress, keys});
        EXPECT_EQ(block.size() % tablet_page_bytes, 0u);
        expect_same(sample, block);
      }
    }
  }
}

TEST(Layout, AnyFlippedByteIsAnErrorOrChangesNothing) {
  const uint64_t seed = 7;
  std::mt19937_64 random(seed);
  Sample sample = make_sample(seed, 300, 10);
  AlignedBuffer block = serialize(sample.tablet);
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    size_t place = random() % (round % 2 == 0 ? block.size() : tablet_meta_bytes(sample.columns.size()));
    std::byte flip = static_cast<std::byte>(random() % 255 + 1);
    block.data()[place] ^= flip;
    try {
      expect_same(sample, block);
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::data_corrupted);
      ++errors;
    }
    block.data()[place] ^= flip;
    ASSERT_FALSE(::testing::Test::HasFailure()) << "byte " << place << " seed " << seed;
  }
  EXPECT_GT(errors, 1000);
}

TEST(Layout, ATruncatedBlockIsAnError) {
  Sample sample = make_sample(9, 100, 0);
  AlignedBuffer block = serialize(sample.tablet);
  for (size_t bytes : {size_t{0}, size_t{63}, size_t{64}, size_t{4095}}) {
    EXPECT_THROW(parse_meta(block.span().subspan(0, bytes), block.size()), Error);
  }
  EXPECT_THROW(parse_meta(block.span(), block.size() - tablet_page_bytes), Error);
}

TEST(Layout, AnUnknownVersionIsNamed) {
  AlignedBuffer block = serialize(make_sample(10, 100, 0).tablet);
  block.data()[8] = std::byte{9};
  try {
    parse_meta(block.span(), block.size());
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::data_corrupted);
    EXPECT_EQ(error.message(), "damaged tablet: it has format version 9, this program reads version 1");
  }
}

TEST(Layout, KeyColumnsComeFirstAndExtentsCoverAColumn) {
  Sample sample = make_sample(11, 1000, 10);
  std::vector<size_t> keys = {8};
  AlignedBuffer block = serialize(sample.tablet, {true, keys});
  TabletMeta meta = parse_meta(block.span(), block.size());
  for (const ColumnMeta& column : meta.columns) {
    EXPECT_TRUE(column.fixed().bytes == 0 || meta.columns[8].fixed().offset <= column.fixed().offset);
  }
  std::vector<size_t> wanted = {58, 3};
  std::vector<ByteRange> apart = column_extents(meta, wanted, 0);
  EXPECT_EQ(apart.size(), 3u);  // fixed of 3, validity of 58, variable of 58
  EXPECT_EQ(column_extents(meta, wanted, block.size()).size(), 1u);
  for (size_t i = 1; i < apart.size(); ++i) EXPECT_LT(apart[i - 1].end(), apart[i].offset);
}

}  // namespace
}  // namespace diptych
