// Sums of exact numbers and of their squares in as many limbs as no number of rows overflows, and the averages and
// deviations made of them.
//
//   sum       3 limbs of 64 bits, two's complement      38 digits (127 bits) times 2^63 rows
//   squares   5 limbs, unsigned                         254 bits times 2^63 rows
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/value.h"
#include "program/program.h"

namespace diptych {

struct WideSum {
  std::array<uint64_t, 3> limbs{};  // the lowest first

  void add(int128_t value);
  void add(const WideSum& other);
  // The sum, if it is a numeric: of at most 38 digits.
  std::optional<int128_t> numeric() const;
};

struct ExactMoments {
  int64_t count = 0;
  WideSum sum;
  std::array<uint64_t, 5> squares{};

  void add(int128_t value);
  void add(const ExactMoments& other);
};

enum class MomentsResult : uint8_t { Value, Null, Overflow };

// How the value is made of them: the average, or the variance, times 10^shift, of whole numbers; or its root. Rounded
// to the nearest, halves away from zero.
struct MomentsFormula {
  bool is_average = false, of_sample = false, has_root = false;
  int shift = 0;
};

// Of one of the Exact states, over arguments of one scale, at another.
MomentsFormula moments_formula(AggregateState state, int argument_scale, int scale);
MomentsFormula moments_formula(const AggregateInfo& aggregate);

MomentsResult finish_moments(const MomentsFormula& formula, const ExactMoments& moments, int128_t& result);

}  // namespace diptych
