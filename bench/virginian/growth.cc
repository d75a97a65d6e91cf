#include "growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "diptych.h"
#include "turns.h"

namespace diptych::bench {

namespace {

constexpr double milliseconds = 1e3;

struct Series {
  std::string name;
  Configuration configuration;
};

std::vector<Series> find_series(const GrowthOptions& options) {
  std::vector<Series> series;
  const auto wants = [&](const std::string& name) {
    return std::find(options.only.begin(), options.only.end(), name) != options.only.end();
  };
  if (wants("diptych-1")) series.push_back({"single core", {1}});
  if (wants("diptych-N") && options.threads > 1) series.push_back({"multi-core", {options.threads}});
  for (const char* residency : {"serial", "streamed", "mapped", "cached"}) {
    if (!options.device.empty() && wants(residency))
      series.push_back({residency, {options.threads, options.device, residency, "generated"}});
  }
  return series;
}

class Growth {
 public:
  Growth(const GrowthOptions& options, Report& report)
      : options_(options), series_(find_series(options)), report_(report) {
    diptych_.create_table();
  }

  void grow_to(size_t rows) {
    // Little data waits at a time, whatever the table's size.
    constexpr size_t most_rows = 16'000'000;
    while (rows_ < rows) {
      const size_t more = std::min(most_rows, rows - rows_);
      diptych_.append(make_dataset(rows_, more, options_.seed));
      rows_ += more;
    }
  }

  // Of each series.
  std::vector<double> mean_seconds() {
    std::vector<std::vector<double>> seconds(series_.size());
    for (const Query& query : queries) {
      std::vector<Run> runs;
      for (const Series& series : series_) runs.push_back(run_of(series, query.sql));
      check_counts(query);
      const std::vector<double> medians = measure_in_turns(runs, options_.repetitions);
      for (size_t i = 0; i < medians.size(); ++i) seconds[i].push_back(medians[i]);
    }
    std::vector<double> means;
    for (const auto& of_series : seconds) means.push_back(arithmetic_mean(of_series));
    return means;
  }

  const std::vector<Series>& series() const { return series_; }

 private:
  Run run_of(const Series& series, std::string_view sql) {
    return [this, sql, configuration = series.configuration] {
      diptych_.configure(configuration);
      return diptych_.seconds_of(sql);
    };
  }

  void check_counts(const Query& query) {
    std::optional<uint64_t> expected;
    for (const Series& series : series_) {
      diptych_.configure(series.configuration);
      const uint64_t count = diptych_.count_rows(query.sql);
      if (!expected) expected = count;
      if (count != *expected)
        report_.problems.push_back(
            fmt::format("{} of {} rows, {}: {} rows in place of {}", query.name, rows_, series.name, count, *expected));
    }
  }

  const GrowthOptions& options_;
  const std::vector<Series> series_;
  Report& report_;
  Diptych diptych_;
  size_t rows_ = 0;
};

}  // namespace

void measure_growth(const GrowthOptions& options, Report& report) {
  Growth growth(options, report);
  Table table{fmt::format("Growth: mean of the ten queries (each the median of {} runs), ms", options.repetitions),
              {"million rows"},
              {},
              {}};
  for (const Series& series : growth.series()) table.header.push_back(series.name);
  auto& json = report.json["growth"];
  json["machine"] = machine_name();
  for (const size_t rows : options.sizes) {
    std::cerr << "growth to " << rows << " rows\n";
    growth.grow_to(rows);
    const std::vector<double> means = growth.mean_seconds();
    std::vector<std::string> row = {fmt::format("{:g}", static_cast<double>(rows) * 1e-6)};
    json["rows"].push_back(rows);
    for (size_t i = 0; i < means.size(); ++i) {
      row.push_back(figure(means[i] * milliseconds, 3));
      json["mean_seconds"][growth.series()[i].name].push_back(means[i]);
    }
    table.rows.push_back(std::move(row));
  }
  report.tables.push_back(std::move(table));
}

}  // namespace diptych::bench
