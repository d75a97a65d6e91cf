#include "tablet/builder.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "base/error.h"
#include "tablet/random_rows.h"

namespace diptych {
namespace {

using testing::cell_at;
using testing::RandomColumn;
using testing::Spread;

std::vector<ColumnDefinition> definition(Type type) { return {{"c", type}}; }

EncodedColumn build(const RandomColumn& column, Dictionary* dictionary, std::vector<UsualForm> forms = {}) {
  TabletBuilder builder(definition(column.type), static_cast<int64_t>(column.cells.size()) + 1, {dictionary});
  BatchColumn batch_column = column.batch();
  RowBatch batch{static_cast<int64_t>(column.cells.size()), {&batch_column, 1}};
  EXPECT_EQ(builder.append(batch, 0, batch.rows), batch.rows);
  EncodedTablet tablet = builder.finish(forms);
  EXPECT_EQ(tablet.rows, batch.rows);
  return std::move(tablet.columns[0]);
}

RandomColumn integers(const std::vector<int64_t>& values) {
  RandomColumn column;
  column.type.id = TypeId::BigInt;
  for (int64_t value : values) {
    column.cells.push_back(testing::bytes_of(value));
    column.values.insert(column.values.end(), column.cells.back()->begin(), column.cells.back()->end());
  }
  return column;
}

void expect_frame(const std::vector<int64_t>& values, int width, int64_t base, int64_t factor) {
  RandomColumn column = integers(values);
  EncodedColumn encoded = build(column, nullptr);
  EXPECT_EQ(encoded.width, width);
  EXPECT_EQ(encoded.base, base);
  EXPECT_EQ(encoded.factor, factor);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(cell_at(encoded.view(), static_cast<int64_t>(i)), column.cells[i]) << i;
}

TEST(TabletBuilder, FramesAreAsNarrowAsWholeBytesAllow) {
  expect_frame({7, 7, 7}, 0, 7, 1);
  expect_frame({-5, 250}, 1, -5, 1);
  expect_frame({0, 255}, 1, 0, 1);
  expect_frame({0, 256, 3}, 2, 0, 1);
  expect_frame({0, 65535, 1}, 2, 0, 1);
  expect_frame({0, 65536, 1}, 4, 0, 1);
  expect_frame({0, 4294967295, 1}, 4, 0, 1);
  expect_frame({0, 4294967296, 1}, 8, 0, 1);
  expect_frame({INT64_MIN, INT64_MAX, 0}, 8, INT64_MIN, 1);
}

TEST(TabletBuilder, AFactorIsTakenWhereItNarrows) {
  expect_frame({100, 5000, 1700}, 1, 100, 100);
  expect_frame({0, 256}, 1, 0, 256);
  expect_frame({0, 200, 100}, 1, 0, 1);           // narrow enough without
  expect_frame({0, 131072, 2}, 2 + 2, 0, 1);      // even, but 65536 still needs four bytes
  expect_frame({INT64_MIN, 0}, 8, INT64_MIN, 1);  // the distance itself is no int64
  std::vector<int64_t> late_breach;
  for (int i = 0; i < 1000; ++i) late_breach.push_back(i * 1000);
  late_breach[998] += 10;  // not among the sampled values: found by the full check
  expect_frame(late_breach, 4, 0, 1);
}

// NaN is the greatest value, and hides no number beside it, wherever they stand.
TEST(TabletBuilder, BoundsOfFloatsAreThoseOfTheirNumbers) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::mt19937 random(7);
  for (size_t count = 1; count < 70; ++count) {
    RandomColumn column;
    column.type.id = TypeId::Double;
    std::optional<double> low, high;
    bool any_nan = false;
    const unsigned most = 1 + random() % 6;  // of all kinds, or numbers alone
    for (size_t i = 0; i < count; ++i) {
      const double value =
          std::array{0.5 * static_cast<double>(random() % 100), -3.0, 1e300, -infinity, infinity, nan}[random() % most];
      column.cells.push_back(testing::bytes_of(value));
      column.values.insert(column.values.end(), column.cells.back()->begin(), column.cells.back()->end());
      any_nan |= std::isnan(value);
      if (std::isnan(value)) continue;
      low = std::min(low.value_or(value), value);
      high = std::max(high.value_or(value), value);
    }
    const ZoneMap zone = build(column, nullptr).zone;
    EXPECT_TRUE(zone.has_bounds) << count;
    if (low)
      EXPECT_EQ(zone.low_float, *low) << count;
    else
      EXPECT_TRUE(std::isnan(zone.low_float)) << count;
    if (any_nan)
      EXPECT_TRUE(std::isnan(zone.high_float)) << count;
    else
      EXPECT_EQ(zone.high_float, *high) << count;
  }
}

TEST(TabletBuilder, ANarrowerFactorIsFoundWhenTheSampledOneFails) {
  std::vector<int64_t> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i * 10000);
  values[998] += 5000;
  expect_frame(values, 2, 0, 5000);
}

