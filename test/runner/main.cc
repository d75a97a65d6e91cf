// slt_runner: runs sqllogictest scripts against Diptych. See --help and test/README.md.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "isolated.h"
#include "suite_list.h"

namespace slt {
namespace {

struct CommandLine {
  std::vector<std::string> scripts;  // files, folders or glob patterns
  std::string pattern;
  std::string dialect = "own";
  std::string suites;
  std::string suite_root = "../shared/suites";
  std::string ways;  // a file
  bool in_process = false;
  RunOptions run;
};

// Scripts run in each of them, one after the other.
struct Way {
  std::string name;
  std::vector<std::string> settings;
  Counts counts;
  std::chrono::duration<double> time{};
};

// A line for each: its name, then settings, "name=value".
std::vector<Way> read_ways(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("can't read " + path);
  std::vector<Way> ways;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Way way;
    if (!(words >> way.name)) continue;
    for (std::string setting; words >> setting;) way.settings.push_back(setting);
    ways.push_back(std::move(way));
  }
  if (ways.empty()) throw std::runtime_error("no way in " + path);
  return ways;
}

void add(Counts& to, const Counts& counts) {
  to.passed += counts.passed;
  to.failed += counts.failed;
  to.skipped += counts.skipped;
  to.unsupported += counts.unsupported;
}

class Session {
 public:
  explicit Session(const CommandLine& line) : line_(line) {
    if (line.ways.empty())
      ways_.emplace_back();
    else
      ways_ = read_ways(line.ways);
    if (!line.in_process) return;
    // As long as it has a device open, that of each script's database takes over its context and its kernels.
    open_.emplace(":memory:", options_of(ways_.front()).settings, line.run.limit_seconds);
    open_->run("CREATE TABLE one AS SELECT 1 AS a; SELECT a FROM one");
  }

  void run_scripts(const std::vector<std::string>& patterns, Dialect dialect) {
    for (const std::string& pattern : patterns) {
      const auto scripts = scripts_of(pattern);
      if (scripts.empty()) {
        std::printf("no script at %s\n", pattern.c_str());
        ++total_.failed;
      }
      for (const std::string& script : scripts) run_one(script, dialect);
    }
  }

  // The scripts of the list, each of its lines with its own bounds; a missing suite root skips them all and says so.
  void run_suites(const std::string& list) {
    if (!std::filesystem::is_directory(line_.suite_root)) {
      std::printf("skipped: no test suites at %s\n", line_.suite_root.c_str());
      ++total_.skipped;
      return;
    }
    for (const SuiteEntry& entry : read_suite_list(list)) run_entry(entry);
  }

  int finish() const {
    if (total_.unsupported > 0) std::printf("%ld records use SQL that is not there yet\n", total_.unsupported);
    if (!line_.ways.empty()) {
      for (const Way& way : ways_) {
        std::printf("%s: %ld passed, %ld failed, %ld skipped, %.1f s\n", way.name.c_str(), way.counts.passed,
                    way.counts.failed, way.counts.skipped, way.time.count());
      }
    }
    std::printf("%ld passed, %ld failed, %ld skipped\n", total_.passed, total_.failed, total_.skipped);
    return total_.failed == 0 ? 0 : 1;
  }

 private:
  void run_one(const std::string& script, Dialect dialect) {
    if (script.find(line_.pattern) == std::string::npos) return;
    for (Way& way : ways_) {
      RunOptions options = options_of(way);
      options.dialect = dialect;
      Counts counts;
      const auto start = std::chrono::steady_clock::now();
      if (line_.in_process)
        run_script(script, options, counts);
      else
        counts = run_isolated(script, options);
      if (options.verbose) {
        std::printf("%s: %ld passed, %ld failed, %ld skipped, %ld unsupported\n", name_of(script, options).c_str(),
                    counts.passed, counts.failed, counts.skipped, counts.unsupported);
        std::fflush(stdout);
      }
      way.time += std::chrono::steady_clock::now() - start;
      add(way.counts, counts);
      add(total_, counts);
    }
  }

  RunOptions options_of(const Way& way) const {
    RunOptions options = line_.run;
    options.way = way.name;
    options.settings.insert(options.settings.end(), way.settings.begin(), way.settings.end());
    return options;
  }

  // Failures within the bound count as unsupported: they are known, and counted so that they can't grow.
  void run_entry(const SuiteEntry& entry) {
    const Counts before = total_;
    const auto scripts = scripts_of(line_.suite_root + "/" + entry.path);
    for (const std::string& script : scripts) run_one(script, entry.dialect);
    const long passed = total_.passed - before.passed;
    const long failed = total_.failed - before.failed;
    if (line_.run.verbose) std::printf("%s: %ld passed, %ld failed\n", entry.path.c_str(), passed, failed);
    if (!line_.pattern.empty()) return;
    if (passed < entry.least_passed || failed > entry.most_failed) {
      std::printf("FAILED %s: %ld passed (at least %ld expected), %ld failed (at most %ld)\n", entry.path.c_str(),
                  passed, entry.least_passed, failed, entry.most_failed);
      if (failed == 0) ++total_.failed;
      return;
    }
    total_.failed -= failed;
    total_.unsupported += failed;
  }

  const CommandLine& line_;
  std::vector<Way> ways_;
  std::optional<Engine> open_;
  Counts total_;
};

void define_options(CLI::App& app, CommandLine& line) {
  app.add_option("scripts,--file,--dir", line.scripts, "files, folders or glob patterns");
  app.add_option("--pattern", line.pattern, "only scripts whose path has this text");
  app.add_option("--dialect", line.dialect,
                 "own, original or duckdb: how values are compared (of the scripts, not of --suites)");
  app.add_option("--suites", line.suites, "run the scripts listed in this file");
  app.add_option("--suite-root", line.suite_root, "where the listed scripts are");
  app.add_option("--database", line.run.database, "a file, made anew for each script, or :memory:");
  app.add_option("--set", line.run.settings, "name=value: SET on each connection; repeatable");
  app.add_option("--ways", line.ways,
                 "a file with a line for each of several ways to run each script: a name, then settings, name=value");
  app.add_option("--data", line.run.data_directory, "what __DATA_DIR__ stands for");
  app.add_option("--scratch", line.run.scratch_directory, "what __TEST_DIR__ stands for; emptied for each script");
  app.add_option("--timeout", line.run.limit_seconds, "seconds after which a statement is interrupted");
  app.add_option("--show", line.run.shown_failures, "failures to print for each script");
  app.add_flag("--in-process", line.in_process, "all scripts in one process, which opens a device once");
  app.add_flag("-v,--verbose", line.run.verbose, "a line for each script");
}

}  // namespace
}  // namespace slt

int main(int argc, char** argv) {
  CLI::App app("Runs sqllogictest scripts against Diptych");
  slt::CommandLine line;
  slt::define_options(app, line);
  CLI11_PARSE(app, argc, argv);
  const auto temporary = std::filesystem::temp_directory_path() / ("slt_runner." + std::to_string(getpid()));
  if (line.run.scratch_directory.empty()) line.run.scratch_directory = temporary;
  try {
    slt::Session session(line);
    session.run_scripts(line.scripts, slt::dialect_of(line.dialect));
    if (!line.suites.empty()) session.run_suites(line.suites);
    std::filesystem::remove_all(temporary);
    return session.finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
