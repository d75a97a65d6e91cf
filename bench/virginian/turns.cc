#include "turns.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace diptych::bench {

namespace {

// Beyond so many seconds what went on before a run no longer shows in its time.
constexpr double long_run = 0.5;

// So long a contestant gets to wake its threads up and to warm caches, at least a run.
constexpr double warming = 1e-3;

// The turn before was another contestant's: caches are cold, threads sleep, and allocators gave memory back (DuckDB's
// first run of a turn takes up to twice the time of its second). So the last run of a turn counts.
double take_turn(const Run& run) {
  double last = run(), spent = last;
  if (last > long_run) return last;
  for (; spent < warming; spent += last) last = run();
  return run();
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int repetitions_within(double seconds, std::span<const Run> runs, int least) {
  constexpr double most = 201;
  double once = 0;
  for (const Run& run : runs)
    if (run) once += 2 * run() + warming;
  return std::max(least, static_cast<int>(std::min(most, seconds / once)));
}

std::vector<double> measure_in_turns(std::span<const Run> runs, int repetitions) {
  std::vector<std::vector<double>> times(runs.size());
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(1);
  for (int i = 0; i < repetitions; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t run : order) {
      if (runs[run]) times[run].push_back(take_turn(runs[run]));
    }
  }
  std::vector<double> medians;
  for (auto& values : times) medians.push_back(median(std::move(values)));
  return medians;
}

}  // namespace diptych::bench
