// Times of contestants measured side by side.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace diptych::bench {

// Runs once and says how many seconds it took. Empty: the contestant does not take part.
using Run = std::function<double()>;

// The median seconds of each run; NaN of an empty one. All take turns, so that whatever disturbs the machine disturbs
// all of them, in an order that is shuffled each time, so that nobody always comes behind the same other. A turn is a
// run or more to warm up and a measured one.
std::vector<double> measure_in_turns(std::span<const Run> runs, int repetitions);

// How often all of the runs can take a turn in about so many seconds, but at least so often; runs each of them once.
int repetitions_within(double seconds, std::span<const Run> runs, int least);

double median(std::vector<double> values);

}  // namespace diptych::bench
