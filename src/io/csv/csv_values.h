// A field of a CSV file as a value in register form: the shapes that files are full of are read here, everything else
// that PostgreSQL reads by the kernel's casts from text, so that both mean the same.
//
// Each function returns the value and sets `error` (a dk_error) when the field is no such value.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/type.h"

namespace diptych {

// The error code of the kernel as a state.
enum class SqlState;
SqlState state_of_kernel_error(int32_t error);
// The error of a text that is no value of the type at all.
int32_t error_of_syntax(TypeId type);

uint8_t read_boolean(std::string_view field, int32_t& error);
int32_t read_smallint(std::string_view field, int32_t& error);
int32_t read_integer(std::string_view field, int32_t& error);
int64_t read_bigint(std::string_view field, int32_t& error);
int64_t read_numeric64(std::string_view field, const Type& type, int32_t& error);
int128_t read_numeric128(std::string_view field, const Type& type, int32_t& error);
float read_real(std::string_view field, int32_t& error);
double read_double(std::string_view field, int32_t& error);
int32_t read_date(std::string_view field, int32_t& error);
int64_t read_timestamp(std::string_view field, int32_t& error);
Interval read_interval(std::string_view field, int32_t& error);

// Whether the field is a date as ISO 8601 writes it, 2024-02-29; the days since 2000 then.
bool read_iso_date(std::string_view field, int32_t& days);
// Whether it is a date and a time of day that a timestamp keeps as it is, 2024-02-29 10:00[:00[.123456]], with a blank
// or T between them and without a time zone.
bool read_iso_timestamp(std::string_view field, int64_t& value);

}  // namespace diptych
