// Interval arithmetic over the proven bounds of integer registers: what lets the compiler leave out overflow checks and
// choose narrow registers.
//
//   l_extendedprice in [90100, 10494950], 1 - l_discount in [90, 100]
//   product in [8109000, 1049495000]: fits 32 bits, no check
#pragma once

#include <algorithm>
#include <optional>

#include "base/type_limits.h"

namespace diptych {

struct Range {
  int128_t low = 0, high = 0;

  bool operator==(const Range&) const = default;
  bool within(const Range& outer) const { return low >= outer.low && high <= outer.high; }
  Range cut(const Range& other) const { return {std::max(low, other.low), std::min(high, other.high)}; }
  Range joined(const Range& other) const { return {std::min(low, other.low), std::max(high, other.high)}; }
};

inline constexpr Range int32_range{INT32_MIN, INT32_MAX};
inline constexpr Range int64_range{INT64_MIN, INT64_MAX};

// Those of all numbers that take no more bytes than this one: 1, 2, 4, 8 or as many as they like.
inline Range range_around(int128_t number, const Range& all) {
  for (const Range& range : {Range{INT8_MIN, INT8_MAX}, Range{INT16_MIN, INT16_MAX}, int32_range, int64_range})
    if (Range{number, number}.within(range)) return all.cut(range);
  return all;
}

// All values that the type can have; nothing for types that are not held as integers, or as truth values.
inline std::optional<Range> range_of(const Type& type) {
  const std::optional<TypeLimits> limits = limits_of(type);
  if (!limits || type.id == TypeId::Boolean) return std::nullopt;
  return Range{limits->low, limits->high};
}

// The bounds of a + b, a - b, a * b; nothing when they pass 128 bits.
inline std::optional<Range> add(const Range& a, const Range& b) {
  Range result;
  if (__builtin_add_overflow(a.low, b.low, &result.low) || __builtin_add_overflow(a.high, b.high, &result.high))
    return {};
  return result;
}

inline std::optional<Range> sub(const Range& a, const Range& b) {
  Range result;
  if (__builtin_sub_overflow(a.low, b.high, &result.low) || __builtin_sub_overflow(a.high, b.low, &result.high))
    return {};
  return result;
}

inline std::optional<Range> mul(const Range& a, const Range& b) {
  int128_t products[4];
  if (__builtin_mul_overflow(a.low, b.low, &products[0]) || __builtin_mul_overflow(a.low, b.high, &products[1]) ||
      __builtin_mul_overflow(a.high, b.low, &products[2]) || __builtin_mul_overflow(a.high, b.high, &products[3]))
    return {};
  return Range{*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
}

}  // namespace diptych