TEST(TabletBuilder, EveryTypeComesBack) {
  const uint64_t seed = 1;
  std::mt19937_64 random(seed);
  for (Type type : testing::every_type()) {
    for (Spread spread : {Spread::Constant, Spread::Narrow, Spread::Stepped, Spread::Wide, Spread::Extreme}) {
      for (int64_t rows : {0, 1, 31, 64, 1000, 4097}) {
        for (int null_percent : {0, 10, 100}) {
          RandomColumn column = testing::random_column(random, type, spread, rows, null_percent);
          Dictionary dictionary;
          EncodedColumn encoded = build(column, &dictionary);
          for (int64_t i = 0; i < rows; ++i) {
            ASSERT_EQ(cell_at(encoded.view(), i), column.cells[static_cast<size_t>(i)])
                << type.name() << " spread " << static_cast<int>(spread) << " row " << i << " of " << rows << " seed "
                << seed;
          }
        }
      }
    }
  }
}

TEST(TabletBuilder, ZoneMapsAreExact) {
  EncodedColumn encoded = build(integers({5, -3, 9}), nullptr);
  EXPECT_TRUE(encoded.zone.has_bounds);
  EXPECT_EQ(encoded.zone.low, -3);
  EXPECT_EQ(encoded.zone.high, 9);
  std::mt19937_64 random(2);
  RandomColumn nulls = testing::random_column(random, {TypeId::Integer, 0, 0, 0}, Spread::Wide, 10, 100);
  encoded = build(nulls, nullptr);
  EXPECT_FALSE(encoded.zone.has_bounds);
  EXPECT_EQ(encoded.zone.null_count, 10);
}

TEST(TabletBuilder, NumericsBeyond64BitsArePlain) {
  std::mt19937_64 random(3);
  EXPECT_EQ(build(testing::random_column(random, Type::numeric(38, 0), Spread::Wide, 100, 0), nullptr).encoding,
            Encoding::FrameOfReference);
  EncodedColumn wide = build(testing::random_column(random, Type::numeric(38, 0), Spread::Extreme, 100, 0), nullptr);
  EXPECT_EQ(wide.encoding, Encoding::Plain);
  EXPECT_TRUE(wide.zone.has_bounds);
}

TEST(TabletBuilder, StringsTakeTheDictionaryOnlyWhileTheyRepeat) {
  std::mt19937_64 random(4);
  Dictionary dictionary;
  EncodedColumn few =
      build(testing::random_column(random, {TypeId::Text, 0, 0, 0}, Spread::Narrow, 2000, 5), &dictionary);
  EXPECT_EQ(few.encoding, Encoding::Dictionary);
  EXPECT_EQ(few.width, 1);
  EXPECT_EQ(dictionary.size(), 5u);
  EncodedColumn many =
      build(testing::random_column(random, {TypeId::Text, 0, 0, 0}, Spread::Wide, 2000, 5), &dictionary);
  EXPECT_EQ(many.encoding, Encoding::Heap);
  EXPECT_EQ(dictionary.size(), 5u);
}

TEST(TabletBuilder, CodesOfTheBatchAreTranslated) {
  std::vector<uint32_t> offsets = {0, 1, 3, 6};
  std::vector<int32_t> codes = {2, 0, 1, 99999, 2};
  std::vector<uint8_t> validity = {0b10111};
  BatchColumn column;
  column.physical = PhysicalType::Text;
  column.offsets = offsets.data();
  column.bytes = "abbccc";
  column.codes = codes.data();
  column.validity = validity.data();
  Dictionary dictionary;
  for (Dictionary* used : {&dictionary, static_cast<Dictionary*>(nullptr)}) {
    TabletBuilder builder(definition({TypeId::Text, 0, 0, 0}), 64, {used});
    builder.append({5, {&column, 1}}, 0, 5);
    EncodedTablet tablet = builder.finish();
    ColumnView view = tablet.columns[0].view();
    EXPECT_EQ(cell_at(view, 0), "ccc");
    EXPECT_EQ(cell_at(view, 1), "a");
    EXPECT_EQ(cell_at(view, 2), "bb");
    EXPECT_EQ(cell_at(view, 3), std::nullopt);
    EXPECT_EQ(cell_at(view, 4), "ccc");
  }
}

