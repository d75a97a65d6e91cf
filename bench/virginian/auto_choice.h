// device = auto against the engines and residencies that it chooses from.
#pragma once

#include <string>
#include <vector>

#include "report.h"

namespace diptych::bench {

struct AutoChoiceOptions {
  std::vector<size_t> sizes;  // rows
  uint64_t seed = 1;
  std::string device;  // empty: there is none
  int threads = 1;
  int repetitions = 1;
};

// For tables of each size: the time of the ten queries, and of the aggregates over their filters, with auto over the
// best that can be asked for; and that of SELECTs of a few rows over the CPU's.
void measure_auto_choice(const AutoChoiceOptions& options, Report& report);

}  // namespace diptych::bench
