#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

// Each row finds its group, counts itself there, and notes the slot.
const std::string group_kernel = kernel_head + R"(
  DK_GLOBAL dk_u32* used = DK_AT(dk_u32, parameters.word[0]);
  for (dk_i64 row = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; row < (dk_i64)parameters.word[6];
       row += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE) {
    dk_u64 key[WORDS];
    for (dk_i32 i = 0; i < WORDS; i++) key[i] = DK_AT(dk_u64, parameters.word[5])[row * WORDS + i];
    dk_u64 hash = parameters.word[8] != 0 ? 0 : dk_hash_words(key, WORDS - TEXTS);
    dk_i64 slot = dk_group_find_or_add_global(DK_SPACES_ARG, used, DK_AT(dk_u32, parameters.word[1]),
                                              DK_AT(dk_u64, parameters.word[2]), parameters.word[3],
                                              (dk_u32)parameters.word[4], WORDS, WORDS - TEXTS, TEXTS, key,
                                              hash % parameters.word[3], 1, (dk_u32)(hash >> 32));
    DK_AT(dk_i64, parameters.word[7])[row] = slot;
  }
})";

std::string words_of(int words, int texts) {
  return "#define WORDS " + std::to_string(words) + "\n#define TEXTS " + std::to_string(texts) + "\n";
}

class GroupTable : public DeviceKernel {
 protected:
  struct Outcome {
    dk_u32 used = 0;
    std::vector<dk_u32> states;
    std::vector<dk_u64> keys;
    std::vector<dk_i64> found;
  };
  Outcome group(size_t words, const std::vector<dk_u64>& keys, size_t slots, size_t limit, bool colliding) {
    const size_t rows = keys.size() / words;
    dk_u64 used = put(std::vector<dk_u32>(1)), states = put(std::vector<dk_u32>(slots)),
           table = put(std::vector<dk_u64>(slots * words)), from = put(keys), to = put(std::vector<dk_i64>(rows));
    run(8, {used, states, table, slots, limit, from, rows, to, colliding ? 1U : 0U});
    return {get<dk_u32>(used, 1)[0], get<dk_u32>(states, slots), get<dk_u64>(table, slots * words),
            get<dk_i64>(to, rows)};
  }
  void check(size_t words, size_t different, size_t slots, bool colliding) {
    std::vector<dk_u64> keys;
    const size_t rows = 5000;
    for (size_t i = 0; i < rows; ++i) {
      const auto key = static_cast<dk_u64>(random_.below(static_cast<dk_i64>(different)));
      for (size_t w = 0; w < words; ++w) keys.push_back(w == 0 ? key : key * 0x9E3779B97F4A7C15 >> (60 - w));
    }
    clear();
    const Outcome got = group(words, keys, slots, slots * 3 / 4, colliding);
    std::map<std::vector<dk_u64>, dk_i64> slot_of;
    std::set<dk_i64> used;
    for (size_t i = 0; i < rows; ++i) {
      const std::vector<dk_u64> key(keys.begin() + static_cast<long>(i * words),
                                    keys.begin() + static_cast<long>((i + 1) * words));
      ASSERT_GE(got.found[i], 0);
      const auto [place, added] = slot_of.emplace(key, got.found[i]);
      ASSERT_EQ(place->second, got.found[i]) << "row " << i;
      ASSERT_EQ(used.insert(got.found[i]).second, added) << "one slot for two keys";
      const auto at = static_cast<size_t>(got.found[i]);
      ASSERT_EQ(std::memcmp(&got.keys[at * words], key.data(), words * 8), 0);
    }
    EXPECT_EQ(got.used, slot_of.size());
    size_t ready = 0;
    for (dk_u32 state : got.states) {
      EXPECT_NE(state, 1U);
      ready += state != 0;
    }
    EXPECT_EQ(ready, slot_of.size());
  }
  Random random_;
};

TEST_F(GroupTable, GivesEachKeyOneSlot) {
  for (int words : {1, 2, 5}) {
    for (int size : {64, 256}) {
      ASSERT_NO_FATAL_FAILURE(build({"device/group_table.h"}, words_of(words, 0) + group_kernel, size));
      for (size_t different : {1, 2, 100, 1500}) check(static_cast<size_t>(words), different, 4096, false);
      check(static_cast<size_t>(words), 90, 128, true);
      check(static_cast<size_t>(words), 96, 128, false);
      check(static_cast<size_t>(words), 90, 131, false);  // of any number of slots
    }
  }
}

