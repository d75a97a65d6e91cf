// What the tests of the kernel subset share: texts from literals, errors as values, seeded random numbers.
#pragma once

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <string_view>

#include "kernel/kernel.h"

namespace diptych::testing {

using Int128 = dk_int128_t;
using UInt128 = dk_uint128_t;

inline dk_text text(std::string_view s) { return dk_make_text(s.data(), static_cast<dk_i32>(s.size())); }
inline std::string str(dk_text t) { return std::string(t.data, static_cast<size_t>(t.length)); }

inline dk_i128 i128(Int128 a) { return dk_of_native(a); }

// "-123456..." of a 128-bit integer.
inline std::string decimal(Int128 a) {
  UInt128 magnitude = a < 0 ? -static_cast<UInt128>(a) : static_cast<UInt128>(a);
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(magnitude % 10)));
  while ((magnitude /= 10) != 0);
  return a < 0 ? "-" + digits : digits;
}

inline Int128 power_of_ten(int exponent) { return exponent == 0 ? 1 : 10 * power_of_ten(exponent - 1); }

inline constexpr int out_of_range = DK_NUMERIC_OUT_OF_RANGE;

// The value of a call of a function that can fail, and the error it stored: `value, error` of CALL(dk_add_i32, 1, 2).
template <typename T>
struct Outcome {
  T value;
  int error;
};
template <typename Function, typename... Arguments>
auto call(Function function, Arguments... arguments) {
  dk_i32 error = 0;
  auto value = function(arguments..., &error);
  return Outcome<decltype(value)>{value, error};
}
#define ERROR_OF(...) (::diptych::testing::call(__VA_ARGS__).error)
#define VALUE_OF(...) (::diptych::testing::call(__VA_ARGS__).value)

// The text of a size and write pair. Checks that no more is written than the size allows.
template <typename Size, typename Write, typename... Arguments>
std::string written(Size size, Write write, Arguments... arguments) {
  dk_i32 error = 0;
  dk_i32 bytes = 0;
  if constexpr (std::is_invocable_v<Size, Arguments..., dk_i32*>) {
    bytes = size(arguments..., &error);
  } else {
    bytes = size(arguments...);
  }
  if (error != 0) return "error " + std::to_string(error);
  std::string out(static_cast<size_t>(bytes) + 1, '#');
  dk_i32 used = write(arguments..., out.data());
  if (used > bytes || out[static_cast<size_t>(bytes)] != '#') return "overrun";
  return out.substr(0, static_cast<size_t>(used));
}
#define WRITTEN(name, ...) (::diptych::testing::written(dk_##name##_size, dk_##name##_write, __VA_ARGS__))

// Numbers from a seed that is printed: DIPTYCH_SEED, or 1.
class Random {
 public:
  Random() {
    const char* set = std::getenv("DIPTYCH_SEED");
    uint64_t seed = set == nullptr ? 1 : std::strtoull(set, nullptr, 10);
    std::cout << "DIPTYCH_SEED=" << seed << "\n";
    engine_.seed(seed);
  }
  dk_u64 bits() { return engine_(); }
  dk_i64 below(dk_i64 limit) { return static_cast<dk_i64>(bits() % static_cast<dk_u64>(limit)); }

  // Numbers of every size, small ones and the limits more often than by chance.
  dk_i64 any_i64() {
    switch (below(8)) {
      case 0: return below(5) - 2;
      case 1: return INT64_MAX - below(3);
      case 2: return INT64_MIN + below(3);
      case 3: return static_cast<dk_i64>(INT32_MAX) + below(5) - 2;
      case 4: return static_cast<dk_i64>(INT32_MIN) + below(5) - 2;
      default: return static_cast<dk_i64>(bits()) >> below(64);
    }
  }
  dk_i32 any_i32() { return static_cast<dk_i32>(below(2) == 0 ? any_i64() : any_i64() >> 32); }
  Int128 any_i128() {
    Int128 wide = static_cast<Int128>((static_cast<UInt128>(bits()) << 64) | bits());
    return below(4) == 0 ? any_i64() : wide >> below(128);
  }
  // At most so many digits.
  Int128 any_decimal(int digits) { return any_i128() % power_of_ten(static_cast<int>(below(digits)) + 1); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace diptych::testing
