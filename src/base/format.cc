#include "base/format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace diptych {

namespace {

constexpr uint64_t power_10_18 = 1'000'000'000'000'000'000;

// "00" "01" ... "99": two digits are written at a time.
constexpr std::array<char, 200> digit_pairs = [] {
  std::array<char, 200> pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Writes the digits of value so that they end before `end`; returns where they begin. Zero is one digit.
char* write_digits(char* end, uint64_t value) {
  while (value >= 100) {
    end -= 2;
    std::memcpy(end, &digit_pairs[2 * (value % 100)], 2);
    value /= 100;
  }
  if (value >= 10) {
    end -= 2;
    std::memcpy(end, &digit_pairs[2 * value], 2);
  } else {
    *--end = static_cast<char>('0' + value);
  }
  return end;
}

// As write_digits, with leading zeros up to `width` digits.
char* write_padded_digits(char* end, uint64_t value, int width) {
  char* begin = write_digits(end, value);
  while (end - begin < width) *--begin = '0';
  return begin;
}

char* write_digits_128(char* end, uint128_t value) {
  if (value <= std::numeric_limits<uint64_t>::max()) return write_digits(end, static_cast<uint64_t>(value));
  char* begin = end;
  while (value >= power_10_18) {
    begin = write_padded_digits(begin, static_cast<uint64_t>(value % power_10_18), 18);
    value /= power_10_18;
  }
  return value == 0 ? begin : write_digits(begin, static_cast<uint64_t>(value));
}

uint128_t magnitude(int128_t value) {
  return value < 0 ? uint128_t{0} - static_cast<uint128_t>(value) : static_cast<uint128_t>(value);
}

// A shortest decimal: digits (no point, first one not 0) and the exponent of ten of the first digit.
struct Decimal {
  char digits[24];
  int count = 0;
  int exponent = 0;
};

// Reads what std::to_chars wrote in scientific form: 1e+20, 1.25e-07.
Decimal read_scientific(const char* begin, const char* end) {
  Decimal result;
  const char* at = begin;
  for (; at != end && *at != 'e'; ++at) {
    if (*at != '.') result.digits[result.count++] = *at;
  }
  ++at;
  if (*at == '+') ++at;
  std::from_chars(at, end, result.exponent);
  while (result.count > 1 && result.digits[result.count - 1] == '0') --result.count;
  return result;
}

// Whether the decimal lies exactly half way between value and a neighbour of it. Only a whole number of at most 17
// digits times 10^0..10^23 can: any other has more factors of five than a midpoint's 54 bits hold.
template <typename Float>
bool is_midpoint(const Decimal& decimal, Float value) {
  const int power = decimal.exponent - (decimal.count - 1);
  if (power < 0 || power > 23) return false;
  uint128_t odd = 0;
  for (int i = 0; i < decimal.count; ++i) odd = odd * 10 + static_cast<unsigned>(decimal.digits[i] - '0');
  for (int i = 0; i < power; ++i) odd *= 5;
  int exponent = power;
  for (; (odd & 1) == 0; odd >>= 1) ++exponent;

  constexpr int mantissa_bits = std::numeric_limits<Float>::digits;
  int value_exponent = 0;
  const Float fraction = std::frexp(value, &value_exponent);
  const auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, mantissa_bits));
  value_exponent -= mantissa_bits;
  const bool below = odd == 2 * mantissa - 1 && exponent == value_exponent - 1;
  const bool above = odd == 2 * mantissa + 1 && exponent == value_exponent - 1;
  const bool below_power_of_two =
      std::has_single_bit(mantissa) && odd == 4 * mantissa - 1 && exponent == value_exponent - 2;
  return below || above || below_power_of_two;
}

// PostgreSQL prints the shortest decimal strictly between the midpoints around the number; std::to_chars also takes a
// midpoint when reading rounds it to the number (1e23). Then one digit more, until it is inside.
template <typename Float>
Decimal shortest(Float value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  Decimal decimal = read_scientific(text, end);
  if (!is_midpoint(decimal, value)) return decimal;
  for (int digits = decimal.count; digits <= std::numeric_limits<Float>::max_digits10; ++digits) {
    end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits - 1).ptr;
    Float back = 0;
    std::from_chars(text, end, back);
    decimal = read_scientific(text, end);
    if (back == value && !is_midpoint(decimal, value)) break;
  }
  return decimal;
}

