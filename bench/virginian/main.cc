// bench_virginian: the seed's ten queries on Diptych, SQLite, DuckDB and hand-written loops, in one run.
//
// Every contestant runs a query once to have its result compared with the others', then all take turns, so that
// whatever disturbs the machine disturbs all of them. A turn is a run to warm up and a measured one; the median counts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "report.h"
#include "system.h"

namespace {

using namespace diptych::bench;

struct Options {
  size_t rows = 8'000'000;
  uint64_t seed = 1;
  int repetitions = 5;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  std::string python = BENCH_PYTHON;
  std::string json = "build/bench/virginian.json";
  std::vector<std::string> systems = {"diptych", "limit", "duckdb", "sqlite"};
};

std::unique_ptr<System> make_system(const std::string& name, const Dataset& data, const Options& options) {
  if (name == "diptych") return make_diptych_system(data);
  if (name == "limit") return make_limit_system(data);
  if (name == "sqlite") return make_sqlite_system(data);
  return make_duckdb_system(data, options.python, std::filesystem::temp_directory_path());
}

struct Runner {
  System* system;
  Contestant contestant;
  std::vector<double> times;
};

std::vector<Runner> make_runners(const std::vector<std::pair<std::string, std::unique_ptr<System>>>& systems,
                                 int threads) {
  std::vector<Runner> runners;
  for (const auto& [name, system] : systems) {
    runners.push_back({system.get(), {name, system->version(), 1, {}}, {}});
    if (name != "sqlite" && threads > 1) runners.push_back({system.get(), {name, system->version(), threads, {}}, {}});
  }
  return runners;
}

void compare_results(std::vector<Runner>& runners, size_t query, Report& report) {
  Digest expected;
  for (Runner& runner : runners) {
    runner.system->set_threads(runner.contestant.threads);
    const Digest digest = runner.system->digest(query);
    if (&runner == &runners.front()) expected = digest;
    if (digest == expected) continue;
    report.disagreements.push_back(fmt::format(
        "{}: {}-{} has {} rows, {}-{} has {}{}", queries[query].name, runners.front().contestant.name,
        runners.front().contestant.threads, expected.rows(), runner.contestant.name, runner.contestant.threads,
        digest.rows(), digest.rows() == expected.rows() ? ", other values" : ""));
  }
  report.result_rows[query] = expected.rows();
}

// Beyond so many seconds what went on before a run no longer shows in its time.
constexpr double long_run = 0.5;

// The turn before was another contestant's: caches are cold, and allocators gave memory back (DuckDB's first run of a
// turn takes up to twice the time of its second). So the second run of a turn counts.
double take_turn(const Runner& runner, size_t query) {
  runner.system->set_threads(runner.contestant.threads);
  const double first = runner.system->run(query);
  return first > long_run ? first : runner.system->run(query);
}

void measure(std::vector<Runner>& runners, size_t query, int repetitions) {
  for (Runner& runner : runners) runner.times.clear();
  for (int i = 0; i < repetitions; ++i) {
    for (Runner& runner : runners) runner.times.push_back(take_turn(runner, query));
  }
  for (Runner& runner : runners) {
    std::sort(runner.times.begin(), runner.times.end());
    runner.contestant.seconds[query] = runner.times[runner.times.size() / 2];
  }
}

Report run(const Options& options) {
  std::cerr << "making " << options.rows << " rows\n";
  const Dataset data = make_dataset(options.rows, options.seed);
  std::vector<std::pair<std::string, std::unique_ptr<System>>> systems;
  for (const std::string& name : options.systems) {
    std::cerr << "loading " << name << '\n';
    systems.emplace_back(name, make_system(name, data, options));
  }
  std::vector<Runner> runners = make_runners(systems, options.threads);

  Report report{options.rows, options.seed, options.repetitions, {}, {}, {}};
  for (size_t query = 0; query < queries.size(); ++query) {
    std::cerr << queries[query].name << ' ' << std::flush;
    compare_results(runners, query, report);
    measure(runners, query, options.repetitions);
  }
  std::cerr << '\n';
  for (Runner& runner : runners) report.contestants.push_back(std::move(runner.contestant));
  return report;
}

void write_json(const Report& report, const std::filesystem::path& path) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << report.json();
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
  app.add_option("--python", options.python, "a Python with duckdb and pyarrow")->capture_default_str();
  app.add_option("--json", options.json, "where the figures go")->capture_default_str();
  app.add_option("--systems", options.systems, "contestants: diptych, limit, duckdb, sqlite")
      ->delimiter(',')
      ->check(CLI::IsMember({"diptych", "limit", "duckdb", "sqlite"}));
  CLI11_PARSE(app, argc, argv);
  try {
    const Report report = run(options);
    write_json(report, options.json);
    std::cout << report.table() << "JSON: " << options.json << '\n';
    return report.disagreements.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "bench_virginian: " << error.what() << '\n';
    return 1;
  }
}