// Batches of strings that come one after the other.
class StringBatches {
 public:
  explicit StringBatches(Dictionary* dictionary) : dictionary_(dictionary) {}

  // nullopt: a NULL, under which any code may stand.
  void add_codes(TabletBuilder& builder, const std::vector<std::optional<int32_t>>& codes) {
    std::vector<int32_t> values;
    std::vector<uint8_t> validity((codes.size() + 7) / 8);
    for (size_t i = 0; i < codes.size(); ++i) {
      values.push_back(codes[i].value_or(12345));
      if (codes[i]) validity[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
      expected_.push_back(codes[i] ? std::optional(std::string((*dictionary_)[static_cast<uint32_t>(*codes[i])]))
                                   : std::nullopt);
    }
    BatchColumn column;
    column.physical = PhysicalType::Text;
    column.codes = values.data();
    column.dictionary = dictionary_;
    column.validity = validity.data();
    const auto rows = static_cast<int64_t>(codes.size());
    EXPECT_EQ(builder.append({rows, {&column, 1}}, 0, rows), rows);
  }

  void add_texts(TabletBuilder& builder, const std::vector<std::string>& texts) {
    std::string bytes;
    std::vector<uint32_t> offsets = {0};
    for (const std::string& text : texts) {
      bytes += text;
      offsets.push_back(static_cast<uint32_t>(bytes.size()));
      expected_.emplace_back(text);
    }
    BatchColumn column;
    column.physical = PhysicalType::Text;
    column.offsets = offsets.data();
    column.bytes = bytes.data();
    const auto rows = static_cast<int64_t>(texts.size());
    EXPECT_EQ(builder.append({rows, {&column, 1}}, 0, rows), rows);
  }

  EncodedColumn finish(TabletBuilder& builder, std::vector<UsualForm> forms = {}) {
    EncodedTablet tablet = builder.finish(forms);
    EXPECT_EQ(tablet.rows, static_cast<int64_t>(expected_.size()));
    const ColumnView view = tablet.columns[0].view();
    for (size_t i = 0; i < expected_.size(); ++i) EXPECT_EQ(cell_at(view, static_cast<int64_t>(i)), expected_[i]) << i;
    expected_.clear();
    return std::move(tablet.columns[0]);
  }

 private:
  Dictionary* dictionary_;
  std::vector<std::optional<std::string>> expected_;
};

TEST(TabletBuilder, CodesOfTheTablesDictionaryStay) {
  Dictionary dictionary;
  for (int i = 0; i < 300; ++i) dictionary.find_or_append("string " + std::to_string(i));
  StringBatches batches(&dictionary);
  TabletBuilder builder(definition({TypeId::Text, 0, 0, 0}), 4096, {&dictionary});

  batches.add_codes(builder, {7, std::nullopt, 255});
  batches.add_codes(builder, {std::nullopt, 0});
  const EncodedColumn narrow = batches.finish(builder);
  EXPECT_EQ(narrow.encoding, Encoding::Dictionary);
  EXPECT_EQ(narrow.width, 1);
  EXPECT_EQ(narrow.zone.null_count, 2);

  batches.add_codes(builder, {299, 3});
  EXPECT_EQ(batches.finish(builder).width, 2);
  batches.add_codes(builder, {std::nullopt, std::nullopt});
  EXPECT_EQ(batches.finish(builder).zone.null_count, 2);

  batches.add_codes(builder, {5, std::nullopt, 6});
  batches.add_texts(builder, {"new", "string 5"});
  batches.add_codes(builder, {299, std::nullopt});
  EXPECT_EQ(batches.finish(builder).encoding, Encoding::Dictionary);
  EXPECT_EQ(dictionary.size(), 301u);

  batches.add_texts(builder, {"string 1"});
  batches.add_codes(builder, {299, std::nullopt, 300});
  EXPECT_EQ(batches.finish(builder).encoding, Encoding::Dictionary);

  batches.add_codes(builder, {std::nullopt, 9});
  EXPECT_EQ(batches.finish(builder, {{false, 0, 0}}).encoding, Encoding::Heap);
}

TEST(TabletBuilder, CodesGoToTheHeapBehindStringsThatDoNotRepeat) {
  Dictionary dictionary;
  for (int i = 0; i < 1000; ++i) dictionary.find_or_append("string " + std::to_string(i));
  for (const bool numbers_fit : {true, false}) {
    StringBatches batches(&dictionary);
    TabletBuilder builder(definition({TypeId::Text, 0, 0, 0}), 1024, {&dictionary});
    std::vector<std::optional<int32_t>> codes = {std::nullopt};
    for (int32_t code = 0; code < (numbers_fit ? 10 : 400); ++code) codes.emplace_back(code);
    batches.add_codes(builder, codes);
    std::vector<std::string> texts;
    for (int i = 0; i < 400; ++i) texts.push_back("another " + std::to_string(i));
    batches.add_texts(builder, texts);
    batches.add_codes(builder, {std::nullopt, 999});
    EXPECT_EQ(batches.finish(builder).encoding, Encoding::Heap);
    EXPECT_EQ(dictionary.size(), 1000u);
  }
}

TEST(TabletBuilder, ColumnsAreStoredAsUsual) {
  const auto expect_form = [](std::vector<int64_t> values, UsualForm form, int width, int64_t factor) {
    const RandomColumn column = integers(values);
    const EncodedColumn encoded = build(column, nullptr, {form});
    EXPECT_EQ(encoded.width, width);
    EXPECT_EQ(encoded.factor, factor);
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(cell_at(encoded.view(), static_cast<int64_t>(i)), column.cells[i]);
  };
  expect_form({7}, {true, 2, 1}, 2, 1);
  expect_form({7, 9}, {true, 4, 1}, 4, 1);
  expect_form({1000, 5000, 3000}, {true, 2, 1}, 2, 1);
  expect_form({1000, 5000, 3000}, {true, 1, 1000}, 1, 1000);
  expect_form({1000, 5000, 3000}, {true, 1, 300}, 1, 2000);
  expect_form({250}, {true, 1, 100}, 1, 100);
  expect_form({0, 70000, 35000}, {true, 2, 1}, 2, 35000);
  expect_form({0, int64_t{1} << 40, 1}, {true, 2, 1}, 8, 1);
  RandomColumn nulls = integers({5, 6, 7});
  nulls.cells.assign(3, std::nullopt);
  nulls.validity = {0};
  nulls.has_nulls = true;
  EXPECT_EQ(build(nulls, nullptr, {{true, 2, 100}}).data.size(), 6U);

  std::mt19937_64 random(5);
  Dictionary dictionary;
  RandomColumn text = testing::random_column(random, {TypeId::Text, 0, 0, 0}, Spread::Stepped, 100, 20);
  const EncodedColumn codes = build(text, &dictionary, {{true, 2, 1}});
  ASSERT_EQ(codes.encoding, Encoding::Dictionary);
  EXPECT_EQ(codes.width, 2);
  const EncodedColumn heap = build(text, &dictionary, {{false, 0, 0}});
  ASSERT_EQ(heap.encoding, Encoding::Heap);
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(cell_at(codes.view(), static_cast<int64_t>(i)), text.cells[i]);
    EXPECT_EQ(cell_at(heap.view(), static_cast<int64_t>(i)), text.cells[i]);
  }

