#include "tablet/validity_bits.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace diptych {
namespace {

TEST(ValidityBits, CopiesAnyStretchAndLeavesTheRestAlone) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> source(40), target(40);
    for (uint8_t& byte : source) byte = static_cast<uint8_t>(random());
    for (uint8_t& byte : target) byte = static_cast<uint8_t>(random());
    std::vector<uint8_t> before = target;
    int64_t count = static_cast<int64_t>(random() % 200), from = static_cast<int64_t>(random() % 100);
    int64_t to = static_cast<int64_t>(random() % 100), ones = 0;
    copy_bits(target.data(), to, source.data(), from, count);
    for (int64_t i = 0; i < 320; ++i) {
      bool copied = i >= to && i < to + count;
      ASSERT_EQ(is_valid(target.data(), i),
                copied ? is_valid(source.data(), from + i - to) : is_valid(before.data(), i));
      ones += copied && is_valid(target.data(), i) ? 1 : 0;
    }
    EXPECT_EQ(count_ones(source.data(), from, count), ones);
  }
}

TEST(ValidityBits, SetsAnyStretchAndLeavesTheRestAlone) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> target(40);
    for (uint8_t& byte : target) byte = static_cast<uint8_t>(random());
    const std::vector<uint8_t> before = target;
    const int64_t count = static_cast<int64_t>(random() % (round % 2 == 0 ? 10 : 200));
    const int64_t first = static_cast<int64_t>(random() % 100);
    set_ones(target.data(), first, count);
    for (int64_t i = 0; i < 320; ++i) {
      const bool is_set = i >= first && i < first + count;
      ASSERT_EQ(is_valid(target.data(), i), is_set || is_valid(before.data(), i)) << first << " " << count << " " << i;
    }
  }
}

TEST(GrowingValidity, HoldsNothingUntilTheFirstNull) {
  GrowingValidity validity;
  validity.append(nullptr, 0, 1000);
  EXPECT_EQ(validity.bits(), nullptr);
  uint8_t bits[] = {0b11011011};
  validity.append(bits, 3, 3);  // 1, 1, 0
  validity.append(nullptr, 0, 2);
  EXPECT_EQ(validity.null_count(), 1);
  AlignedBuffer taken = validity.take();
  for (int64_t i = 0; i < 1005; ++i) EXPECT_EQ(is_valid(taken.as<uint8_t>(), i), i != 1002) << i;
  EXPECT_EQ(validity.rows(), 0);
}

}  // namespace
}  // namespace diptych
