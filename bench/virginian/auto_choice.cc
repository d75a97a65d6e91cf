#include "auto_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "diptych.h"
#include "turns.h"

namespace diptych::bench {

namespace {

// A statement's times: with auto, then forced.
struct Comparison {
  std::string name;
  std::string sql;
  std::vector<double> seconds;
  std::string chosen;  // where auto ran it

  // A contestant that was left out has NaN for its time.
  double ratio() const {
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 1; i < seconds.size(); ++i) best = std::fmin(best, seconds[i]);
    return seconds[0] / best;
  }
};

class AutoChoice {
 public:
  AutoChoice(const AutoChoiceOptions& options, size_t rows) : options_(options), rows_(rows) {
    diptych_.create_table();
    diptych_.append(make_dataset(0, rows, options.seed));
  }

  std::vector<Comparison> compare_queries() {
    std::vector<Configuration> configurations = {{options_.threads, "auto"}, {options_.threads, "cpu"}};
    for (const char* residency : {"cached", "streamed", "mapped", "serial"}) {
      if (!options_.device.empty()) configurations.push_back({options_.threads, options_.device, residency});
    }
    std::vector<Comparison> comparisons;
    for (size_t query = 0; query < queries.size(); ++query) {
      const std::string name(queries[query].name), sql(queries[query].sql);
      comparisons.push_back(compare(name, sql, configurations));
      comparisons.push_back(compare(name + " totals", queries[query].totals_sql(), configurations));
    }
    return comparisons;
  }

  std::vector<Comparison> compare_few_rows() {
    std::vector<Comparison> comparisons;
    for (const std::string& sql : {fmt::format("select * from test where id = {}", rows_ / 2),
                                   std::string("select * from test limit 10"), std::string("select 1")}) {
      comparisons.push_back(compare(sql, sql, {{options_.threads, "auto"}, {options_.threads, "cpu"}}));
    }
    return comparisons;
  }

 private:
  // Until auto has found the devices, moved columns there and compiled kernels, as far as it thinks that it pays.
  void settle(const std::string& sql) {
    const double seconds = is_settled_ ? 0.5 : 2;
    is_settled_ = true;
    for (const Stopwatch watch; watch.seconds() < seconds;) diptych_.seconds_of(sql);
  }

  // What takes several times what another takes is not the best that can be asked for. The first of the runs stays.
  static void leave_out_slow(std::vector<Run>& runs) {
    constexpr double several = 3;
    std::vector<double> seconds;
    for (const Run& run : runs) seconds.push_back(std::min(run(), run()));
    const double best = *std::min_element(seconds.begin() + 1, seconds.end());
    for (size_t i = 1; i < runs.size(); ++i)
      if (seconds[i] > several * best) runs[i] = nullptr;
  }

  Comparison compare(const std::string& name, const std::string& sql,
                     const std::vector<Configuration>& configurations) {
    Comparison comparison{name, sql, {}, {}};
    std::vector<Run> runs;
    for (const Configuration& configuration : configurations) {
      diptych_.configure(configuration);
      diptych_.seconds_of(sql);
      runs.push_back([&, configuration] {
        diptych_.configure(configuration);
        return diptych_.seconds_of(sql);
      });
    }
    diptych_.configure(configurations[0]);
    settle(sql);
    leave_out_slow(runs);
    // Short runs are many, so that their median is steady.
    constexpr double seconds = 1;
    comparison.seconds = measure_in_turns(runs, repetitions_within(seconds, runs, options_.repetitions));
    diptych_.configure(configurations[0]);
    const SectionReport section = diptych_.analyze(sql);
    comparison.chosen = fmt::format("{}, {}", section.engine, section.residency);
    std::cerr << fmt::format("  {:.3f} {}: {}\n", comparison.ratio(), name, comparison.chosen);
    return comparison;
  }

  const AutoChoiceOptions& options_;
  const size_t rows_;
  Diptych diptych_;
  bool is_settled_ = false;
};

void add_row(const std::string& what, size_t rows, double wanted, const std::vector<Comparison>& comparisons,
             Table& table, nlohmann::ordered_json& json) {
  std::vector<double> ratios;
  const Comparison* worst = &comparisons.front();
  size_t on_device = 0;
  for (const Comparison& comparison : comparisons) {
    ratios.push_back(comparison.ratio());
    if (comparison.ratio() > worst->ratio()) worst = &comparison;
    on_device += comparison.chosen.starts_with("cpu") || comparison.chosen.starts_with(",") ? 0 : 1;
    json.push_back({{"rows", rows},
                    {"name", comparison.name},
                    {"sql", comparison.sql},
                    {"ratio", comparison.ratio()},
                    {"chosen", comparison.chosen},
                    {"median_seconds", comparison.seconds}});
  }
  table.rows.push_back({fmt::format("{}", rows), what, figure(geometric_mean(ratios), 3), figure(worst->ratio(), 3),
                        fmt::format("{:.3g} {}", wanted, worst->ratio() <= wanted ? "met" : "MISSED"),
                        fmt::format("{} of {}", on_device, comparisons.size()), worst->name});
}

}  // namespace

void measure_auto_choice(const AutoChoiceOptions& options, Report& report) {
  Table table{"auto: its time over the best that can be asked for",
              {"rows", "statements", "geometric mean", "worst", "wanted at most", "on a device", "the worst"},
              {},
              {"SELECTs of few rows: over the time with device = cpu."}};
  report.json["auto"]["configurations"] = {"auto", "cpu", "cached", "streamed", "mapped", "serial"};
  for (const size_t rows : options.sizes) {
    std::cerr << "auto with " << rows << " rows\n";
    AutoChoice choice(options, rows);
    add_row("queries and aggregates", rows, 1.1, choice.compare_queries(), table, report.json["auto"]["queries"]);
    add_row("SELECTs of few rows", rows, 1.2, choice.compare_few_rows(), table, report.json["auto"]["few_rows"]);
  }
  report.tables.push_back(std::move(table));
}

}  // namespace diptych::bench