  RandomColumn wide = testing::random_column(random, {TypeId::Numeric, 30, 2, 0}, Spread::Stepped, 100, 20);
  const EncodedColumn plain = build(wide, nullptr, {{false, 0, 0}});
  ASSERT_EQ(plain.encoding, Encoding::Plain);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(cell_at(plain.view(), static_cast<int64_t>(i)), wide.cells[i]);
}

TEST(TabletBuilder, RowsAreTakenUntilFullAndTheBuilderIsUsedAgain) {
  std::mt19937_64 random(5);
  Dictionary dictionary;
  RandomColumn column = testing::random_column(random, {TypeId::Text, 0, 0, 0}, Spread::Stepped, 1000, 20);
  BatchColumn batch_column = column.batch();
  RowBatch batch{1000, {&batch_column, 1}};
  TabletBuilder builder(definition(column.type), 64, {&dictionary});
  int64_t taken = 0, tablets = 0;
  std::vector<std::optional<std::string>> cells;
  while (taken < 1000) {
    taken += builder.append(batch, taken, std::min<int64_t>(37, 1000 - taken));
    if (!builder.full() && taken < 1000) continue;
    EncodedTablet tablet = builder.finish();
    EXPECT_EQ(builder.rows(), 0);
    ++tablets;
    for (int64_t i = 0; i < tablet.rows; ++i) cells.push_back(cell_at(tablet.columns[0].view(), i));
  }
  EXPECT_EQ(tablets, 16);
  EXPECT_EQ(cells, column.cells);
}

}  // namespace
}  // namespace diptych
