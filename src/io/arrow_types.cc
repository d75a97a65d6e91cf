#include "io/arrow_types.h"

#include <arrow/util/float16.h>
#include <arrow/util/utf8.h>

#include <cstring>

#include "base/error.h"
#include "base/type_limits.h"

namespace diptych {
namespace {

// values[i] = convert(source[i]), for null rows too: their values are never looked at but must not fail.
template <typename From, typename To, typename Convert>
void convert_values(const arrow::Array& array, OwnedColumn& column, Convert convert) {
  const From* from = array.data()->GetValues<From>(1);
  To* to = column.make_values<To>(array.length());
  for (int64_t i = 0; i < array.length(); ++i) to[i] = convert(from[i]);
}

template <typename T>
void view_values(const arrow::Array& array, OwnedColumn& column) {
  column.view.values = array.data()->GetValues<T>(1);
}

void convert_booleans(const arrow::Array& array, OwnedColumn& column) {
  const auto& booleans = static_cast<const arrow::BooleanArray&>(array);
  uint8_t* to = column.make_values<uint8_t>(array.length());
  for (int64_t i = 0; i < array.length(); ++i) to[i] = booleans.Value(i) ? 1 : 0;
}

// Digits beyond the precision that the file's schema gives the column would pass for proven not to be there.
void check_digits(const arrow::Array& array, const OwnedColumn& column, const int128_t* values, int precision,
                  const std::string& where) {
  const int128_t end = power_of_ten(precision);
  for (int64_t i = 0; i < array.length(); ++i) {
    int128_t value;
    std::memcpy(&value, values + i, sizeof value);
    if (value > -end && value < end) continue;
    if (!column.view.is_null(i))
      throw Error(SqlState::data_corrupted, where + ": a value has more than " + std::to_string(precision) + " digits");
  }
}

void convert_decimals(const arrow::Array& array, OwnedColumn& column, int precision, const std::string& where) {
  const auto* from = reinterpret_cast<const int64_t*>(array.data()->GetValues<uint8_t>(1, array.offset() * 16));
  check_digits(array, column, reinterpret_cast<const int128_t*>(from), precision, where);
  if (precision <= max_int64_precision) {
    int64_t* to = column.make_values<int64_t>(array.length());
    for (int64_t i = 0; i < array.length(); ++i) to[i] = from[2 * i];
  } else {
    int128_t* to = column.make_values<int128_t>(array.length());
    std::memcpy(to, from, static_cast<size_t>(array.length()) * sizeof(int128_t));
  }
}

// One that would pass for infinite is out of range, too.
void convert_dates(const arrow::Array& array, OwnedColumn& column, const std::string& where) {
  const int32_t* from = array.data()->GetValues<int32_t>(1);
  int32_t* to = column.make_values<int32_t>(array.length());
  for (int64_t i = 0; i < array.length(); ++i) {
    int64_t days = column.view.is_null(i) ? 0 : from[i] - days_from_1970_to_2000;
    if (days <= INT32_MIN) throw Error(SqlState::datetime_field_overflow, where + ": a date is out of range");
    to[i] = static_cast<int32_t>(days);
  }
}

void convert_timestamps(const arrow::Array& array, OwnedColumn& column, arrow::TimeUnit::type unit,
                        const std::string& where) {
  const int64_t* from = array.data()->GetValues<int64_t>(1);
  int64_t* to = column.make_values<int64_t>(array.length());
  for (int64_t i = 0; i < array.length(); ++i) {
    std::optional<int64_t> value = 0;
    if (!column.view.is_null(i)) value = timestamp_of(from[i], unit);
    if (!value) throw Error(SqlState::datetime_field_overflow, where + ": a timestamp is out of range");
    to[i] = *value;
  }
}

void check_utf8(const char* bytes, int64_t count, const std::string& where) {
  static const bool initialised = (arrow::util::InitializeUTF8(), true);
  if (initialised && !arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(bytes), count)) {
    throw Error(SqlState::character_not_in_repertoire, where + ": a text is not valid UTF-8");
  }
}

// Strings with 32-bit offsets are viewed as they are.
void view_strings(const arrow::Array& array, OwnedColumn& column, const std::string& where) {
  const auto& strings = static_cast<const arrow::BinaryArray&>(array);
  column.view.offsets = reinterpret_cast<const uint32_t*>(strings.raw_value_offsets());
  column.view.bytes = reinterpret_cast<const char*>(strings.raw_data());
  if (strings.length() > 0)
    check_utf8(column.view.bytes + column.view.offsets[0], strings.total_values_length(), where);
}

// Strings of any other layout are copied.
template <typename ArrayType>
void copy_strings(const arrow::Array& array, OwnedColumn& column, const std::string& where) {
  const auto& strings = static_cast<const ArrayType&>(array);
  column.offsets.resize((static_cast<size_t>(array.length()) + 1) * sizeof(uint32_t));
  uint32_t* offsets = column.offsets.as<uint32_t>();
  size_t total = 0;
  for (int64_t i = 0; i < array.length(); ++i) total += strings.IsNull(i) ? 0 : strings.GetView(i).size();
  if (total > UINT32_MAX)
    throw Error(SqlState::program_limit_exceeded, where + ": the strings of a batch are longer than 4 GiB");
  column.bytes.resize(total);
  size_t end = 0;
  for (int64_t i = 0; i < array.length(); ++i) {
    offsets[i] = static_cast<uint32_t>(end);
    if (strings.IsNull(i)) continue;
    std::string_view text = strings.GetView(i);
    if (!text.empty()) std::memcpy(column.bytes.data() + end, text.data(), text.size());
    end += text.size();
  }
  offsets[array.length()] = static_cast<uint32_t>(end);
  column.view.offsets = offsets;
  column.view.bytes = column.bytes.as<char>();
  check_utf8(column.view.bytes, static_cast<int64_t>(end), where);
}

void convert_strings(const arrow::Array& array, OwnedColumn& column, const std::string& where) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY: return view_strings(array, column, where);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY: return copy_strings<arrow::LargeBinaryArray>(array, column, where);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW: return copy_strings<arrow::BinaryViewArray>(array, column, where);
    default: return copy_strings<arrow::FixedSizeBinaryArray>(array, column, where);
  }
}

