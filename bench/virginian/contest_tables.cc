// What a contest's figures come to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "contest.h"

namespace diptych::bench {

namespace {

constexpr double milliseconds = 1e3, percent = 100, gigabyte = 1e9;
constexpr double value_bytes = 4;
constexpr size_t none = SIZE_MAX;

struct Ratio {
  std::string name;
  size_t over, under;  // contestants
  double wanted;       // at most; infinite where the project promises nothing
  bool of_kernels = false;
};

class ContestTables {
 public:
  ContestTables(const Contest& contest, const std::optional<Bandwidths>& bandwidths, Report& report)
      : contest_(contest), bandwidths_(bandwidths), report_(report) {}

  void add() {
    const char* key = contest_.form == Form::Rows ? "queries" : "totals";
    add_times();
    add_ratios(report_.json[key]["ratios"]);
    add_seed_table(report_.json[key]["seed_table"]);
    add_shares(report_.json[key]["percent_of_limit"]);
    add_figures(report_.json[key]);
    report_.problems.insert(report_.problems.end(), contest_.problems.begin(), contest_.problems.end());
  }

 private:
  std::string title(const std::string& what) const {
    return fmt::format("{}: {}", contest_.form == Form::Rows ? "The ten queries" : "Aggregates over the ten filters",
                       what);
  }

  std::vector<std::string> query_header(const std::string& first) const {
    std::vector<std::string> header = {first};
    for (const Query& query : queries) header.emplace_back(query.name);
    return header;
  }

  size_t find(const std::string& name) const {
    for (size_t i = 0; i < contest_.contestants.size(); ++i) {
      if (contest_.contestants[i].name == name) return i;
    }
    return none;
  }
  size_t find_all_cores(const std::string& system) const {
    for (size_t i = 0; i < contest_.contestants.size(); ++i) {
      const Contestant& contestant = contest_.contestants[i];
      if (contestant.name.starts_with(system + "-") && contestant.configuration.threads > 1) return i;
    }
    return none;
  }

  void add_times() {
    Table table{
        fmt::format("{}, ms", title(fmt::format("{} rows, median of {} runs", contest_.rows, contest_.repetitions))),
        {"query", "rows"},
        {},
        {}};
    for (const Contestant& contestant : contest_.contestants) table.header.push_back(contestant.name);
    for (size_t query = 0; query < queries.size(); ++query) {
      std::vector<std::string> row = {std::string(queries[query].name), fmt::format("{}", contest_.result_rows[query])};
      for (const Figures& figures : contest_.figures) row.push_back(figure(figures.seconds[query] * milliseconds, 3));
      table.rows.push_back(std::move(row));
    }
    report_.tables.push_back(std::move(table));
  }

  std::vector<Ratio> ratios() const {
    constexpr double open = HUGE_VAL;
    const size_t one = find("diptych-1"), all = find_all_cores("diptych"), limit = find_all_cores("limit");
    std::vector<Ratio> ratios = {{"one core / limit-1", one, find("limit-1"), open},
                                 {"all cores / limit, all threads", all, limit, open},
                                 {"all cores / one core", all, one, open}};
    if (contest_.form == Form::Rows) {
      ratios[0].wanted = 2.0;
      ratios.push_back({"one core / sqlite", one, find("sqlite"), 1.0 / 25});
      ratios.push_back({"one core / duckdb, 1 thread", one, find("duckdb-1"), open});
      ratios.push_back({"all cores / duckdb, all threads", all, find_all_cores("duckdb"), 0.8});
    }
    for (const char* residency : {"serial", "streamed", "mapped"}) {
      ratios.push_back({fmt::format("{} / all cores", residency), find(residency), all, open});
    }
    const size_t cached = find("cached");
    ratios.push_back({"cached / all cores", cached, all, contest_.form == Form::Totals ? 1.0 / 20 : open});
    ratios.push_back({"interpreter / cached, kernels", find("interpreter"), cached, 2.5, true});
    return ratios;
  }

  const std::vector<double>& seconds_of(size_t contestant, bool of_kernels) const {
    const Figures& figures = contest_.figures[contestant];
    return of_kernels ? figures.device_seconds : figures.seconds;
  }

