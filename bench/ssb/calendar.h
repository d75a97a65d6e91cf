// The table date, and the days that orders name: 1992-01-01 to 1998-12-31, counted from 0.
#pragma once

#include <cstdint>
#include <string>

namespace ssb {

// As tables hold a day: 19920101.
int32_t date_key(int64_t day);

// Rows of the days first_day to first_day + count - 1.
//
//   19920101|January 1, 1992|Thursday|January|1992|199201|Jan1992|5|1|1|1|1|Winter|0|0|1|1|
//
// The name of a day is the next day's: 1992-01-01 was a Wednesday. The reference generator has it so.
void append_dates(int64_t first_day, int64_t count, std::string& text);

}  // namespace ssb
