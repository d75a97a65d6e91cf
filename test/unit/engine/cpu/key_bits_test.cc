// Whole keys and the loops that look them up, on every level of the instruction set that this machine has.
#include "engine/cpu/join/key_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string_view>

#include "engine/rows/row_mask.h"
#include "kernel/kernel.h"

namespace diptych::cpu {
namespace {

std::vector<const LoopTable*> levels() {
  std::vector<const LoopTable*> tables{&v2::table};
#if defined(__x86_64__)
  const std::string_view best = loops().name;
  if (best != "v2") tables.push_back(&v3::table);
  if (best == "v4") tables.push_back(&v4::table);
#endif
  return tables;
}

template <typename T>
PlaceLoop places_of(const LoopTable& table) {
  return sizeof(T) == 4 ? table.places_i32 : table.places_i64;
}

template <typename T>
struct Case {
  T low;
  uint64_t span;
  int every;  // so many numbers of the span have one key
};

// Keys in the span, at its ends, beyond them, and at the ends of the type.
template <typename T>
std::vector<T> asked(const Case<T>& of) {
  std::vector<T> keys(block_rows);
  std::mt19937_64 random(7);
  const auto low = static_cast<uint64_t>(int64_t{of.low});
  for (T& key : keys) key = static_cast<T>(low + random() % (of.span + 100) - 50);
  keys[0] = std::numeric_limits<T>::min();
  keys[1] = std::numeric_limits<T>::max();
  keys[2] = of.low;
  keys[3] = static_cast<T>(low + of.span - 1);
  keys[4] = static_cast<T>(low + of.span);
  keys[5] = static_cast<T>(low - 1);
  return keys;
}

template <typename T>
void check(const Case<T>& of) {
  KeyBits bits;
  bits.open(of.low, of.span, 1, true, Memory());
  std::set<uint64_t> numbers{0, of.span - 1};
  for (uint64_t number = 0; number < of.span; number += static_cast<uint64_t>(of.every)) numbers.insert(number);
  for (const uint64_t number : numbers) EXPECT_FALSE(bits.add(0, number));
  EXPECT_TRUE(bits.add(0, of.span - 1));
  const std::vector<T> keys = asked(of);
  for (const bool by_rank : {false, true}) {
    if (by_rank)
      EXPECT_EQ(bits.find_ranks(Memory()), numbers.size());
    else
      bits.find_numbers();
    for (const LoopTable* table : levels()) {
      RowMask rows;
      rows.fill(block_rows - 37);
      rows.words[3] &= 0x10;
      rows.words[4] = 0;
      const RowMask wanted = rows;
      std::vector<int64_t> found(block_rows);
      places_of<T> (*table)(rows.words, block_words, {keys.data(), 64 * sizeof(T)}, bits.frame(), found.data());
      for (int row = 0; row < block_rows; ++row) {
        const uint64_t number = bits.number_of(keys[static_cast<size_t>(row)]);
        const auto key = numbers.find(number);
        ASSERT_EQ(rows.has(row), wanted.has(row) && key != numbers.end()) << table->name << " row " << row;
        if (!rows.has(row)) continue;
        const int64_t rank = by_rank ? std::distance(numbers.begin(), key) : static_cast<int64_t>(number);
        ASSERT_EQ(found[static_cast<size_t>(row)], rank) << table->name << " row " << row;
      }
    }
  }
}

TEST(KeyBits, FindsWhatIsThere) {
  for (const uint64_t span : {1, 2, 63, 64, 65, 128, 1000, 5000}) {
    for (const int every : {1, 2, 40}) {
      check<int32_t>({std::numeric_limits<int32_t>::min(), span, every});
      check<int32_t>({-10, span, every});
      check<int32_t>({static_cast<int32_t>(std::numeric_limits<int32_t>::max() - span + 1), span, every});
      check<int64_t>({std::numeric_limits<int64_t>::min(), span, every});
      check<int64_t>({int64_t{1} << 40, span, every});
      check<int64_t>({static_cast<int64_t>(std::numeric_limits<int64_t>::max() - span + 1), span, every});
    }
  }
}

// Of an index whose keys begin with so much more than the codes' base.
template <typename T>
void check_codes(int64_t low, uint64_t span, int every) {
  KeyBits bits;
  bits.open(low, span, 1, true, Memory());
  std::set<uint64_t> numbers{0, span - 1};
  for (uint64_t number = 0; number < span; number += static_cast<uint64_t>(every)) numbers.insert(number);
  for (const uint64_t number : numbers) bits.add(0, number);
  std::vector<T> codes(block_rows);
  std::mt19937_64 random(11);
  // Keys of 32 bits are not farther apart.
  const int64_t most = std::numeric_limits<T>::max() + (sizeof(T) == 4 ? std::min<int64_t>(low, 0) : 0);
  for (T& code : codes)
    code = static_cast<T>(std::clamp<int64_t>(low + static_cast<int64_t>(random() % (span + 20)) - 10, 0, most));
  codes[0] = 0;
  codes[1] = static_cast<T>(most);
  for (const bool by_rank : {false, true}) {
    by_rank ? static_cast<void>(bits.find_ranks(Memory())) : bits.find_numbers();
    for (const LoopTable* table : levels()) {
      RowMask rows;
      rows.fill(block_rows - 5);
      std::vector<int64_t> found(block_rows);
      table->places_codes[sizeof(T) / 2](rows.words, block_words, {codes.data(), 64 * sizeof(T)}, bits.frame(),
                                         found.data());
      for (int row = 0; row < block_rows - 5; ++row) {
        const auto key = numbers.find(static_cast<uint64_t>(int64_t{codes[static_cast<size_t>(row)]} - low));
        ASSERT_EQ(rows.has(row), key != numbers.end()) << table->name << " row " << row;
        if (!rows.has(row)) continue;
        ASSERT_EQ(found[static_cast<size_t>(row)], by_rank ? std::distance(numbers.begin(), key) : int64_t(*key));
      }
    }
  }
}

TEST(KeyBits, FindsCodes) {
  check_codes<uint16_t>(-(int64_t{1} << 24), uint64_t{1} << 24, 4096);
  for (const uint64_t span : {1, 64, 100, 250, 5000}) {
    for (const int every : {1, 3}) {
      for (const int64_t low : {-240, -1, 0, 1, 200}) {
        check_codes<uint8_t>(low, span, every);
        check_codes<uint16_t>(low, span, every);
        check_codes<uint32_t>(low, span, every);
      }
      check_codes<uint16_t>(65000, span, every);
      check_codes<uint32_t>((int64_t{1} << 32) - static_cast<int64_t>(span), span, every);
      check_codes<uint32_t>((int64_t{1} << 31) - 100, span, every);
      check_codes<uint32_t>(-4000, span, every);
    }
  }
}

TEST(KeyBits, WorkersHaveTheirOwnUntilTheyAreMerged) {
  for (const bool own_bits : {true, false}) {
    KeyBits bits;
    bits.open(-5, 300, 3, own_bits, Memory());
    for (const size_t worker : {0, 2}) bits.begin(worker);
    EXPECT_FALSE(bits.add(0, 1));
    EXPECT_FALSE(bits.add(2, 200));
    EXPECT_FALSE(bits.add(2, 0));
    EXPECT_TRUE(bits.add(2, 0));
    EXPECT_NE(bits.add(2, 1), own_bits);
    EXPECT_EQ(bits.merge(0, 1), own_bits);
    EXPECT_FALSE(bits.merge(1, bits.words()));
    bits.end();
    EXPECT_EQ(bits.find_ranks(Memory()), 3U);
    EXPECT_EQ(bits.rank_of(200), 2U);
  }
}

TEST(KeyBits, SaysWhetherAnyKeyLiesBetween) {
  KeyBits bits;
  bits.open(100, 400, 1, true, Memory());
  for (const uint64_t number : {0, 63, 64, 200}) bits.add(0, number);
  EXPECT_TRUE(bits.has_any(100, 100));
  EXPECT_FALSE(bits.has_any(101, 162));
  EXPECT_TRUE(bits.has_any(101, 163));
  EXPECT_TRUE(bits.has_any(164, 164));
  EXPECT_FALSE(bits.has_any(165, 299));
  EXPECT_TRUE(bits.has_any(165, 300));
  EXPECT_FALSE(bits.has_any(301, 499));
}

TEST(KeyBits, FiltersByHash) {
  std::vector<int64_t> keys(block_rows);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i) - 1000;
  std::vector<uint64_t> words(256);
  const FilterFrame filter{words.data(), 64 - 8};
  for (size_t i = 0; i < keys.size(); i += 3) {
    const uint64_t hash = dk_hash_i64(keys[i]);
    words[hash >> filter.shift] |= filter_bits_of(hash);
  }
  std::vector<RowMask> left;
  for (const LoopTable* table : levels()) {
    RowMask& rows = left.emplace_back();
    rows.fill(block_rows - 5);
    std::vector<uint64_t> hashes(block_rows);
    table->hash_i64(rows.words, block_words, {keys.data(), 64 * sizeof(int64_t)}, hashes.data());
    EXPECT_EQ(hashes[70], dk_hash_i64(keys[70]));
    table->filter(rows.words, block_words, hashes.data(), filter);
    for (int row = 0; row < block_rows - 5; row += 3) EXPECT_TRUE(rows.has(row)) << table->name;
    EXPECT_LT(rows.count(), block_rows * 6 / 10) << table->name;
    EXPECT_EQ(std::memcmp(&rows, &left[0], sizeof(rows)), 0) << table->name;
  }
}

}  // namespace
}  // namespace diptych::cpu
