// Arrow's types and arrays as ours.
#pragma once

#include <arrow/array.h>
#include <arrow/type.h>

#include <optional>
#include <string>

#include "base/type.h"
#include "io/owned_batch.h"

namespace diptych {

inline constexpr int64_t days_from_1970_to_2000 = 10957;
inline constexpr int64_t microseconds_per_second = 1000000;
inline constexpr int64_t microseconds_from_1970_to_2000 = days_from_1970_to_2000 * 86400 * microseconds_per_second;

// The SQL type that holds every value of an Arrow type; nothing when there is none.
std::optional<Type> type_of(const arrow::DataType& type);

// The Arrow type in which columns of a SQL type are written.
std::shared_ptr<arrow::DataType> arrow_type_of(const Type& type);

// The array in register form of type_of(its type). Memory of the array is viewed where it has that form already; the
// result keeps the array alive. Errors: 22008 a timestamp out of range, 22021 text that is no UTF-8, 22P04 a dictionary
// that does not fit its codes. where: the file and column, for messages.
OwnedColumn column_of(const std::shared_ptr<arrow::Array>& array, const std::string& where);

// Microseconds since 2000 of a timestamp since 1970 in any unit; nothing when it is out of range.
std::optional<int64_t> timestamp_of(int64_t value, arrow::TimeUnit::type unit);

}  // namespace diptych
