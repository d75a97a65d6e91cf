#include "io/csv/csv_values.h"

#include <array>
#include <string>

#include "base/error.h"
#include "kernel/kernel.h"
// After kernel.h, whose functions it uses.
#include "kernel/convert_host.h"

namespace diptych {
namespace {

// Digits [from, to) as a number, -1 when another character is among them. At most 18.
int64_t digits_of(const char* from, const char* to) {
  int64_t value = 0;
  unsigned other = 0;
  for (; from < to; ++from) {
    unsigned digit = static_cast<unsigned char>(*from) - unsigned{'0'};
    other |= digit > 9 ? 1 : 0;
    value = value * 10 + digit;
  }
  return other != 0 ? -1 : value;
}

constexpr size_t most_digits = 18;

// A whole number of up to 18 digits without blanks and plus; false for any other.
bool read_plain_integer(std::string_view field, int64_t& value) {
  bool negative = !field.empty() && field[0] == '-';
  if (negative) field.remove_prefix(1);
  if (field.empty() || field.size() > most_digits) return false;
  int64_t magnitude = digits_of(field.data(), field.data() + field.size());
  value = negative ? -magnitude : magnitude;
  return magnitude >= 0;
}

constexpr std::array<int64_t, 19> powers_of_ten = [] {
  std::array<int64_t, 19> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// digits[.digits] with no more digits on either side than the type has; false for any other.
bool read_plain_decimal(std::string_view field, const Type& type, int64_t& value) {
  bool negative = !field.empty() && field[0] == '-';
  if (negative) field.remove_prefix(1);
  size_t point = field.find('.');
  size_t whole = point == std::string_view::npos ? field.size() : point;
  size_t fraction = point == std::string_view::npos ? 0 : field.size() - point - 1;
  if (whole == 0 || whole + type.scale > most_digits || fraction > type.scale) return false;
  int64_t whole_value = digits_of(field.data(), field.data() + whole);
  int64_t fraction_value = fraction == 0 ? 0 : digits_of(field.data() + point + 1, field.data() + field.size());
  if (whole_value < 0 || fraction_value < 0 || whole_value >= powers_of_ten[type.precision - type.scale]) return false;
  int64_t magnitude = whole_value * powers_of_ten[type.scale] + fraction_value * powers_of_ten[type.scale - fraction];
  value = negative ? -magnitude : magnitude;
  return true;
}

// hh:mm:ss[.f] with up to 6 digits of fraction; false for any other.
bool read_plain_time(std::string_view field, int64_t& microseconds) {
  if (field.size() < 8 || field[2] != ':' || field[5] != ':') return false;
  const char* at = field.data();
  int64_t hour = digits_of(at, at + 2), minute = digits_of(at + 3, at + 5), second = digits_of(at + 6, at + 8),
          fraction = 0;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;
  if (field.size() > 8) {
    size_t digits = field.size() - 9;
    if (field[8] != '.' || digits == 0 || digits > 6) return false;
    fraction = digits_of(at + 9, at + field.size());
    if (fraction < 0) return false;
    fraction *= powers_of_ten[6 - digits];
  }
  microseconds = ((hour * 60 + minute) * 60 + second) * 1000000 + fraction;
  return true;
}

}  // namespace

SqlState state_of_kernel_error(int32_t error) {
  switch (error) {
#define DIPTYCH_ROW(name, state, text) \
  case name: return SqlState::state;
    DK_ERRORS(DIPTYCH_ROW)
#undef DIPTYCH_ROW
    default: return SqlState::internal_error;
  }
}

int32_t error_of_syntax(TypeId type) {
  return type == TypeId::Date || type == TypeId::Timestamp ? DK_INVALID_DATETIME : DK_INVALID_TEXT;
}

bool read_iso_date(std::string_view field, int32_t& days) {
  if (field.size() != 10 || field[4] != '-' || field[7] != '-') return false;
  const char* at = field.data();
  int64_t year = digits_of(at, at + 4), month = digits_of(at + 5, at + 7), day = digits_of(at + 8, at + 10);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > dk_days_in_month(year, static_cast<int32_t>(month)))
    return false;
  days = static_cast<int32_t>(dk_days_of_civil(year, static_cast<int32_t>(month), static_cast<int32_t>(day)));
  return true;
}

bool read_iso_timestamp(std::string_view field, int64_t& value) {
  int32_t days = 0;
  int64_t time = 0;
  if (field.size() < 16 || (field[10] != ' ' && field[10] != 'T') || !read_iso_date(field.substr(0, 10), days))
    return false;
  std::string seconds(field.substr(11));
  if (seconds.size() == 5) seconds += ":00";
  // Zeros behind microseconds say nothing.
  while (seconds.size() > 15 && seconds.back() == '0') seconds.pop_back();
  if (!read_plain_time(seconds, time)) return false;
  value = days * DK_USECS_PER_DAY + time;
  return true;
}

uint8_t read_boolean(std::string_view field, int32_t& error) { return dk_cast_text_bool(dk_text_of(field), &error); }

int32_t read_smallint(std::string_view field, int32_t& error) {
  int64_t value = 0;
  if (read_plain_integer(field, value) && value >= INT16_MIN && value <= INT16_MAX) return static_cast<int32_t>(value);
  return dk_cast_text_i16(dk_text_of(field), &error);
}

int32_t read_integer(std::string_view field, int32_t& error) {
  int64_t value = 0;
  if (read_plain_integer(field, value) && value >= INT32_MIN && value <= INT32_MAX) return static_cast<int32_t>(value);
  return dk_cast_text_i32(dk_text_of(field), &error);
}

int64_t read_bigint(std::string_view field, int32_t& error) {
  int64_t value = 0;
  return read_plain_integer(field, value) ? value : dk_cast_text_i64(dk_text_of(field), &error);
}

int64_t read_numeric64(std::string_view field, const Type& type, int32_t& error) {
  int64_t value = 0;
  if (read_plain_decimal(field, type, value)) return value;
  return dk_cast_text_n64(dk_text_of(field), type.precision, type.scale, &error);
}

int128_t read_numeric128(std::string_view field, const Type& type, int32_t& error) {
  dk_i128 value = dk_cast_text_n128(dk_text_of(field), type.precision, type.scale, &error);
  return static_cast<int128_t>((static_cast<uint128_t>(value.hi) << 64) | value.lo);
}

float read_real(std::string_view field, int32_t& error) { return dk_cast_text_f32(dk_text_of(field), &error); }
double read_double(std::string_view field, int32_t& error) { return dk_cast_text_f64(dk_text_of(field), &error); }

int32_t read_date(std::string_view field, int32_t& error) {
  int32_t days = 0;
  return read_iso_date(field, days) ? days : dk_cast_text_date(dk_text_of(field), &error);
}

int64_t read_timestamp(std::string_view field, int32_t& error) {
  int32_t days = 0;
  int64_t time = 0;
  if (field.size() > 11 && (field[10] == ' ' || field[10] == 'T') && read_iso_date(field.substr(0, 10), days) &&
      read_plain_time(field.substr(11), time)) {
    return days * DK_USECS_PER_DAY + time;
  }
  return dk_cast_text_timestamp(dk_text_of(field), &error);
}

Interval read_interval(std::string_view field, int32_t& error) {
  dk_interval value = dk_cast_text_interval(dk_text_of(field), &error);
  return {value.months, value.days, value.microseconds};
}

}  // namespace diptych