  void add_ratios(nlohmann::ordered_json& json) {
    Table table{title("ratios of times"), query_header("ratio"), {}, {}};
    table.header.insert(table.header.end(), {"geometric mean", "wanted at most"});
    for (const Ratio& ratio : ratios()) {
      if (ratio.over == none || ratio.under == none) continue;
      std::vector<double> values;
      std::vector<std::string> row = {ratio.name};
      for (size_t query = 0; query < queries.size(); ++query) {
        values.push_back(seconds_of(ratio.over, ratio.of_kernels)[query] /
                         seconds_of(ratio.under, ratio.of_kernels)[query]);
        row.push_back(figure(values.back(), 3));
      }
      const double mean = geometric_mean(values);
      row.push_back(figure(mean, 3));
      const bool is_wanted = std::isfinite(ratio.wanted);
      row.push_back(is_wanted ? fmt::format("{:.3g} {}", ratio.wanted, mean <= ratio.wanted ? "met" : "MISSED") : "");
      nlohmann::ordered_json entry = {{"name", ratio.name}, {"queries", values}, {"geometric_mean", mean}};
      if (is_wanted) entry["wanted_at_most"] = ratio.wanted;
      json.push_back(std::move(entry));
      table.rows.push_back(std::move(row));
    }
    if (!table.rows.empty()) report_.tables.push_back(std::move(table));
  }

  // ---- the seed's table

  using Include = std::function<bool(const Query&)>;

  static double mean_of(const std::vector<double>& seconds, const Include& include) {
    std::vector<double> values;
    for (size_t query = 0; query < queries.size(); ++query) {
      if (include(queries[query])) values.push_back(seconds[query]);
    }
    return arithmetic_mean(values);
  }

  // Its columns: single core, multi-core, then the device.
  std::vector<std::pair<std::string, const std::vector<double>*>> seed_columns() const {
    std::vector<std::pair<std::string, const std::vector<double>*>> columns;
    const auto add = [&](const std::string& name, size_t contestant) {
      if (contestant != none) columns.emplace_back(name, &contest_.figures[contestant].seconds);
    };
    add("single core", find("diptych-1"));
    add("multi-core", find_all_cores("diptych"));
    for (const char* residency : {"serial", "streamed", "mapped", "cached"}) add(residency, find(residency));
    if (const size_t cached = find("cached"); cached != none)
      columns.emplace_back("cached, kernel", &contest_.figures[cached].device_seconds);
    return columns;
  }

  void add_seed_table(nlohmann::ordered_json& json) {
    const auto columns = seed_columns();
    const std::vector<std::pair<std::string, Include>> kinds = {
        {"integer", [](const Query& query) { return !query.floats; }},
        {"floating point", [](const Query& query) { return query.floats; }},
        {"all", [](const Query&) { return true; }}};
    Table times{title("the seed's table 1, mean ms"), {"queries"}, {}, {}};
    for (const auto& [name, seconds] : columns) times.header.push_back(name);
    for (const auto& [kind, include] : kinds) {
      std::vector<std::string> row = {kind};
      for (const auto& [name, seconds] : columns) {
        const double mean = mean_of(*seconds, include);
        row.push_back(figure(mean * milliseconds, 3));
        json["mean_seconds"][kind][name] = mean;
      }
      times.rows.push_back(std::move(row));
    }
    times.notes.push_back(
        "Arithmetic means, from the query's text to its result in host memory; cached, kernel: on the device alone, "
        "which is what the seed calls cached.");
    report_.tables.push_back(std::move(times));
    for (const char* base : {"single core", "multi-core"}) add_speedups(base, columns, kinds, json);
  }

  template <typename Columns, typename Kinds>
  void add_speedups(const std::string& base, const Columns& columns, const Kinds& kinds, nlohmann::ordered_json& json) {
    const std::vector<double>* of_base = nullptr;
    for (const auto& [name, seconds] : columns) {
      if (name == base) of_base = seconds;
    }
    if (of_base == nullptr) return;
    Table table{title(fmt::format("the seed's table 2, times as fast as {}", base)), {"queries"}, {}, {}};
    for (const auto& [kind, include] : kinds) {
      std::vector<std::string> row = {kind};
      for (const auto& [name, seconds] : columns) {
        if (name == "single core" || name == base) continue;
        if (table.rows.empty()) table.header.push_back(name);
        const double speedup = mean_of(*of_base, include) / mean_of(*seconds, include);
        row.push_back(figure(speedup, 2));
        json["speedup over " + base][kind][name] = speedup;
      }
      table.rows.push_back(std::move(row));
    }
    if (table.header.size() > 1) report_.tables.push_back(std::move(table));
  }

  // ---- the limit

  double result_bytes(size_t query) const {
    if (contest_.form == Form::Totals) return 0;
    return static_cast<double>(contest_.result_rows[query] * queries[query].columns) * value_bytes;
  }

  // wanted: of every query, at least; 0: nothing is promised.
  void add_share(const std::string& name, double wanted, const std::function<double(size_t query)>& share, Table& table,
                 nlohmann::ordered_json& json) {
    std::vector<std::string> row = {name};
    std::vector<double> values;
    for (size_t query = 0; query < queries.size(); ++query) {
      values.push_back(share(query) * percent);
      row.push_back(figure(values.back(), 1));
    }
    row.push_back(figure(geometric_mean(values), 1));
    const double least = *std::min_element(values.begin(), values.end());
    row.push_back(wanted > 0 ? fmt::format("{:g} {}", wanted, least >= wanted ? "met" : "MISSED") : "");
    json[name] = std::move(values);
    table.rows.push_back(std::move(row));
  }

