#include "tablet/statistics/hyper_log_log.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace diptych {
namespace {

// Ertl, algorithm 6: the share of registers that are 0.
double sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double y = 1, z = x;
  for (double before = -1; z != before; y += y) {
    x *= x;
    before = z;
    z += x * y;
  }
  return z;
}

// The same of those that can't grow.
double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double y = 1, z = 1 - x;
  for (double before = -1; z != before;) {
    x = std::sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) * (1 - x) * y;
  }
  return z / 3;
}

}  // namespace

void HyperLogLog::merge(const HyperLogLog& other) {
  for (size_t i = 0; i < register_count; ++i) registers_[i] = std::max(registers_[i], other.registers_[i]);
}

double HyperLogLog::estimate() const {
  constexpr double m = register_count;
  std::array<int, greatest_rank + 1> counts{};
  for (const uint8_t rank : registers_) ++counts[rank];
  double z = m * tau(1 - counts[greatest_rank] / m);
  for (int rank = greatest_rank - 1; rank >= 1; --rank) z = 0.5 * (z + counts[static_cast<size_t>(rank)]);
  z += m * sigma(counts[0] / m);
  return m * m / (2 * std::log(2.0) * z);
}

}  // namespace diptych
