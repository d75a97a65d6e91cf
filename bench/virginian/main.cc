// bench_virginian: the seed's ten queries on Diptych, on the CPU and on a device, on SQLite, DuckDB and hand-written
// loops, in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

#include "auto_choice.h"
#include "cold.h"
#include "contest.h"
#include "growth.h"
#include "report.h"
#include "system.h"

namespace {

using namespace diptych::bench;

struct Options {
  size_t rows = 8'000'000;
  uint64_t seed = 1;
  int repetitions = 5;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  std::string device = "auto";
  std::string python = BENCH_PYTHON;
  std::string json = "build/bench/virginian.json";
  std::string markdown;
  std::vector<std::string> only = {"diptych-1", "diptych-N",   "serial", "streamed", "mapped",
                                   "cached",    "interpreter", "limit",  "duckdb",   "sqlite"};
  std::vector<std::string> parts = {"queries", "totals"};
  std::vector<size_t> auto_sizes = {1'000, 100'000, 8'000'000};
  std::vector<size_t> growth_sizes = {1, 2, 4, 8, 16};
  std::string cold_process;

  bool wants(const std::string& contestant) const {
    return std::find(only.begin(), only.end(), contestant) != only.end();
  }
  bool has_part(const std::string& part) const { return std::find(parts.begin(), parts.end(), part) != parts.end(); }
};

// Systems that hold the same rows, and what takes part of each.
class Field {
 public:
  Field(const Options& options, Report& report)
      : options_(options), data_(make_dataset(0, options.rows, options.seed)) {
    add_diptych();
    if (options.wants("limit")) add_limit();
    if (options.wants("duckdb")) add_duckdb(report);
    if (options.wants("sqlite")) add_sqlite();
  }

  const std::vector<Contestant>& contestants() const { return contestants_; }
  Diptych& diptych() { return *diptych_; }
  const std::string& device() const { return device_; }

 private:
  void add_diptych() {
    std::cerr << "loading diptych\n";
    diptych_ = std::make_unique<Diptych>();
    diptych_->create_table();
    diptych_->append(data_);
    device_ = diptych_->find_device(options_.device);
    const auto add = [&](const std::string& name, const Configuration& configuration) {
      contestants_.push_back({name, configuration, diptych_.get(), diptych_.get(), diptych_.get()});
    };
    if (options_.wants("diptych-1")) add("diptych-1", {1});
    if (options_.wants("diptych-N") && options_.threads > 1)
      add(fmt::format("diptych-{}", options_.threads), {options_.threads});
    for (const char* residency : {"serial", "streamed", "mapped", "cached"}) {
      if (!device_.empty() && options_.wants(residency))
        add(residency, {options_.threads, device_, residency, "generated"});
    }
    if (!device_.empty() && diptych_->has_interpreter() && options_.wants("interpreter"))
      add("interpreter", {options_.threads, device_, "cached", "interpreter"});
  }

  void add_limit() {
    std::cerr << "loading limit\n";
    auto limit = make_limit_system(data_);
    for (const int threads : thread_counts())
      contestants_.push_back({fmt::format("limit-{}", threads), {threads}, limit.get(), limit.get()});
    systems_.push_back(std::move(limit));
  }

  void add_duckdb(Report& report) {
    std::cerr << "loading duckdb\n";
    try {
      if (!std::filesystem::exists(options_.python)) throw std::runtime_error("there is no " + options_.python);
      auto duckdb = make_duckdb_system(data_, options_.python, std::filesystem::temp_directory_path());
      for (const int threads : thread_counts())
        contestants_.push_back({fmt::format("duckdb-{}", threads), {threads}, duckdb.get()});
      systems_.push_back(std::move(duckdb));
    } catch (const std::exception& error) {
      report.json["left_out"].push_back(fmt::format("duckdb: {}", error.what()));
      std::cerr << "duckdb is left out: " << error.what() << '\n';
    }
  }

  void add_sqlite() {
    std::cerr << "loading sqlite\n";
    systems_.push_back(make_sqlite_system(data_));
    contestants_.push_back({"sqlite", {1}, systems_.back().get()});
  }

  std::vector<int> thread_counts() const {
    return options_.threads > 1 ? std::vector<int>{1, options_.threads} : std::vector<int>{1};
  }