// Codes are viewed, with the strings they index.
void convert_dictionary(const arrow::Array& array, OwnedColumn& column, const std::string& where) {
  const auto& codes = static_cast<const arrow::DictionaryArray&>(array);
  convert_strings(*codes.dictionary(), column, where);
  if (codes.dictionary()->null_count() > 0)
    throw Error(SqlState::bad_copy_file_format, where + ": a dictionary holds a null");
  if (codes.indices()->type_id() == arrow::Type::INT32) {
    column.view.codes = codes.indices()->data()->GetValues<int32_t>(1);
  } else {
    int32_t* to = column.make_values<int32_t>(array.length());
    for (int64_t i = 0; i < array.length(); ++i)
      to[i] = array.IsNull(i) ? 0 : static_cast<int32_t>(codes.GetValueIndex(i));
    column.view.codes = to;
    column.view.values = nullptr;
  }
  for (int64_t i = 0; i < array.length(); ++i) {
    bool in_range = static_cast<uint64_t>(column.view.codes[i]) < static_cast<uint64_t>(codes.dictionary()->length());
    if (!in_range && !column.view.is_null(i))
      throw Error(SqlState::bad_copy_file_format, where + ": a dictionary index is out of range");
  }
}

void convert_all_null(const arrow::Array& array, OwnedColumn& column) {
  column.validity.resize(static_cast<size_t>(array.length() + 7) / 8);
  std::memset(column.validity.data(), 0, column.validity.size());
  column.view.validity = column.validity.as<uint8_t>();
  column.view.validity_offset = 0;
  column.offsets.resize((static_cast<size_t>(array.length()) + 1) * sizeof(uint32_t));
  std::memset(column.offsets.data(), 0, column.offsets.size());
  column.view.offsets = column.offsets.as<uint32_t>();
  column.view.bytes = "";
}

void convert(const arrow::Array& array, OwnedColumn& column, const std::string& where) {
  switch (array.type_id()) {
    case arrow::Type::BOOL: return convert_booleans(array, column);
    case arrow::Type::INT8: return convert_values<int8_t, int32_t>(array, column, [](int8_t v) { return v; });
    case arrow::Type::UINT8: return convert_values<uint8_t, int32_t>(array, column, [](uint8_t v) { return v; });
    case arrow::Type::INT16: return convert_values<int16_t, int32_t>(array, column, [](int16_t v) { return v; });
    case arrow::Type::UINT16: return convert_values<uint16_t, int32_t>(array, column, [](uint16_t v) { return v; });
    case arrow::Type::INT32: return view_values<int32_t>(array, column);
    case arrow::Type::UINT32: return convert_values<uint32_t, int64_t>(array, column, [](uint32_t v) { return v; });
    case arrow::Type::INT64: return view_values<int64_t>(array, column);
    case arrow::Type::UINT64: return convert_values<uint64_t, int128_t>(array, column, [](uint64_t v) { return v; });
    case arrow::Type::HALF_FLOAT:
      return convert_values<uint16_t, float>(array, column,
                                             [](uint16_t v) { return arrow::util::Float16::FromBits(v).ToFloat(); });
    case arrow::Type::FLOAT: return view_values<float>(array, column);
    case arrow::Type::DOUBLE: return view_values<double>(array, column);
    case arrow::Type::DECIMAL128:
      return convert_decimals(array, column, static_cast<const arrow::DecimalType&>(*array.type()).precision(), where);
    case arrow::Type::DATE32: return convert_dates(array, column, where);
    case arrow::Type::TIMESTAMP:
      return convert_timestamps(array, column, static_cast<const arrow::TimestampType&>(*array.type()).unit(), where);
    case arrow::Type::DICTIONARY: return convert_dictionary(array, column, where);
    case arrow::Type::NA: return convert_all_null(array, column);
    default: return convert_strings(array, column, where);
  }
}

}  // namespace

