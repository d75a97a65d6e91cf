// The ten queries, or the aggregates over their filters, by all contestants in one run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bandwidths.h"
#include "report.h"
#include "system.h"

namespace diptych::bench {

enum class Form { Rows, Totals };

struct Contestant {
  std::string name;  // "diptych-16", "cached", "limit-1"
  Configuration configuration;
  System* system = nullptr;
  TotalsSystem* totals_system = nullptr;  // null: it does not run the aggregates
  Diptych* diptych = nullptr;             // null: another system

  bool is_on_device() const { return configuration.device != "cpu"; }
};

// By query; NaN where something was not measured.
struct Figures {
  std::vector<double> seconds;         // median
  std::vector<double> device_seconds;  // of the kernels alone, median
  std::vector<double> bytes_read;      // columns as they are stored
};

struct Contest {
  Form form = Form::Rows;
  size_t rows = 0;
  int repetitions = 0;
  std::vector<Contestant> contestants;
  std::vector<Figures> figures;  // of each contestant
  std::vector<uint64_t> result_rows;
  std::vector<std::string> problems;
};

// Each contestant first has its result compared with that of the first; then all take turns.
Contest run_contest(Form form, const std::vector<Contestant>& contestants, size_t rows, int repetitions);

// Milliseconds, the ratios that the project promises, the seed's table, and the shares of what is possible.
void report_contest(const Contest& contest, const std::optional<Bandwidths>& bandwidths, Report& report);

}  // namespace diptych::bench