  const Options& options_;
  const Dataset data_;
  std::string device_;
  std::unique_ptr<Diptych> diptych_;
  std::vector<std::unique_ptr<System>> systems_;
  std::vector<Contestant> contestants_;
};

void run_contests(const Options& options, Report& report) {
  std::cerr << "making " << options.rows << " rows\n";
  Field field(options, report);
  std::optional<Bandwidths> bandwidths;
  if (!field.device().empty()) {
    report.json["device"] = field.device();
    bandwidths = find_bandwidths(field.diptych(), field.device());
    if (!bandwidths) {
      std::cerr << "no share of the limit: run diptych calibrate " << field.device() << " first\n";
      report.json["left_out"].push_back("share of the device's limit: not calibrated");
    }
  }
  for (const Form form : {Form::Rows, Form::Totals}) {
    if (!options.has_part(form == Form::Rows ? "queries" : "totals")) continue;
    report_contest(run_contest(form, field.contestants(), options.rows, options.repetitions), bandwidths, report);
  }
}

void write_files(const Options& options, Report& report) {
  report.json["problems"] = report.problems;
  write_file(options.json, report.json.dump(2) + "\n");
  if (!options.markdown.empty()) write_file(options.markdown, report.markdown());
}

// What was measured is written after each part, and a part that fails does not keep the next from running.
void run_part(const std::string& name, const Options& options, Report& report, const std::function<void()>& measure) {
  try {
    measure();
  } catch (const std::exception& error) {
    report.problems.push_back(fmt::format("{}: {}", name, error.what()));
  }
  write_files(options, report);
}

void run_parts(const Options& options, Report& report) {
  const std::string device = Diptych().find_device(options.device);
  if (options.has_part("queries") || options.has_part("totals"))
    run_part("queries, totals", options, report, [&] { run_contests(options, report); });
  if (options.has_part("cold")) {
    constexpr size_t most_rows = 8'000'000;
    run_part("cold", options, report,
             [&] { measure_cold(std::min(options.rows, most_rows), options.seed, device, options.threads, report); });
  }
  if (options.has_part("auto")) {
    run_part("auto", options, report, [&] {
      measure_auto_choice({options.auto_sizes, options.seed, device, options.threads, options.repetitions}, report);
    });
  }
  if (options.has_part("growth")) {
    GrowthOptions growth{{}, options.seed, device, options.only, options.threads, options.repetitions};
    for (const size_t million : options.growth_sizes) growth.sizes.push_back(million * 1'000'000);
    run_part("growth", options, report, [&] { measure_growth(growth, report); });
  }
}

int run(const Options& options) {
  Report report;
  report.json["benchmark"] = "virginian";
  report.json["machine"] = machine_name();
  report.json["seed"] = options.seed;
  run_parts(options, report);
  std::cout << machine_name() << ". Seed " << options.seed << ".\n\n"
            << report.text() << "JSON: " << options.json << '\n';
  return report.problems.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"The Virginian's ten queries on Diptych, SQLite, DuckDB and hand-written loops"};
  app.add_option("--rows", options.rows, "rows of the table")->capture_default_str();
  app.add_option("--seed", options.seed, "of the data")->capture_default_str();
  app.add_option("--runs", options.repetitions, "measured runs of each query, each after one to warm up")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "of the runs on all cores")->capture_default_str();
  app.add_option("--device", options.device, "auto: the first that can be used; none, or cuda, opencl, cuda:1, ...")
      ->capture_default_str();
  app.add_option("--python", options.python, "a Python with duckdb and pyarrow")->capture_default_str();
  app.add_option("--json", options.json, "where the figures go")->capture_default_str();
  app.add_option("--markdown", options.markdown, "where the tables go as Markdown");
  app.add_option("--only", options.only, "contestants")
      ->delimiter(',')
      ->check(CLI::IsMember(options.only))
      ->capture_default_str();
  app.add_option("--parts", options.parts, "what is measured: queries, totals, cold, auto, growth")
      ->delimiter(',')
      ->check(CLI::IsMember({"queries", "totals", "cold", "auto", "growth"}))
      ->capture_default_str();
  app.add_option("--auto-sizes", options.auto_sizes, "rows of the tables of part auto")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--growth-sizes", options.growth_sizes, "million rows of the table of part growth")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--cold-process", options.cold_process)->group("");  // what part cold starts
  CLI11_PARSE(app, argc, argv);
  try {
    if (options.cold_process.empty()) return run(options);
    run_cold_process(options.cold_process, options.device, options.threads);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_virginian: " << error.what() << '\n';
    return 1;
  }
}
