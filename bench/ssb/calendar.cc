#include "calendar.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "row_text.h"
#include "scale.h"

namespace ssb {
namespace {

using namespace std::chrono;

constexpr sys_days kFirstDay = 1992y / January / 1;

constexpr std::array<std::string_view, 7> kDayNames = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

constexpr std::array<std::string_view, 12> kMonthNames = {"January",   "February", "March",    "April",
                                                          "May",       "June",     "July",     "August",
                                                          "September", "October",  "November", "December"};

// By month, and "Christmas" is November, too.
constexpr std::array<std::string_view, 12> kSeasons = {"Winter", "Winter", "Winter",    "Spring",
                                                       "Summer", "Summer", "Summer",    "Summer",
                                                       "Fall",   "Fall",   "Christmas", "Christmas"};

constexpr std::array<month_day, 10> kHolidays = {January / 1,   February / 20, April / 20,     May / 20,
                                                 July / 20,     August / 20,   September / 20, October / 20,
                                                 November / 20, December / 24};

std::string_view flag(bool value) { return value ? "1" : "0"; }

// One day in the forms that columns need.
struct Day {
  explicit Day(int64_t number) : date(kFirstDay + days(number)), after_last(sys_days(date) + days(1)) {
    year = static_cast<int>(date.year());
    month = static_cast<unsigned>(date.month());
    day = static_cast<unsigned>(date.day());
    in_year = (sys_days(date) - sys_days(date.year() / January / 1)).count() + 1;
    in_week = (weekday(sys_days(date)).c_encoding() + 1) % 7 + 1;
  }

  std::string_view month_name() const { return kMonthNames[month - 1]; }
  bool ends_month() const { return after_last.month() != date.month(); }
  bool is_holiday() const {
    return std::ranges::find(kHolidays, month_day(date.month(), date.day())) != kHolidays.end();
  }
  int32_t key() const { return year * 10000 + static_cast<int32_t>(month * 100 + day); }
  std::string in_words() const {
    return std::string(month_name()) + ' ' + std::to_string(day) + ", " + std::to_string(year);
  }
  std::string year_month() const { return std::string(month_name().substr(0, 3)) + std::to_string(year); }

  year_month_day date, after_last;
  int year;
  unsigned month, day, in_week;  // from 1 on
  int64_t in_year;
};

void append_date(const Day& day, RowText& row) {
  row.field(day.key()).field(day.in_words()).field(kDayNames[day.in_week - 1]).field(day.month_name());
  row.field(day.year).field(day.key() / 100).field(day.year_month());
  row.field(day.in_week).field(day.day).field(day.in_year).field(day.month).field(day.in_year / 7 + 1);
  row.field(kSeasons[day.month - 1]);
  row.field(flag(day.in_week == 7)).field(flag(day.ends_month())).field(flag(day.is_holiday()));
  row.field(flag(day.in_week != 1 && day.in_week != 7));
  row.end_row();
}

}  // namespace

int32_t date_key(int64_t day) {
  static const std::array<int32_t, kDays> keys = [] {
    std::array<int32_t, kDays> made{};
    for (int64_t number = 0; number < kDays; ++number) made[static_cast<size_t>(number)] = Day(number).key();
    return made;
  }();
  return keys[static_cast<size_t>(day)];
}

void append_dates(int64_t first_day, int64_t count, std::string& text) {
  RowText row(text);
  for (int64_t number = first_day; number < first_day + count; ++number) append_date(Day(number), row);
}

}  // namespace ssb
