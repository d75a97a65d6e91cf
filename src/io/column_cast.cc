#include "io/column_cast.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "kernel/kernel.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

constexpr int64_t microseconds_per_day = int64_t{86400} * 1000000;

int128_t power_of_ten(int exponent) {
  int128_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

// The greatest magnitude; integers reach one further below zero.
int128_t greatest_of(const Type& type) {
  switch (type.id) {
    case TypeId::SmallInt: return INT16_MAX;
    case TypeId::Integer: return INT32_MAX;
    case TypeId::BigInt: return INT64_MAX;
    default: return power_of_ten(type.precision) - 1;
  }
}

// Exact numbers to another scale and range, halves away from zero.
class ExactCast {
 public:
  ExactCast(const Type& from, const Type& to)
      : shift_(scale_of(to) - scale_of(from)), power_(power_of_ten(std::abs(shift_))), high_(greatest_of(to)) {
    low_ = to.id == TypeId::Numeric ? -high_ : -high_ - 1;
  }
  bool operator()(int128_t value, int128_t& result) const {
    if (shift_ > 0 && __builtin_mul_overflow(value, power_, &value)) return false;
    if (shift_ < 0) {
      int128_t rest = value % power_;
      value /= power_;
      const int128_t dropped = rest < 0 ? -rest : rest;
      if (dropped >= power_ - dropped) value += rest < 0 ? -1 : 1;
    }
    result = value;
    return value >= low_ && value <= high_;
  }

 private:
  int shift_;
  int128_t power_, high_, low_ = 0;
};

[[noreturn]] void out_of_range(const Type& to, const std::string& where) {
  throw Error(SqlState::numeric_value_out_of_range, where + ": a value is out of range for type " + to.name());
}

// values[i] = convert(values[i]) for rows that are not null; convert says false when the result has no such value.
template <typename From, typename To, typename Convert>
bool convert_rows(OwnedColumn& column, int64_t rows, Convert convert) {
  const From* from = static_cast<const From*>(column.view.values);
  AlignedBuffer converted(static_cast<size_t>(rows) * sizeof(To));
  To* to = converted.as<To>();
  for (int64_t i = 0; i < rows; ++i) {
    to[i] = To{};
    if (!column.view.is_null(i) && !convert(from[i], to[i])) return false;
  }
  column.values = std::move(converted);
  column.view.values = column.values.data();
  return true;
}

template <typename From, typename To>
bool cast_exact(OwnedColumn& column, int64_t rows, const Type& from, const Type& to) {
  ExactCast cast(from, to);
  return convert_rows<From, To>(column, rows, [&cast](From value, To& result) {
    int128_t wide = 0;
    bool fits = cast(value, wide);
    result = static_cast<To>(wide);
    return fits;
  });
}

template <typename From, typename To>
bool cast_to_float(OwnedColumn& column, int64_t rows, const Type& from) {
  const int scale = scale_of(from);
  return convert_rows<From, To>(column, rows, [scale](From value, To& result) {
    int32_t error = DK_OK;
    if (scale == 0 && sizeof(From) < sizeof(int128_t))
      result = static_cast<To>(value);
    else if (sizeof(To) == sizeof(float))
      result = static_cast<To>(dk_cast_n128_f32(dk_of_native(value), scale, &error));
    else
      result = static_cast<To>(dk_cast_n128_f64(dk_of_native(value), scale));
    return error == DK_OK;
  });
}

template <typename From, typename To>
bool cast_float(OwnedColumn& column, int64_t rows) {
  return convert_rows<From, To>(column, rows, [](From value, To& result) {
    result = static_cast<To>(value);
    return !(std::isinf(result) && std::isfinite(value));
  });
}

template <typename From, typename To>
bool cast_float_to_integer(OwnedColumn& column, int64_t rows, const Type& to) {
  double limit = static_cast<double>(greatest_of(to)) + 1;
  return convert_rows<From, To>(column, rows, [limit](From value, To& result) {
    double rounded = std::nearbyint(static_cast<double>(value));
    if (!(rounded >= -limit && rounded < limit)) return false;
    result = static_cast<To>(rounded);
    return true;
  });
}

template <typename From>
bool cast_number_from(OwnedColumn& column, int64_t rows, const Type& from, const Type& to) {
  if constexpr (std::is_floating_point_v<From>) {
    switch (to.physical()) {
      case PhysicalType::Float32: return cast_float<From, float>(column, rows);
      case PhysicalType::Float64: return cast_float<From, double>(column, rows);
      case PhysicalType::Int32: return cast_float_to_integer<From, int32_t>(column, rows, to);
      default: return cast_float_to_integer<From, int64_t>(column, rows, to);
    }
  } else {
    switch (to.physical()) {
      case PhysicalType::Float32: return cast_to_float<From, float>(column, rows, from);
      case PhysicalType::Float64: return cast_to_float<From, double>(column, rows, from);
      case PhysicalType::Int32: return cast_exact<From, int32_t>(column, rows, from, to);
      case PhysicalType::Int64: return cast_exact<From, int64_t>(column, rows, from, to);
      default: return cast_exact<From, int128_t>(column, rows, from, to);
    }
  }
}

bool cast_number(OwnedColumn& column, int64_t rows, const Type& from, const Type& to) {
  switch (from.physical()) {
    case PhysicalType::Int32: return cast_number_from<int32_t>(column, rows, from, to);
    case PhysicalType::Int64: return cast_number_from<int64_t>(column, rows, from, to);
    case PhysicalType::Int128: return cast_number_from<int128_t>(column, rows, from, to);
    case PhysicalType::Float32: return cast_number_from<float>(column, rows, from, to);
    default: return cast_number_from<double>(column, rows, from, to);
  }
}

bool to_timestamp(int32_t days, int64_t& microseconds) {
  if (days == INT32_MAX || days == INT32_MIN) {
    microseconds = days > 0 ? INT64_MAX : INT64_MIN;
    return true;
  }
  return !__builtin_mul_overflow(int64_t{days}, microseconds_per_day, &microseconds);
}

bool to_date(int64_t microseconds, int32_t& days) {
  if (microseconds == INT64_MAX || microseconds == INT64_MIN) {
    days = microseconds > 0 ? INT32_MAX : INT32_MIN;
    return true;
  }
  days = static_cast<int32_t>(microseconds / microseconds_per_day - (microseconds % microseconds_per_day < 0 ? 1 : 0));
  return true;
}

size_t characters_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Rewrites the strings (or those of the dictionary that the codes index), each cut to what its type keeps.
void fit_strings(OwnedColumn& column, int64_t entries, const Type& to, const std::string& where) {
  const uint32_t* from = column.view.offsets;
  AlignedBuffer offsets((static_cast<size_t>(entries) + 1) * sizeof(uint32_t));
  AlignedBuffer bytes(from[entries] - from[0]);
  uint32_t end = 0;
  for (int64_t i = 0; i < entries; ++i) {
    offsets.as<uint32_t>()[i] = end;
    if (column.view.codes == nullptr && column.view.is_null(i)) continue;
    std::string_view text(column.view.bytes + from[i], from[i + 1] - from[i]);
    if (!fit_string(text, to)) {
      throw Error(SqlState::string_data_right_truncation, where + ": a value is too long for type " + to.name());
    }
    if (!text.empty()) std::memcpy(bytes.data() + end, text.data(), text.size());
    end += static_cast<uint32_t>(text.size());
  }
  offsets.as<uint32_t>()[entries] = end;
  column.offsets = std::move(offsets);
  column.bytes = std::move(bytes);
  column.view.offsets = column.offsets.as<uint32_t>();
  column.view.bytes = column.bytes.as<char>();
}

int64_t entries_of(const BatchColumn& column, int64_t rows) {
  if (column.codes == nullptr) return rows;
  int64_t entries = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (!column.is_null(i)) entries = std::max<int64_t>(entries, int64_t{column.codes[i]} + 1);
  }
  return entries;
}

