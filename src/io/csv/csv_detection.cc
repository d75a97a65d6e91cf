#include "io/csv/csv_detection.h"

#include <algorithm>
#include <cmath>

#include "io/csv/csv_values.h"

namespace diptych {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// word: in lower case.
bool is_word(std::string_view text, std::string_view word) {
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Zeros ahead and a plus are part of a code, such as a telephone number, that a number would not keep.
bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text[0] == '0' && text.size() > 1)) return false;
  return std::all_of(text.begin(), text.end(), is_digit);
}

size_t take_digits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

// digits[.digits][e[+-]digits], with at least a digit before or behind the point.
bool is_decimal(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool begins_with_zero = text.starts_with('0');
  size_t digits = take_digits(text);
  if (begins_with_zero && digits > 1) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += take_digits(text);
  }
  if (digits == 0) return false;
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return take_digits(text) > 0 && text.empty();
}

}  // namespace

bool detect_bigint(std::string_view text, int64_t& value) {
  text = without_blanks(text);
  if (!is_whole_number(text) || text == "-0") return false;
  int32_t error = 0;
  value = read_bigint(text, error);
  return error == 0;
}

bool detect_double(std::string_view text, double& value) {
  text = without_blanks(text);
  if (!is_decimal(text) && !is_word_for_double(text)) return false;
  int32_t error = 0;
  value = read_double(text, error);
  constexpr double exact_below = 9007199254740992.0;  // 2^53
  return error == 0 && (std::abs(value) < exact_below || !is_whole_number(text));
}

bool detect_date(std::string_view text, int32_t& value) { return read_iso_date(text, value); }

bool detect_timestamp(std::string_view text, int64_t& value) { return read_iso_timestamp(text, value); }

bool detect_boolean(std::string_view text, uint8_t& value) {
  value = is_word(text, "true") || is_word(text, "t") ? 1 : 0;
  return value != 0 || is_word(text, "false") || is_word(text, "f");
}

bool is_word_for_double(std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with('-')) text.remove_prefix(1);
  return is_word(text, "nan") || is_word(text, "inf") || is_word(text, "infinity");
}

}  // namespace diptych
