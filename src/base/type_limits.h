// The values that a type can have, for types that are held as integers: what a file's values are checked against, and
// what the compiler goes by where nothing narrower is known.
#pragma once

#include <cstdint>
#include <optional>

#include "base/type.h"

namespace diptych {

struct TypeLimits {
  int128_t low, high;
};

// 10^exponent, for exponents from 0 to 38.
inline int128_t power_of_ten(int exponent) {
  int128_t result = 1;
  while (exponent-- > 0) result *= 10;
  return result;
}

// Nothing for floats, intervals and strings.
inline std::optional<TypeLimits> limits_of(const Type& type) {
  switch (type.id) {
    case TypeId::Boolean: return TypeLimits{0, 1};
    case TypeId::SmallInt: return TypeLimits{INT16_MIN, INT16_MAX};
    case TypeId::Integer:
    case TypeId::Date: return TypeLimits{INT32_MIN, INT32_MAX};
    case TypeId::BigInt:
    case TypeId::Timestamp: return TypeLimits{INT64_MIN, INT64_MAX};
    case TypeId::Numeric: return TypeLimits{1 - power_of_ten(type.precision), power_of_ten(type.precision) - 1};
    default: return std::nullopt;
  }
}

}  // namespace diptych
