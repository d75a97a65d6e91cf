#include "turns.h"

#include <algorithm>
#include <limits>

namespace diptych::bench {

namespace {

// Beyond so many seconds what went on before a run no longer shows in its time.
constexpr double long_run = 0.5;

// The turn before was another contestant's: caches are cold, and allocators gave memory back (DuckDB's first run of a
// turn takes up to twice the time of its second). So the second run of a turn counts.
double take_turn(const Run& run) {
  const double first = run();
  return first > long_run ? first : run();
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> measure_in_turns(std::span<const Run> runs, int repetitions) {
  std::vector<std::vector<double>> times(runs.size());
  for (int i = 0; i < repetitions; ++i) {
    for (size_t run = 0; run < runs.size(); ++run) {
      if (runs[run]) times[run].push_back(take_turn(runs[run]));
    }
  }
  std::vector<double> medians;
  for (auto& values : times) medians.push_back(median(std::move(values)));
  return medians;
}

}  // namespace diptych::bench
