#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernel/kernel_testing.h"

namespace diptych::testing {
namespace {

// Flipping one bit of the input flips each bit of the hash about every other time.
template <typename Hash>
void expect_avalanche(Hash hash) {
  Random random;
  constexpr int trials = 4000;
  int flips[64] = {};
  for (int i = 0; i < trials; i++) {
    dk_u64 key = random.bits();
    dk_u64 difference = hash(key) ^ hash(key ^ (1UL << random.below(64)));
    for (int bit = 0; bit < 64; bit++) flips[bit] += static_cast<int>((difference >> bit) & 1);
  }
  for (int bit = 0; bit < 64; bit++) EXPECT_NEAR(flips[bit], trials / 2, trials / 12) << "bit " << bit;
}

TEST(Hash, Avalanche) {
  expect_avalanche([](dk_u64 key) { return dk_hash_i64(static_cast<dk_i64>(key)); });
  expect_avalanche([](dk_u64 key) { return dk_hash_combine(1, key); });
  expect_avalanche([](dk_u64 key) { return dk_hash_combine(key, 1); });
  expect_avalanche([](dk_u64 key) { return dk_hash_i128(dk_make_i128(static_cast<dk_i64>(key), 7)); });
  expect_avalanche(
      [](dk_u64 key) { return dk_hash_text(dk_make_text(reinterpret_cast<const char*>(&key), sizeof key)); });
}

TEST(Hash, SmallKeysDoNotCollide) {
  std::set<dk_u64> seen;
  for (int i = -50000; i < 50000; i++) seen.insert(dk_hash_i32(i) >> 16);
  EXPECT_GT(seen.size(), 99990U);
  EXPECT_NE(dk_hash_i64(0), 0U);
}

TEST(Hash, EqualValuesHashAlike) {
  EXPECT_EQ(dk_hash_f64(0.0), dk_hash_f64(-0.0));
  EXPECT_EQ(dk_hash_f64(std::nan("1")), dk_hash_f64(-std::nan("2")));
  EXPECT_EQ(dk_hash_f32(1.5F), dk_hash_f64(1.5));
  EXPECT_EQ(dk_hash_interval({1, 0, 0}), dk_hash_interval({0, 30, 0}));
  EXPECT_EQ(dk_hash_interval({0, 1, 0}), dk_hash_interval({0, 0, 86400000000}));
}

// All lengths around a word, each hash depending on every byte and on the length.
TEST(Hash, TextOfEveryLength) {
  std::set<dk_u64> seen;
  std::string zeros(40, '\0');
  for (size_t length = 0; length <= zeros.size(); length++) {
    seen.insert(dk_hash_text(text(std::string_view(zeros).substr(0, length))));
    for (size_t i = 0; i < length; i++) {
      std::string changed(length, '\0');
      changed[i] = 1;
      seen.insert(dk_hash_text(text(changed)));
    }
  }
  EXPECT_EQ(seen.size(), 41U + 40U * 41U / 2U);
  // Where the text lies does not matter.
  std::string shifted = "xabcdefghijk";
  EXPECT_EQ(dk_hash_text(text("abcdefghijk")), dk_hash_text(text(std::string_view(shifted).substr(1))));
}

}  // namespace
}  // namespace diptych::testing