  void add_shares(nlohmann::ordered_json& json) {
    Table table{title("share of what the machine gives, %"), query_header(""), {}, {}};
    table.header.insert(table.header.end(), {"geometric mean", "wanted of each"});
    const std::pair<size_t, size_t> on_cpu[] = {{find("diptych-1"), find("limit-1")},
                                                {find_all_cores("diptych"), find_all_cores("limit")}};
    for (const auto& [ours, limit] : on_cpu) {
      if (ours == none || limit == none) continue;
      add_share(
          contest_.contestants[ours].name, 0,
          [&, ours = ours, limit = limit](size_t query) {
            return contest_.figures[limit].seconds[query] / contest_.figures[ours].seconds[query];
          },
          table, json);
    }
    if (bandwidths_) add_device_shares(table, json);
    if (table.rows.empty()) return;
    table.notes.emplace_back("On the CPU: the time of a hand-written loop over the query's own.");
    if (bandwidths_) table.notes.push_back(device_note());
    report_.tables.push_back(std::move(table));
  }

  double wanted_of(const Contestant& contestant) const {
    constexpr double of_bus = 85;
    if (contestant.name == "streamed" || contestant.name == "mapped") return of_bus;
    return contestant.name == "cached" && contest_.form == Form::Rows ? of_bus : 0;
  }

  double wanted_of_kernel(const Contestant& contestant) const {
    constexpr double of_memory = 55;
    return contestant.name == "cached" && contest_.form == Form::Rows ? of_memory : 0;
  }

  void add_device_shares(Table& table, nlohmann::ordered_json& json) {
    for (size_t i = 0; i < contest_.contestants.size(); ++i) {
      const Contestant& contestant = contest_.contestants[i];
      if (!contestant.is_on_device()) continue;
      const Figures& figures = contest_.figures[i];
      const std::string& residency = contestant.configuration.residency;
      add_share(
          contestant.name, wanted_of(contestant),
          [&](size_t query) {
            return bandwidths_->least_seconds(residency, figures.bytes_read[query], result_bytes(query)) /
                   figures.seconds[query];
          },
          table, json);
      if (residency != "cached") continue;
      add_share(
          contestant.name + ", kernel", wanted_of_kernel(contestant),
          [&](size_t query) {
            return (figures.bytes_read[query] + result_bytes(query)) / bandwidths_->memory /
                   figures.device_seconds[query];
          },
          table, json);
    }
  }

  std::string device_note() const {
    return fmt::format(
        "On the device: the least time that the bytes take over the time from text to result. Columns count as they "
        "are stored, over the bus ({:.1f} GB/s; {:.1f} GB/s mapped) or from the device's memory ({:.1f} GB/s) where "
        "cached; results as four bytes a value, back over the bus ({:.1f} GB/s), with serial after the columns, else "
        "at the same time. Kernel: bytes read and written at the memory's rate, over the kernels' time.",
        bandwidths_->to_device / gigabyte, bandwidths_->mapped / gigabyte, bandwidths_->memory / gigabyte,
        bandwidths_->to_host / gigabyte);
  }

  void add_figures(nlohmann::ordered_json& json) {
    json["rows"] = contest_.rows;
    json["repetitions"] = contest_.repetitions;
    for (size_t query = 0; query < queries.size(); ++query) {
      const bool are_rows = contest_.form == Form::Rows;
      json["queries"].push_back({{"name", queries[query].name},
                                 {"sql", are_rows ? std::string(queries[query].sql) : queries[query].totals_sql()},
                                 {"rows", contest_.result_rows[query]}});
    }
    for (size_t i = 0; i < contest_.contestants.size(); ++i) {
      const Contestant& contestant = contest_.contestants[i];
      json["contestants"].push_back({{"name", contestant.name},
                                     {"version", contestant.system->version()},
                                     {"threads", contestant.configuration.threads},
                                     {"device", contestant.configuration.device},
                                     {"median_seconds", contest_.figures[i].seconds},
                                     {"device_seconds", contest_.figures[i].device_seconds},
                                     {"bytes_read", contest_.figures[i].bytes_read}});
    }
  }

  const Contest& contest_;
  const std::optional<Bandwidths>& bandwidths_;
  Report& report_;
};

}  // namespace

void report_contest(const Contest& contest, const std::optional<Bandwidths>& bandwidths, Report& report) {
  ContestTables(contest, bandwidths, report).add();
}

}  // namespace diptych::bench
