// Keys of several columns as rows of words.
#include "engine/cpu/key_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>

#include "kernel/kernel_testing.h"

namespace diptych::cpu {
namespace {

RegisterInfo key(PhysicalType physical, bool nullable = false) {
  const TypeId type = physical == PhysicalType::Int64  ? TypeId::BigInt
                      : physical == PhysicalType::Bool ? TypeId::Boolean
                                                       : TypeId::Integer;
  return {physical, Type{type}, nullable};
}

TEST(KeyLayout, WordsOfARow) {
  using enum PhysicalType;
  const auto words = [](const std::vector<RegisterInfo>& keys) { return KeyLayout(keys).words(); };
  EXPECT_EQ(words({key(Int32)}), 1U);
  EXPECT_TRUE(KeyLayout({key(Int32)}).is_whole());
  EXPECT_EQ(words({key(Int32), key(Int32)}), 1U);
  EXPECT_FALSE(KeyLayout({key(Int32), key(Int32)}).is_narrow());
  EXPECT_EQ(words({key(Int32), key(Bool), key(Int32)}), 2U);
  EXPECT_EQ(words({key(Int32), key(Int64), key(Int32)}), 2U);
  EXPECT_EQ(words({key(Int32, true), key(Int32)}), 2U);  // one of NULL bits
  EXPECT_EQ(words({key(Int32), key(Int32), key(Text), key(Int32)}), 4U);
}

// Rows are equal when their keys are, and tell what the keys were.
TEST(KeyLayout, RowsTellTheirKeys) {
  using enum PhysicalType;
  constexpr int rows = 300;
  testing::Random random;
  const std::vector<std::vector<RegisterInfo>> layouts = {
      {key(Int32), key(Int32)},
      {key(Int32, true), key(Bool), key(Int64), key(Int32)},
      {key(Bool, true), key(Bool, true), key(Int32), key(Int32, true), key(Int32)},
      {key(Int64), key(Int32), key(Int64, true), key(Int32, true)}};
  for (const auto& keys : layouts) {
    const KeyLayout layout(keys);
    std::vector<std::vector<std::byte>> data(keys.size());
    std::vector<std::vector<uint64_t>> valid(keys.size());
    std::vector<KeyColumn> columns;
    std::vector<std::vector<std::optional<int64_t>>> wanted(rows);
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto width = static_cast<size_t>(width_bytes(keys[i].physical));
      data[i].resize(block_rows * width);
      valid[i].assign(block_words, 0);
      for (int row = 0; row < rows; ++row) {
        const bool is_there = !keys[i].nullable || random.below(3) != 0;
        int64_t value = random.below(5) - 2;
        if (keys[i].physical == Bool) value &= 1;
        if (keys[i].physical == Int64) value *= int64_t{1} << 40;
        std::memcpy(data[i].data() + static_cast<size_t>(row) * width, &value, width);
        if (is_there) valid[i][static_cast<size_t>(row / 64)] |= uint64_t{1} << (row % 64);
        wanted[static_cast<size_t>(row)].push_back(is_there ? std::optional(value) : std::nullopt);
      }
      columns.push_back({Values{data[i].data(), 64 * width}, keys[i].nullable ? valid[i].data() : nullptr});
    }
    RowMask all;
    all.fill(rows);
    std::vector<uint64_t> words(rows * layout.words()), hashes(rows);
    layout.write(columns, words_for(rows), all, words.data());
    layout.hash_rows(words.data(), rows, hashes.data());
    std::map<std::vector<std::optional<int64_t>>, size_t> first;
    for (size_t row = 0; row < rows; ++row) {
      const uint64_t* at = words.data() + row * layout.words();
      for (size_t i = 0; i < keys.size(); ++i) {
        int64_t value = 0;
        uint64_t there = 1;
        const std::array<uint32_t, 1> number = {static_cast<uint32_t>(row)};
        const bool has_null = layout.read_column(words.data(), number, i, reinterpret_cast<std::byte*>(&value), &there);
        const bool is_there = there != 0;
        ASSERT_EQ(has_null, !is_there);
        if (keys[i].physical == Int32) value = static_cast<int32_t>(value);
        ASSERT_EQ(is_there ? std::optional(value) : std::nullopt, wanted[row][i]);
      }
      const size_t same = first.try_emplace(wanted[row], row).first->second;
      ASSERT_EQ(hashes[row], hashes[same]);
      layout.with_equal([&](const auto& equal) {
        ASSERT_TRUE(equal(at, words.data() + same * layout.words()));
        for (const auto& [other, number] : first)
          ASSERT_EQ(equal(at, words.data() + number * layout.words()), number == same);
      });
    }
    EXPECT_GT(first.size(), 20U);
  }
}

}  // namespace
}  // namespace diptych::cpu
