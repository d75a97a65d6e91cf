// Times of contestants measured side by side.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace diptych::bench {

// Runs once and says how many seconds it took. Empty: the contestant does not take part.
using Run = std::function<double()>;

// The median seconds of each run; NaN of an empty one. All take turns, so that whatever disturbs the machine disturbs
// all of them. A turn is a run to warm up and a measured one.
std::vector<double> measure_in_turns(std::span<const Run> runs, int repetitions);

double median(std::vector<double> values);

}  // namespace diptych::bench