// No value of `from` can fail to be one of `to` in the same form.
bool holds_every_value(const Type& from, const Type& to) {
  if (from == to || to.id == TypeId::Text) return true;
  if (from.id == TypeId::SmallInt && to.id == TypeId::Integer) return true;
  return from.id == TypeId::Numeric && to.id == TypeId::Numeric && from.scale == to.scale &&
         from.precision <= to.precision && from.physical() == to.physical();
}

}  // namespace

bool fit_string(std::string_view& text, const Type& type) {
  if (type.id == TypeId::Char && type.length > 0) {
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  }
  if (type.length == 0 || text.size() <= type.length) return true;
  while (text.back() == ' ' && characters_of(text) > type.length) text.remove_suffix(1);
  return characters_of(text) <= type.length;
}

bool can_cast_column(const Type& from, const Type& to) {
  if (from.is_string() || to.is_string()) return from.is_string() && to.is_string();
  if (from.is_number() && to.is_number()) return !(from.is_float() && to.id == TypeId::Numeric);
  return from.id == to.id || (from.is_temporal() && to.is_temporal());
}

void cast_column(OwnedColumn& column, int64_t rows, const Type& from, const Type& to, const std::string& where) {
  check_invariant(can_cast_column(from, to), "a column is cast to a type it can be cast to");
  if (holds_every_value(from, to)) return;
  column.view.physical = to.physical();
  if (to.is_string()) {
    fit_strings(column, entries_of(column.view, rows), to, where);
  } else if (from.is_temporal()) {
    bool fits = to.id == TypeId::Timestamp ? convert_rows<int32_t, int64_t>(column, rows, to_timestamp)
                                           : convert_rows<int64_t, int32_t>(column, rows, to_date);
    if (!fits)
      throw Error(SqlState::datetime_field_overflow, where + ": a value is out of range for type " + to.name());
  } else if (from.is_number() && !cast_number(column, rows, from, to)) {
    out_of_range(to, where);
  }
}

}  // namespace diptych