std::optional<Type> type_of(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL: return Type{TypeId::Boolean, 0, 0, 0};
    case arrow::Type::INT8:
    case arrow::Type::UINT8:
    case arrow::Type::INT16: return Type{TypeId::SmallInt, 0, 0, 0};
    case arrow::Type::UINT16:
    case arrow::Type::INT32: return Type{TypeId::Integer, 0, 0, 0};
    case arrow::Type::UINT32:
    case arrow::Type::INT64: return Type{TypeId::BigInt, 0, 0, 0};
    case arrow::Type::UINT64: return Type::numeric(20, 0);
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT: return Type{TypeId::Real, 0, 0, 0};
    case arrow::Type::DOUBLE: return Type{TypeId::Double, 0, 0, 0};
    case arrow::Type::DECIMAL128: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      if (decimal.scale() < 0 || decimal.scale() > decimal.precision()) return std::nullopt;
      return Type::numeric(decimal.precision(), decimal.scale());
    }
    case arrow::Type::DATE32: return Type{TypeId::Date, 0, 0, 0};
    case arrow::Type::TIMESTAMP: return Type{TypeId::Timestamp, 0, 0, 0};
    case arrow::Type::DICTIONARY: {
      std::optional<Type> values = type_of(*static_cast<const arrow::DictionaryType&>(type).value_type());
      return values && values->id == TypeId::Text ? values : std::nullopt;
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
    case arrow::Type::FIXED_SIZE_BINARY:
    case arrow::Type::NA: return Type{TypeId::Text, 0, 0, 0};
    default: return std::nullopt;
  }
}

std::shared_ptr<arrow::DataType> arrow_type_of(const Type& type) {
  switch (type.id) {
    case TypeId::Boolean: return arrow::boolean();
    case TypeId::SmallInt: return arrow::int16();
    case TypeId::Null:
    case TypeId::Integer: return arrow::int32();
    case TypeId::BigInt: return arrow::int64();
    case TypeId::Real: return arrow::float32();
    case TypeId::Double: return arrow::float64();
    case TypeId::Numeric: return arrow::decimal128(type.precision, type.scale);
    case TypeId::Date: return arrow::date32();
    case TypeId::Timestamp: return arrow::timestamp(arrow::TimeUnit::MICRO);
    case TypeId::Interval: break;
    case TypeId::Text:
    case TypeId::Varchar:
    case TypeId::Char: return arrow::utf8();
  }
  throw Error(SqlState::feature_not_supported, "a column of type " + type.name() + " can't be written to Parquet");
}

OwnedColumn column_of(const std::shared_ptr<arrow::Array>& array, const std::string& where) {
  OwnedColumn column;
  column.view.physical = type_of(*array->type())->physical();
  if (array->null_count() > 0 && array->null_bitmap() != nullptr) {
    column.view.validity = array->null_bitmap()->data();
    column.view.validity_offset = array->offset();
  }
  convert(*array, column, where);
  column.kept.push_back(array);
  return column;
}

std::optional<int64_t> timestamp_of(int64_t value, arrow::TimeUnit::type unit) {
  int64_t microseconds = value;
  bool overflow = false;
  switch (unit) {
    case arrow::TimeUnit::SECOND: overflow = __builtin_mul_overflow(value, int64_t{1000000}, &microseconds); break;
    case arrow::TimeUnit::MILLI: overflow = __builtin_mul_overflow(value, int64_t{1000}, &microseconds); break;
    case arrow::TimeUnit::MICRO: break;
    case arrow::TimeUnit::NANO: microseconds = value / 1000 - (value % 1000 < 0 ? 1 : 0); break;
  }
  overflow = overflow || __builtin_sub_overflow(microseconds, microseconds_from_1970_to_2000, &microseconds);
  overflow = overflow || microseconds == INT64_MIN;  // would pass for infinite
  if (overflow) return std::nullopt;
  return microseconds;
}

}  // namespace diptych
