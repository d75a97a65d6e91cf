// Values as PostgreSQL prints them (DateStyle ISO, IntervalStyle postgres), appended to a string.
//
//   append_numeric(out, 1250, 2)  12.50        append_double(out, 1e20)  1e+20
//   append_date(out, -1)          1999-12-31   append_interval(...)      1 mon -3 days +04:05:06.7
//
// One text per value: the shell, the C API, the CSV writer and casts to text all come here, so they can't disagree. The
// functions make no allocation beyond what the string needs and throw nothing else; all are safe to call from any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/type.h"

namespace diptych {

// t or f.
void append_boolean(std::string& out, bool value);

void append_integer(std::string& out, int64_t value);
void append_int128(std::string& out, int128_t value);

// value * 10^-scale with exactly `scale` digits after the point; no point when scale is 0. 0 <= scale <= max_precision.
void append_numeric(std::string& out, int128_t value, int scale);

// The shortest decimal that reads back as the same number, exponents from 1e+15 (double) or 1e+06 (float) and below
// 1e-04; Infinity, -Infinity, NaN. A decimal half way between two neighbours does not count as reading back.
void append_double(std::string& out, double value);
void append_float(std::string& out, float value);

// days since 2000-01-01: 2024-02-29, 0044-03-15 BC, infinity.
void append_date(std::string& out, int32_t days);
// microseconds since 2000-01-01: 2024-02-29 12:00:00.25; trailing zeros of the fraction, and an empty fraction, are
// left out.
void append_timestamp(std::string& out, int64_t microseconds);
void append_interval(std::string& out, const Interval& value);

// text padded with blanks to `length` characters of UTF-8; text that is as long already stays.
void append_padded(std::string& out, std::string_view text, uint32_t length);

}  // namespace diptych
