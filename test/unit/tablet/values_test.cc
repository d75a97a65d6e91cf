#include "tablet/values.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"

namespace diptych {
namespace {

std::vector<Value> cells_of(const TabletSource& source) {
  std::vector<size_t> all(source.columns().size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<Value> cells;
  for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
    const auto pinned = source.pin(tablet, all);
    for (int64_t row = 0; row < pinned->rows; ++row)
      for (const size_t i : all) cells.push_back(value_at(pinned->views[i], source.columns()[i].type, row));
  }
  return cells;
}

// Offsets have 32 bits: strings that are more than a batch may have go to the next tablet.
TEST(ValueSource, StringsOfManyBytesAreSeveralTablets) {
  const Type text{TypeId::Text}, integer{TypeId::Integer};
  for (const int64_t rows : {1, 7, 8, 9, 100}) {
    std::vector<Value> cells;
    for (int64_t row = 0; row < rows; ++row) {
      const auto length = static_cast<size_t>(row % 13 == 5 ? 3000 : 257 + row);
      cells.push_back(row % 5 == 3 ? Value::null(text)
                                   : Value::text(std::string(length, static_cast<char>('a' + row % 26))));
      cells.push_back(row % 7 == 1 ? Value::null(integer) : Value::integer(static_cast<int32_t>(row)));
    }
    for (const int64_t batch_bytes : {1, 300, 1024, 65536, 1 << 26}) {
      const auto source = make_value_source({{"s", text}, {"i", integer}}, cells, rows, batch_bytes);
      EXPECT_EQ(source->row_count(), rows);
      EXPECT_EQ(cells_of(*source), cells) << rows << " rows, batches of " << batch_bytes;
      EXPECT_TRUE(batch_bytes < 65536 || source->tablet_count() == 1);
      for (size_t tablet = 0; tablet < source->tablet_count(); ++tablet) {
        const size_t column = 0;
        const auto pinned = source->pin(tablet, std::span(&column, 1));
        const uint32_t* offsets = pinned->views[0].offsets;
        if (offsets == nullptr) continue;
        // NULLs, which have no bytes, may stand beside a string that is longer than a batch.
        int strings = 0;
        for (int64_t row = 0; row < pinned->rows; ++row) strings += offsets[row + 1] > offsets[row];
        EXPECT_TRUE(strings <= 1 || offsets[pinned->rows] <= batch_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace diptych
