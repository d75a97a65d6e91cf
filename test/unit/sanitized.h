// How much of a long test runs under sanitizers.
#pragma once

#include <cstdint>

namespace diptych::testing {

// `all`, and `fewer` where the address sanitizer makes a test take many times as long: for tests that try every place
// of a kind, which the other builds do.
template <typename Number>
constexpr Number unless_sanitized([[maybe_unused]] Number all, [[maybe_unused]] Number fewer) {
#ifdef __SANITIZE_ADDRESS__
  return fewer;
#else
  return all;
#endif
}

}  // namespace diptych::testing