void append_fixed(std::string& out, const Decimal& decimal) {
  if (decimal.exponent < 0) {
    out.append("0.");
    out.append(static_cast<size_t>(-decimal.exponent - 1), '0');
    out.append(decimal.digits, static_cast<size_t>(decimal.count));
    return;
  }
  const int whole = decimal.exponent + 1;
  out.append(decimal.digits, static_cast<size_t>(std::min(whole, decimal.count)));
  if (decimal.count > whole) {
    out.push_back('.');
    out.append(decimal.digits + whole, static_cast<size_t>(decimal.count - whole));
  } else {
    out.append(static_cast<size_t>(whole - decimal.count), '0');
  }
}

void append_scientific(std::string& out, const Decimal& decimal) {
  out.push_back(decimal.digits[0]);
  if (decimal.count > 1) {
    out.push_back('.');
    out.append(decimal.digits + 1, static_cast<size_t>(decimal.count - 1));
  }
  out.push_back('e');
  out.push_back(decimal.exponent < 0 ? '-' : '+');
  char text[8];
  char* end = text + sizeof text;
  char* begin = write_padded_digits(end, static_cast<uint64_t>(std::abs(decimal.exponent)), 2);
  out.append(begin, end);
}

// Exponents from -4 up to (not including) `first_scientific` are printed without an exponent.
template <typename Float>
void append_floating(std::string& out, Float value, int first_scientific, Float whole_limit) {
  if (std::isnan(value)) {
    out.append("NaN");
    return;
  }
  if (std::signbit(value)) {
    out.push_back('-');
    value = -value;
  }
  if (std::isinf(value)) {
    out.append("Infinity");
  } else if (value < whole_limit && value == std::floor(value)) {
    append_integer(out, static_cast<int64_t>(value));
  } else {
    const Decimal decimal = shortest(value);
    if (decimal.exponent >= -4 && decimal.exponent < first_scientific) {
      append_fixed(out, decimal);
    } else {
      append_scientific(out, decimal);
    }
  }
}

struct CivilDate {
  int64_t year;
  unsigned month;
  unsigned day;
};

// Days since 2000-01-01 to the proleptic Gregorian calendar: Howard Hinnant, "chrono-compatible low-level date
// algorithms", civil_from_days, with the year beginning in March so that the leap day comes last.
CivilDate civil_of_days(int64_t days) {
  constexpr int64_t days_0000_03_01_to_2000_01_01 = 730'425;
  constexpr int64_t days_per_era = 146'097;  // 400 years
  days += days_0000_03_01_to_2000_01_01;
  const int64_t era = (days >= 0 ? days : days - (days_per_era - 1)) / days_per_era;
  const auto day_of_era = static_cast<unsigned>(days - era * days_per_era);
  const unsigned year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned shifted_month = (5 * day_of_year + 2) / 153;
  const unsigned month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day_of_year - (153 * shifted_month + 2) / 5 + 1};
}

// Writes YYYY-MM-DD, the year as BC counts it when there is none after; the caller adds " BC".
void append_civil(std::string& out, const CivilDate& date) {
  char text[32];
  char* end = text + sizeof text;
  char* at = write_padded_digits(end, date.day, 2);
  *--at = '-';
  at = write_padded_digits(at, date.month, 2);
  *--at = '-';
  at = write_padded_digits(at, static_cast<uint64_t>(date.year > 0 ? date.year : 1 - date.year), 4);
  out.append(at, end);
}

// .5 for 500000 microseconds; nothing for 0.
void append_fraction(std::string& out, unsigned microseconds) {
  if (microseconds == 0) return;
  char text[8];
  char* end = text + 7;
  char* begin = write_padded_digits(end, microseconds, 6);
  *--begin = '.';
  while (end[-1] == '0') --end;
  out.append(begin, end);
}

constexpr uint64_t microseconds_per_second = 1'000'000;
constexpr int64_t microseconds_per_day = 86'400'000'000;

