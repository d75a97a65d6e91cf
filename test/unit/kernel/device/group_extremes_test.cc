#include <algorithm>
#include <string>

#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

constexpr int items = 64, groups = 4;
constexpr size_t state_words = 9;  // two of strings, and one of locks

// Every item takes each string of its own into the least and the greatest, in shared memory; what the work-groups have
// is merged in global memory.
const std::string text_kernel = kernel_head + R"(
  DK_SHARED dk_u64 mine[9];
  DK_GLOBAL const dk_u64* strings = DK_AT(const dk_u64, parameters.word[0]);
  DK_GLOBAL dk_u64* all = DK_AT(dk_u64, parameters.word[2]);
  if (DK_LOCAL_ID < 9) mine[DK_LOCAL_ID] = 0;
  DK_BARRIER();
  for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < (dk_i64)parameters.word[1];
       i += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE) {
    const dk_text text = dk_make_text(DK_AT(const char, strings[2 * i]), (dk_i32)strings[2 * i + 1]);
    dk_locked_raise_local_text(DK_SPACES_ARG, (DK_LOCAL dk_u32*)(mine + 8), mine, text, 1);
    dk_locked_raise_local_text(DK_SPACES_ARG, (DK_LOCAL dk_u32*)(mine + 8), mine + 4, text, 0);
  }
  DK_BARRIER();
  if (DK_LOCAL_ID == 0) {
    dk_u64 words[8];
    for (dk_i32 i = 0; i < 8; i++) words[i] = mine[i];
    dk_locked_merge_global_text(DK_SPACES_ARG, (DK_GLOBAL dk_u32*)(all + 8), all, words, 1);
    dk_locked_merge_global_text(DK_SPACES_ARG, (DK_GLOBAL dk_u32*)(all + 8), all + 4, words + 4, 0);
  }
})";

class GroupExtremes : public DeviceKernel {
 protected:
  void check(const std::vector<std::string>& strings) {
    clear();
    std::string bytes;
    std::vector<dk_u64> rows;
    for (const std::string& string : strings) {
      rows.push_back(string.empty() ? 0 : bytes.size());
      rows.push_back(string.size());
      bytes += string + std::string(static_cast<size_t>(random_.below(9)), '~');
    }
    ASSERT_EQ(put(std::vector<char>(bytes.begin(), bytes.end())), 0U);
    const dk_u64 from = put(rows), to = put(std::vector<dk_u64>(state_words));
    run(groups, {from, strings.size(), to});
    const auto state = get<dk_u64>(to, state_words);
    if (strings.empty()) {
      EXPECT_EQ(state, std::vector<dk_u64>(state_words));
      return;
    }
    const auto [least, greatest] = std::minmax_element(strings.begin(), strings.end());
    ASSERT_NE(state[2], 0U);
    ASSERT_NE(state[6], 0U);
    EXPECT_EQ(bytes.substr(state[1], state[2] - 1), *least);
    EXPECT_EQ(bytes.substr(state[5], state[6] - 1), *greatest);
  }
  Random random_;
};

TEST_F(GroupExtremes, FindTheLeastAndGreatestString) {
  ASSERT_NO_FATAL_FAILURE(build({"device/group_extremes.h"}, text_kernel, items));
  check({});
  check({""});
  check({"", "a"});
  // Alike in the first 8 bytes, and beyond; bytes compare unsigned.
  check({"12345678", "123456789", "1234567", "12345678\x01", "12345678\xFF", "\xC3\xA4", "z"});
  const std::string begin(70, 'b');
  check({begin + "2", begin, begin + "1", begin + std::string(1, '\0'), begin + "10"});
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::string> strings;
    for (int i = 0; i < 1000; ++i) {
      std::string string(static_cast<size_t>(random_.below(turn + 1)), 'x');
      for (dk_i64 more = random_.below(3); more > 0; --more) string += static_cast<char>(random_.below(256));
      strings.push_back(string);
    }
    ASSERT_NO_FATAL_FAILURE(check(strings));
  }
}

// Months of 30 days, so that some are equal and differ; the last row's is kept.
TEST_F(GroupExtremes, KeepTheLastOfEqualIntervals) {
  const std::string body = kernel_head + R"(
  DK_GLOBAL const dk_u64* rows = DK_AT(const dk_u64, parameters.word[0]);
  DK_GLOBAL dk_u64* all = DK_AT(dk_u64, parameters.word[2]);
  for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < (dk_i64)parameters.word[1];
       i += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE) {
    dk_interval value;
    value.months = (dk_i32)(dk_u32)rows[2 * i];
    value.days = (dk_i32)(dk_u32)(rows[2 * i] >> 32);
    value.microseconds = (dk_i64)rows[2 * i + 1];
    dk_u64 words[5];
    for (dk_i32 least = 0; least < 2; least++) {
      dk_interval_state(value, dk_span_of_interval(value), (dk_u64)i, (dk_bool)least, words);
      dk_locked_raise_global_interval((DK_GLOBAL dk_u32*)(all + 10), all + 5 * least, words);
    }
  }
})";
  ASSERT_NO_FATAL_FAILURE(build({"device/group_extremes.h"}, body, items));
  for (int turn = 0; turn < 20; ++turn) {
    clear();
    std::vector<dk_interval> values;
    std::vector<dk_u64> words;
    for (int i = 0; i < 500; ++i) {
      const dk_interval value = {
          static_cast<dk_i32>(random_.below(5) - 2), static_cast<dk_i32>(30 * random_.below(3)),
          static_cast<dk_i64>(random_.below(2)) * 30 * DK_USECS_PER_DAY + random_.below(turn + 1)};
      values.push_back(value);
      words.resize(words.size() + 2);
      std::memcpy(&words[words.size() - 2], &value, sizeof(value));
    }
    const dk_u64 from = put(words), to = put(std::vector<dk_u64>(11));
    run(groups, {from, values.size(), to});
    size_t least = 0, greatest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (dk_cmp_interval(values[i], values[least]) <= 0) least = i;
      if (dk_cmp_interval(values[i], values[greatest]) >= 0) greatest = i;
    }
    const auto state = get<dk_u64>(to, 11);
    EXPECT_EQ(state[2], greatest + 1);
    EXPECT_EQ(state[7], least + 1);
    EXPECT_EQ(std::memcmp(&state[3], &values[greatest], 16), 0);
    EXPECT_EQ(std::memcmp(&state[8], &values[least], 16), 0);
  }
}

}  // namespace
}  // namespace diptych::testing

#endif