TEST_F(GroupTable, FindsNoSlotWhenItIsFull) {
  ASSERT_NO_FATAL_FAILURE(build({"device/group_table.h"}, words_of(1, 0) + group_kernel, 64));
  std::vector<dk_u64> keys;
  for (dk_u64 i = 0; i < 3000; ++i) keys.push_back(i);
  for (size_t limit : {0, 100, 256}) {  // none, some, and every slot
    clear();
    const Outcome got = group(1, keys, 256, limit, false);
    size_t without = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (got.found[i] >= 0) {
        EXPECT_EQ(got.keys[static_cast<size_t>(got.found[i])], keys[i]);
      } else {
        ++without;
      }
    }
    EXPECT_EQ(without + got.used, keys.size());
  }
  clear();
  const Outcome fits = group(1, keys, 4096, 3000, false);
  EXPECT_EQ(fits.used, 3000U);
  EXPECT_EQ(std::count(fits.found.begin(), fits.found.end(), -1), 0);
}

// Each string lies in several places. All that is compared before their bytes is equal for all strings of a length, as
// if somebody had looked for strings of one hash.
TEST_F(GroupTable, TellsStringsOfOneHashApart) {
  ASSERT_NO_FATAL_FAILURE(build({"device/group_table.h"}, words_of(2, 1) + group_kernel, 64));
  std::vector<std::string> strings = {std::string(), "a"};
  for (const char* end : {"", "1", "2"})
    for (const char* begin : {"x", "y"})
      for (size_t middle : {6, 7, 8, 9, 16, 70}) strings.push_back(begin + std::string(middle, '-') + end);
  for (const bool colliding : {false, true}) {
    clear();
    std::string bytes;
    std::vector<dk_u64> keys;
    for (int i = 0; i < 2000; ++i) {
      const std::string& string = strings[static_cast<size_t>(random_.below(static_cast<dk_i64>(strings.size())))];
      keys.push_back(string.size());
      keys.push_back(bytes.size());
      bytes += string + std::string(static_cast<size_t>(random_.below(9)), '#');
    }
    const dk_u64 start = put(std::vector<char>(bytes.begin(), bytes.end()));
    ASSERT_EQ(start, 0U);
    const Outcome got = group(2, keys, 256, 200, colliding);
    std::map<std::string, dk_i64> slot_of;
    for (size_t i = 0; i < keys.size(); i += 2) {
      const std::string string = bytes.substr(keys[i + 1], keys[i]);
      ASSERT_EQ(slot_of.emplace(string, got.found[i / 2]).first->second, got.found[i / 2]) << string;
    }
    EXPECT_EQ(slot_of.size(), strings.size());
    EXPECT_EQ(got.used, strings.size());
  }
}

TEST_F(GroupTable, HashesStringsWhereverTheyLie) {
  const std::string body = kernel_head + R"(
  const dk_text text = dk_make_text(DK_AT(const char, parameters.word[0]) + DK_LOCAL_ID, (dk_i32)parameters.word[2]);
  DK_AT(dk_u64, parameters.word[1])[DK_LOCAL_ID] = dk_text_key(text);
})";
  ASSERT_NO_FATAL_FAILURE(build({"text.h", "device/group_text.h"}, body, 32));
  std::set<dk_u64> different;
  for (size_t length = 0; length < 40; ++length) {
    clear();
    const dk_u64 from = put(std::vector<char>(32 + length, 'z')), to = put(std::vector<dk_u64>(32));
    run(1, {from, to, length});
    const auto got = get<dk_u64>(to, 32);
    EXPECT_EQ(std::count(got.begin(), got.end(), got[0]), 32);
    EXPECT_EQ(got[0] & 0xFFFFFFFF, length);
    different.insert(got[0] >> 32);
  }
  EXPECT_EQ(different.size(), 40U);
}

TEST_F(GroupTable, TakesEqualFloatsForOneKey) {
  const std::string body = kernel_head +
                           "  DK_AT(dk_u64, parameters.word[1])[DK_LOCAL_ID] = "
                           "dk_key_word_f64(DK_AT(dk_f64, parameters.word[0])[DK_LOCAL_ID]);\n}\n";
  ASSERT_NO_FATAL_FAILURE(build({"device/group_table.h"}, body, 32));
  std::vector<double> values = {0.0, -0.0, std::bit_cast<double>(~dk_u64{0}), std::nan(""), 1.5};
  values.resize(32);
  dk_u64 from = put(values), to = put(std::vector<dk_u64>(32));
  run(1, {from, to});
  const auto got = get<dk_u64>(to, 32);
  EXPECT_EQ(got[0], got[1]);
  EXPECT_EQ(got[2], got[3]);
  EXPECT_EQ(got[4], std::bit_cast<dk_u64>(1.5));
}

}  // namespace
}  // namespace diptych::testing

#endif
