// Values of a CSV file whose columns' types are made out by looking: a field counts as a value only where the type
// keeps it as it is written, but for how a number is spelt. The first rows decide on a type with these functions, and
// all rows are read with them, so that none is changed without a word.
//
//   bigint            -12; neither 012, +12 nor -0
//   double precision  1.5, 1e5, 12, and NaN or Infinity beside numbers; not 01.5; no whole number that it would round
//   date, timestamp   2024-02-29, 2024-02-29 10:00[:00[.123456]]; none with a time zone
//   boolean           true, false, t, f
//
// Each says whether the field is such a value.
#pragma once

#include <cstdint>
#include <string_view>

namespace diptych {

bool detect_bigint(std::string_view text, int64_t& value);
bool detect_double(std::string_view text, double& value);
bool detect_date(std::string_view text, int32_t& value);
bool detect_timestamp(std::string_view text, int64_t& value);
bool detect_boolean(std::string_view text, uint8_t& value);

// NaN and infinity, which are numbers beside numbers and words alone.
bool is_word_for_double(std::string_view text);

}  // namespace diptych
