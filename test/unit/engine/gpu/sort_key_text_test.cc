#include "engine/gpu/sort/key_text.h"

#include <gtest/gtest.h>

namespace diptych::gpu {
namespace {

RegisterInfo column(PhysicalType physical, bool nullable) {
  RegisterInfo info;
  info.physical = physical;
  info.nullable = nullable;
  return info;
}

RegisterInfo bounded(PhysicalType physical, bool nullable, int64_t low, int64_t high) {
  RegisterInfo info = column(physical, nullable);
  info.has_range = true;
  info.low = low;
  info.high = high;
  return info;
}

std::string all_statements(const RowSetInfo& info) {
  const SortKeyLayout layout(info);
  std::string text;
  for (size_t i = 0; i < layout.keys.size(); ++i) {
    const std::string number = std::to_string(i);
    text += sort_key_statements(layout.keys[i], {"f" + number, "n" + number}, "r" + number, "v" + number, "key");
  }
  return text;
}

TEST(SortKeyText, BoundedIntegersShareAWord) {
  RowSetInfo info;
  info.columns = {bounded(PhysicalType::Int32, false, -2, 5), bounded(PhysicalType::Int64, true, 0, 100),
                  bounded(PhysicalType::Int128, true, 0, 2)};
  info.keys = {{false, false}, {true, false}, {true, true}};
  EXPECT_EQ(SortKeyLayout(info).words, 1U);
  EXPECT_EQ(all_statements(info),
            "key[0] = dk_sort_code(v0, r0, 0, (dk_i64)f0, 0, n0);\n"
            "key[0] = key[0] << 7 | dk_sort_code(v1, r1, 1, (dk_i64)f1, 0, n1);\n"
            "key[0] = key[0] << 2 | dk_sort_code(v2, (dk_i64)r2.lo, 1, (dk_i64)f2, 1, n2);\n");
}

TEST(SortKeyText, OtherKeysHaveWordsOfTheirOwn) {
  RowSetInfo info;
  info.columns = {bounded(PhysicalType::Int32, false, 0, 9), column(PhysicalType::Float64, true),
                  column(PhysicalType::Interval, false), bounded(PhysicalType::Int32, false, 0, 9)};
  info.keys = {{false, false}, {true, true}, {false, false}, {false, false}};
  EXPECT_EQ(SortKeyLayout(info).words, 6U);
  EXPECT_EQ(all_statements(info),
            "key[0] = dk_sort_code(v0, r0, 0, (dk_i64)f0, 0, n0);\n"
            "key[1] = dk_sort_null(v1, 1);\n"
            "key[2] = dk_sort_value(v1, dk_sort_word_f64(r1), 1);\n"
            "key[3] = dk_sort_value(v2, dk_sort_high_interval(r2), 0);\n"
            "key[4] = dk_sort_value(v2, dk_sort_low_interval(r2), 0);\n"
            "key[5] = dk_sort_code(v3, r3, 0, (dk_i64)f3, 0, n3);\n");
}

TEST(SortKeyText, OfStringsAWordHasTheFirstBytes) {
  RowSetInfo info;
  info.columns = {column(PhysicalType::Text, true), column(PhysicalType::Text, false)};
  info.keys = {{true, false}, {false, false}};
  EXPECT_EQ(all_statements(info),
            "key[0] = dk_sort_null(v0, 0);\n"
            "key[1] = dk_sort_value(v0, dk_sort_word_text(r0), 1);\n"
            "key[2] = dk_sort_value(v1, dk_sort_word_text(r1), 0);\n");
}

}  // namespace
}  // namespace diptych::gpu
