// The random numbers that the benchmark's tables are made of.
//
// The reference generator has one sequence of numbers for each column, from a seed of its own: the "minimal standard"
// of Park and Miller (Communications of the ACM, October 1988), value * 16807 mod 2^31 - 1. A row takes a fixed number
// of steps of a sequence, used or not, so every row's place in it is known and rows can be made in any order:
//
//   lines per order:   order 1: 2 lines       order 2: 7 lines      order 3: 1 line
//   L_QUANTITY:        x x . . . . .          x x x x x x x         x . . . . . .         (. is a step that nobody
//   uses)
#pragma once

#include <array>
#include <cstdint>

namespace ssb {

inline constexpr uint64_t kMultiplier = 16807;
inline constexpr uint64_t kModulus = 2147483647;

// What a value is multiplied with to go on by so many steps at once.
constexpr uint64_t factor_of_steps(uint64_t steps) {
  uint64_t result = 1;
  for (uint64_t square = kMultiplier; steps > 0; steps /= 2) {
    if (steps % 2 == 1) result = result * square % kModulus;
    square = square * square % kModulus;
  }
  return result;
}

// For the ends of rows, of which there are many: no row leaves more than 9 steps.
inline constexpr std::array<uint64_t, 10> kFactors = [] {
  std::array<uint64_t, 10> factors{};
  for (uint64_t steps = 0; steps < factors.size(); ++steps) factors[steps] = factor_of_steps(steps);
  return factors;
}();

// A column's sequence: where it starts, and how many steps a row of its table takes.
struct Sequence {
  uint32_t seed;
  uint32_t steps_per_row;
};

// A place in a sequence. The caller says where a row ends.
class RandomStream {
 public:
  // At the start of row `row`, counted from 0.
  RandomStream(Sequence sequence, int64_t row) : value_(sequence.seed), steps_per_row_(sequence.steps_per_row) {
    skip(static_cast<uint64_t>(row) * steps_per_row_);
  }

  // A number from low to high, both included, in double precision as in the reference generator: other ways to scale
  // the same value give other rows.
  int64_t between(int64_t low, int64_t high) {
    value_ = value_ * kMultiplier % kModulus;
    ++steps_taken_;
    const double share = static_cast<double>(value_) / static_cast<double>(kModulus);
    return low + static_cast<int64_t>(share * static_cast<double>(high - low + 1));
  }

  // To the start of the next row. A row takes steps_per_row numbers at most.
  void end_row() {
    value_ = value_ * kFactors[steps_per_row_ - steps_taken_] % kModulus;
    steps_taken_ = 0;
  }

 private:
  void skip(uint64_t steps) { value_ = value_ * factor_of_steps(steps) % kModulus; }

  uint64_t value_;
  uint32_t steps_per_row_;
  uint32_t steps_taken_ = 0;
};

}  // namespace ssb