// HH:MM:SS[.ffffff]; hours may have more than two digits.
void append_time(std::string& out, uint64_t microseconds) {
  const uint64_t seconds = microseconds / microseconds_per_second;
  char text[32];
  char* end = text + sizeof text;
  char* at = write_padded_digits(end, seconds % 60, 2);
  *--at = ':';
  at = write_padded_digits(at, seconds / 60 % 60, 2);
  *--at = ':';
  at = write_padded_digits(at, seconds / 3600, 2);
  out.append(at, end);
  append_fraction(out, static_cast<unsigned>(microseconds % microseconds_per_second));
}

// Writes the date and time parts of an interval, as PostgreSQL's EncodeInterval does: each part has its own sign, and a
// positive part after a negative one says so.
class IntervalWriter {
 public:
  explicit IntervalWriter(std::string& out) : out_(out) {}

  void part(int32_t value, const char* unit) {
    if (value == 0) return;
    if (!empty_) out_.push_back(' ');
    if (after_negative_ && value > 0) out_.push_back('+');
    append_integer(out_, value);
    out_.push_back(' ');
    out_.append(unit);
    if (value != 1) out_.push_back('s');
    after_negative_ = value < 0;
    empty_ = false;
  }

  void time(int64_t microseconds) {
    if (microseconds == 0 && !empty_) return;
    if (!empty_) out_.push_back(' ');
    if (microseconds < 0) {
      out_.push_back('-');
    } else if (after_negative_) {
      out_.push_back('+');
    }
    append_time(out_, static_cast<uint64_t>(magnitude(microseconds)));
  }

 private:
  std::string& out_;
  bool empty_ = true;
  bool after_negative_ = false;
};

}  // namespace

void append_boolean(std::string& out, bool value) { out.push_back(value ? 't' : 'f'); }

void append_integer(std::string& out, int64_t value) {
  char text[24];
  char* end = text + sizeof text;
  char* begin =
      write_digits(end, value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  if (value < 0) *--begin = '-';
  out.append(begin, end);
}

void append_int128(std::string& out, int128_t value) { append_numeric(out, value, 0); }

void append_numeric(std::string& out, int128_t value, int scale) {
  char text[2 * max_precision + 8];
  char* end = text + sizeof text;
  char* begin = write_digits_128(end, magnitude(value));
  if (scale > 0) {
    while (end - begin <= scale) *--begin = '0';
    const auto whole = static_cast<size_t>(end - begin - scale);
    std::memmove(begin - 1, begin, whole);
    --begin;
    begin[whole] = '.';
  }
  if (value < 0) *--begin = '-';
  out.append(begin, end);
}

void append_double(std::string& out, double value) { append_floating(out, value, 15, 1e15); }

void append_float(std::string& out, float value) { append_floating(out, value, 6, 1e6F); }

void append_date(std::string& out, int32_t days) {
  if (days == std::numeric_limits<int32_t>::max()) {
    out.append("infinity");
  } else if (days == std::numeric_limits<int32_t>::min()) {
    out.append("-infinity");
  } else {
    const CivilDate date = civil_of_days(days);
    append_civil(out, date);
    if (date.year <= 0) out.append(" BC");
  }
}

void append_timestamp(std::string& out, int64_t microseconds) {
  if (microseconds == std::numeric_limits<int64_t>::max()) {
    out.append("infinity");
  } else if (microseconds == std::numeric_limits<int64_t>::min()) {
    out.append("-infinity");
  } else {
    int64_t days = microseconds / microseconds_per_day;
    int64_t time = microseconds % microseconds_per_day;
    if (time < 0) {
      time += microseconds_per_day;
      --days;
    }
    const CivilDate date = civil_of_days(days);
    append_civil(out, date);
    out.push_back(' ');
    append_time(out, static_cast<uint64_t>(time));
    if (date.year <= 0) out.append(" BC");
  }
}

void append_interval(std::string& out, const Interval& value) {
  IntervalWriter writer(out);
  writer.part(value.months / 12, "year");
  writer.part(value.months % 12, "mon");
  writer.part(value.days, "day");
  writer.time(value.microseconds);
}

void append_padded(std::string& out, std::string_view text, uint32_t length) {
  out.append(text);
  // Every byte but a continuation byte (10xxxxxx) begins a character.
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  if (characters < static_cast<int64_t>(length)) out.append(length - static_cast<size_t>(characters), ' ');
}

}  // namespace diptych
