// How the time of the ten queries grows with the table: the seed's figure 6.
#pragma once

#include <string>
#include <vector>

#include "report.h"

namespace diptych::bench {

struct GrowthOptions {
  std::vector<size_t> sizes;  // rows, growing
  uint64_t seed = 1;
  std::string device;             // empty: there is none
  std::vector<std::string> only;  // contestants: "diptych-1", "diptych-N", residencies
  int threads = 1;
  int repetitions = 1;
};

// The mean of the ten queries' times with one table that grows; plot_growth.py draws it from the JSON.
void measure_growth(const GrowthOptions& options, Report& report);

}  // namespace diptych::bench
