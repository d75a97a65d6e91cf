#include <gtest/gtest.h>

#include <climits>

#include "kernel/kernel_testing.h"

namespace diptych::testing {
namespace {

const char* const mixed =
    "a\xC3\xA9\xE8\xAA\x9E\xF0\x9F\x98\x80z";  // a, e acute, a CJK sign, an emoji, z: 1+2+3+4+1 bytes

TEST(Text, Measures) {
  EXPECT_EQ(dk_length_text(text("")), 0);
  EXPECT_EQ(dk_length_text(text(mixed)), 5);
  EXPECT_EQ(dk_octet_length_text(text(mixed)), 11);
  EXPECT_EQ(dk_bit_length_text(text(mixed)), 88);
  EXPECT_EQ(dk_ascii_text(text("")), 0);
  EXPECT_EQ(dk_ascii_text(text("x")), 'x');
  EXPECT_EQ(dk_ascii_text(text("\xC3\xA9")), 0xE9);
  EXPECT_EQ(dk_ascii_text(text("\xF0\x9F\x98\x80")), 0x1F600);
}

TEST(Text, ComparesBytes) {
  const std::string_view ascending[] = {"", std::string_view("\0", 1), " ", "A", "AA", "B", "a", "a\x7F", "\xC3\xA9"};
  for (size_t i = 0; i < std::size(ascending); i++) {
    for (size_t j = 0; j < std::size(ascending); j++) {
      dk_text a = text(ascending[i]);
      dk_text b = text(ascending[j]);
      EXPECT_EQ(dk_cmp_text(a, b), i < j ? -1 : i > j) << i << ", " << j;
      EXPECT_EQ(dk_eq_text(a, b), i == j) << i << ", " << j;
      EXPECT_EQ(dk_le_text(a, b), i <= j) << i << ", " << j;
    }
  }
}

TEST(Text, Search) {
  EXPECT_EQ(dk_position_text(text(mixed), text("z")), 5);
  EXPECT_EQ(dk_position_text(text(mixed), text("")), 1);
  EXPECT_EQ(dk_position_text(text(""), text("")), 1);
  EXPECT_EQ(dk_position_text(text(""), text("a")), 0);
  EXPECT_EQ(dk_position_text(text("aaab"), text("aab")), 2);
  EXPECT_EQ(dk_position_text(text("ab"), text("abc")), 0);
  EXPECT_TRUE(dk_starts_with_text(text("abc"), text("")));
  EXPECT_TRUE(dk_starts_with_text(text("abc"), text("abc")));
  EXPECT_FALSE(dk_starts_with_text(text("ab"), text("abc")));
  EXPECT_TRUE(dk_ends_with_text(text("abc"), text("bc")));
  EXPECT_FALSE(dk_ends_with_text(text("abc"), text("ab")));
  EXPECT_TRUE(dk_contains_text(text("abc"), text("b")));
  EXPECT_FALSE(dk_contains_text(text("abc"), text("ac")));
}

TEST(Text, Substring) {
  EXPECT_EQ(str(dk_substring_from_text(text(mixed), 5)), "z");
  EXPECT_EQ(str(dk_substring_from_text(text(mixed), -5)), mixed);
  EXPECT_EQ(str(dk_substring_from_text(text(mixed), 6)), "");
  EXPECT_EQ(str(VALUE_OF(dk_substring_text, text(mixed), 2, 2)), "\xC3\xA9\xE8\xAA\x9E");
  EXPECT_EQ(str(VALUE_OF(dk_substring_text, text("abc"), 0, 2)), "a");
  EXPECT_EQ(str(VALUE_OF(dk_substring_text, text("abc"), -1, 2)), "");
  EXPECT_EQ(str(VALUE_OF(dk_substring_text, text("abc"), 2, INT_MAX)), "bc");
  EXPECT_EQ(str(VALUE_OF(dk_substring_text, text("abc"), INT_MIN, INT_MAX)), "");
  EXPECT_EQ(ERROR_OF(dk_substring_text, text("abc"), 1, -1), DK_SUBSTRING_LENGTH);
  EXPECT_EQ(str(dk_left_text(text(mixed), 2)), "a\xC3\xA9");
  EXPECT_EQ(str(dk_left_text(text("abc"), -1)), "ab");
  EXPECT_EQ(str(dk_left_text(text("abc"), INT_MIN)), "");
  EXPECT_EQ(str(dk_right_text(text(mixed), 1)), "z");
  EXPECT_EQ(str(dk_right_text(text("abc"), -1)), "bc");
  EXPECT_EQ(str(dk_right_text(text("abc"), INT_MAX)), "abc");
}

TEST(Text, Trim) {
  EXPECT_EQ(str(dk_trim_text(text("  a b  "))), "a b");
  EXPECT_EQ(str(dk_trim_text(text("   "))), "");
  EXPECT_EQ(str(dk_ltrim_text(text("  a "))), "a ");
  EXPECT_EQ(str(dk_rtrim_text(text(" a  "))), " a");
  EXPECT_EQ(str(dk_trim_set_text(text("xya\xC3\xA9yx"), text("xy\xC3\xA9"))), "a");
  EXPECT_EQ(str(dk_trim_set_text(text("abc"), text(""))), "abc");
  // The second byte of e acute alone is no member of the set.
  EXPECT_EQ(str(dk_rtrim_set_text(text("a\xC3\xA8"), text("\xC3\xA9"))), "a\xC3\xA8");
}

TEST(Text, SplitPart) {
  EXPECT_EQ(str(VALUE_OF(dk_split_part_text, text("a,b,c"), text(","), 2)), "b");
  EXPECT_EQ(str(VALUE_OF(dk_split_part_text, text("a,b,c"), text(","), 4)), "");
  EXPECT_EQ(str(VALUE_OF(dk_split_part_text, text("a,b,c"), text(","), -1)), "c");
  EXPECT_EQ(str(VALUE_OF(dk_split_part_text, text("a,b,c"), text(","), -4)), "");
  EXPECT_EQ(str(VALUE_OF(dk_split_part_text, text("a--b-c"), text("--"), 2)), "b-c");
  EXPECT_EQ(str(VALUE_OF(dk_split_part_text, text("abc"), text(""), 1)), "abc");
  EXPECT_EQ(str(VALUE_OF(dk_split_part_text, text("abc"), text(""), 2)), "");
  EXPECT_EQ(ERROR_OF(dk_split_part_text, text("abc"), text(","), 0), DK_INVALID_PARAMETER);
}

TEST(Text, LimitedTypes) {
  EXPECT_EQ(str(dk_cast_text_varchar(text(mixed), 2)), "a\xC3\xA9");
  EXPECT_EQ(str(dk_cast_text_varchar(text("abc"), 0)), "abc");
  EXPECT_EQ(str(dk_cast_text_char(text("a  bc"), 3)), "a");
  EXPECT_EQ(str(VALUE_OF(dk_assign_text_varchar, text("ab  "), 3)), "ab ");
  EXPECT_EQ(ERROR_OF(dk_assign_text_varchar, text("ab  "), 3), 0);
  EXPECT_EQ(ERROR_OF(dk_assign_text_varchar, text("abcd"), 3), DK_STRING_TOO_LONG);
  EXPECT_EQ(str(VALUE_OF(dk_assign_text_char, text("ab  "), 3)), "ab");
  EXPECT_EQ(ERROR_OF(dk_assign_text_char, text("ab c"), 3), DK_STRING_TOO_LONG);
}

// Bytes that are no UTF-8 stay as they are.
TEST(Text, ChangesNoCaseOfDamagedText) {
  for (const char* damaged : {"\xff", "a\xc3", "\x80\x80", "\xf8\x80\x80\x80", "\xe2\x84", "\xed\xa0\x80"}) {
    EXPECT_EQ(WRITTEN(lower_text, text(damaged)), damaged);
    EXPECT_EQ(WRITTEN(initcap_text, text(damaged)).size(), std::string(damaged).size());
  }
}

TEST(Text, MakesNewText) {
  EXPECT_EQ(WRITTEN(concat_text, text("ab"), text("")), "ab");
  EXPECT_EQ(WRITTEN(upper_text, text("aZ1\u00e9\u00df\u0250")), "AZ1\u00c9\u00df\u2c6f");
  EXPECT_EQ(WRITTEN(lower_text, text("aZ1\u00c9\u212a")), "az1\u00e9k");
  EXPECT_EQ(WRITTEN(initcap_text, text("hELLO wORLD-2nd x")), "Hello World-2nd X");
  EXPECT_EQ(WRITTEN(initcap_text, text("\u00e9LAN \u00e0 l'\u00c9T\u00c9 \u24d0\u24d1")),
            "\u00c9lan \u00c0 L'\u00c9t\u00e9 \u24b6\u24d1");
  EXPECT_EQ(WRITTEN(replace_text, text("aXbXX"), text("X"), text("--")), "a--b----");
  EXPECT_EQ(WRITTEN(replace_text, text("aaa"), text("aa"), text("b")), "ba");
  EXPECT_EQ(WRITTEN(replace_text, text("aaa"), text(""), text("b")), "aaa");
  EXPECT_EQ(WRITTEN(replace_text, text("aaa"), text("a"), text("")), "");
  EXPECT_EQ(WRITTEN(translate_text, text("12345"), text("143"), text("ax")), "a2x5");
  EXPECT_EQ(WRITTEN(reverse_text, text("a\xC3\xA9z")),
            "z\xC3\xA9"
            "a");
  EXPECT_EQ(WRITTEN(repeat_text, text("ab"), 3), "ababab");
  EXPECT_EQ(WRITTEN(repeat_text, text("ab"), -3), "");
  EXPECT_EQ(ERROR_OF(dk_repeat_text_size, text("ab"), INT_MAX), DK_LIMIT_EXCEEDED);
}

TEST(Text, Padding) {
  EXPECT_EQ(WRITTEN(lpad_text, text("ab"), 4), "  ab");
  EXPECT_EQ(WRITTEN(lpad_text, text("abcd"), 2), "ab");
  EXPECT_EQ(WRITTEN(lpad_text, text("abcd"), -2), "");
  EXPECT_EQ(WRITTEN(lpad_fill_text, text("ab"), 7, text("xyz")), "xyzxyab");
  EXPECT_EQ(WRITTEN(rpad_fill_text, text("ab"), 7, text("xyz")), "abxyzxy");
  EXPECT_EQ(WRITTEN(lpad_fill_text, text("ab"), 5, text("")), "ab");
  EXPECT_EQ(WRITTEN(rpad_fill_text, text("\xC3\xA9"), 3, text("\xC3\xA9x")), "\xC3\xA9\xC3\xA9x");
  EXPECT_EQ(WRITTEN(rpad_text, text("ab"), 4), "ab  ");
  EXPECT_EQ(ERROR_OF(dk_lpad_text_size, text("ab"), INT_MAX), DK_LIMIT_EXCEEDED);
}

TEST(Text, Characters) {
  EXPECT_EQ(WRITTEN(chr_i32, 65), "A");
  EXPECT_EQ(WRITTEN(chr_i32, 0xE9), "\xC3\xA9");
  EXPECT_EQ(WRITTEN(chr_i32, 0x8A9E), "\xE8\xAA\x9E");
  EXPECT_EQ(WRITTEN(chr_i32, 0x1F600), "\xF0\x9F\x98\x80");
  for (int invalid : {0, 0xD800, 0xDFFF, 0x110000}) EXPECT_EQ(ERROR_OF(dk_chr_i32_size, invalid), DK_LIMIT_EXCEEDED);
  EXPECT_EQ(ERROR_OF(dk_chr_i32_size, -1), DK_INVALID_PARAMETER);
  EXPECT_EQ(WRITTEN(to_hex_i32, 0), "0");
  EXPECT_EQ(WRITTEN(to_hex_i32, -1), "ffffffff");
  EXPECT_EQ(WRITTEN(to_hex_i64, -1L), "ffffffffffffffff");
  EXPECT_EQ(WRITTEN(to_hex_i32, 255), "ff");
}

struct LikeCase {
  const char* text;
  const char* pattern;
  bool like, ilike;
};

TEST(Like, Cases) {
  const LikeCase cases[] = {
      {"", "", true, true},
      {"", "%", true, true},
      {"", "_", false, false},
      {"abc", "abc", true, true},
      {"abc", "ABC", false, true},
      {"abc", "a%", true, true},
      {"abc", "%c", true, true},
      {"abc", "%b%", true, true},
      {"abc", "a_c", true, true},
      {"abc", "a__", true, true},
      {"abc", "a___", false, false},
      {"abc", "%%", true, true},
      {"abc", "%%%c", true, true},
      {"abc", "_%_", true, true},
      {"ab", "_%__", false, false},
      {"aab", "%ab", true, true},
      {"ababac", "%aba%c", true, true},
      {"abab", "%ab_", false, false},
      {"50%", "50\\%", true, true},
      {"50x", "50\\%", false, false},
      {"a_b", "a\\_b", true, true},
      {"axb", "a\\_b", false, false},
      {"a\\b", "a\\\\b", true, true},
      {"\xC3\xA9", "_", true, true},
      {"\xC3\xA9x", "_x", true, true},
      {"\xC3\xA9", "__", false, false},
      {"a\xC3\xA9", "%_", true, true},
      {"x\xC3\xA9", "%\xC3\xA9", true, true},
      {"mississippi", "m%iss%pi", true, true},
      {"mississippi", "m%iss%pX%", false, false},
      {"ab", "\\a\\b", true, true},
      // the escape at the pattern's end is not reached
      {"", "\\", false, false},
      {"b", "a\\", false, false},
      {"a", "a\\", false, false},
  };
  for (const auto& c : cases) {
    std::string what = std::string(c.text) + " like " + c.pattern;
    EXPECT_EQ(VALUE_OF(dk_like_text, text(c.text), text(c.pattern)), c.like) << what;
    EXPECT_EQ(VALUE_OF(dk_ilike_text, text(c.text), text(c.pattern)), c.ilike) << what;
    EXPECT_EQ(ERROR_OF(dk_like_text, text(c.text), text(c.pattern)), 0) << what;
  }
}

TEST(Like, Escapes) {
  auto like = [](const char* a, const char* pattern, const char* escape) {
    return call(dk_like_escape_text, text(a), text(pattern), text(escape));
  };
  EXPECT_EQ(ERROR_OF(dk_like_text, text("ab"), text("a\\")), DK_INVALID_ESCAPE_SEQUENCE);
  EXPECT_EQ(ERROR_OF(dk_like_text, text("ab"), text("%\\")), DK_INVALID_ESCAPE_SEQUENCE);
  EXPECT_TRUE(like("a%", "a#%", "#").value);
  EXPECT_FALSE(like("ab", "a#%", "#").value);
  EXPECT_TRUE(like("a\\", "a\\", "").value);
  EXPECT_TRUE(like("a\\b", "a\\_", "#").value);
  EXPECT_TRUE(like("50%", "50%%", "%").value);
  EXPECT_TRUE(like("a_", "a\xC3\xA9_", "\xC3\xA9").value);
  EXPECT_EQ(like("a", "a", "##").error, DK_INVALID_ESCAPE);
  EXPECT_EQ(like("a", "a", "\xC3\xA9").error, 0);
}

// The definition, with a recursion for every choice of %, as the oracle.
bool matches(std::string_view a, std::string_view pattern) {
  if (pattern.empty()) return a.empty();
  if (pattern[0] == '%') return matches(a, pattern.substr(1)) || (!a.empty() && matches(a.substr(1), pattern));
  return !a.empty() && (pattern[0] == '_' || pattern[0] == a[0]) && matches(a.substr(1), pattern.substr(1));
}

TEST(Like, AgreesWithTheDefinition) {
  Random random;
  for (int i = 0; i < 50000; i++) {
    std::string a;
    std::string pattern;
    for (dk_i64 n = random.below(10); n > 0; n--) a += "ab"[random.below(2)];
    for (dk_i64 n = random.below(8); n > 0; n--) pattern += "ab%_%"[random.below(5)];
    EXPECT_EQ(VALUE_OF(dk_like_text, text(a), text(pattern)), matches(a, pattern)) << a << " like " << pattern;
  }
}

}  // namespace
}  // namespace diptych::testing
