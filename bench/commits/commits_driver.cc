// The loads behind bench_commits.py and bench_steady.py. Prints JSON, a document a line.
//
//   bench_commits inserts --system diptych --path FILE --connections 16 --seconds 2
//   bench_commits load --path FILE --bytes 1000000000
//   bench_commits steady --path FILE --connections 4 --rate 200 --seconds 1800
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <nlohmann/json.hpp>

#include "inserts.h"
#include "steady.h"
#include "steady_table.h"

namespace {

void add_inserts(CLI::App& app) {
  auto* command = app.add_subcommand("inserts", "commits of one row each");
  auto options = std::make_shared<bench::InsertOptions>();
  command->add_option("--system", options->system)->check(CLI::IsMember({"diptych", "sqlite"}));
  command->add_option("--path", options->path)->required()->check(CLI::NonexistentPath);
  command->add_option("--connections", options->connections)->check(CLI::PositiveNumber);
  command->add_option("--seconds", options->seconds)->check(CLI::PositiveNumber);
  command->add_flag("--text", options->is_text, "a text for each row, not a prepared statement");
  command->callback([options] { fmt::print("{}\n", bench::run_inserts(*options).dump()); });
}

void add_load(CLI::App& app) {
  auto* command = app.add_subcommand("load", "makes the table of the steady load");
  auto options = std::make_shared<bench::TableOptions>();
  command->add_option("--path", options->path)->required()->check(CLI::NonexistentPath);
  command->add_option("--bytes", options->bytes, "of the file")->check(CLI::PositiveNumber);
  command->callback([options] { fmt::print("{}\n", bench::load_table(*options).dump()); });
}

void add_steady(CLI::App& app) {
  auto* command = app.add_subcommand("steady", "updates, deletes and inserts at a fixed rate beside a reader");
  auto options = std::make_shared<bench::SteadyOptions>();
  command->add_option("--path", options->path)->required()->check(CLI::ExistingFile);
  command->add_option("--connections", options->connections, "that write")->check(CLI::PositiveNumber);
  command->add_option("--rate", options->rate, "commits a second")->check(CLI::PositiveNumber);
  command->add_option("--seconds", options->seconds)->check(CLI::PositiveNumber);
  command->add_option("--region", options->region, "share of the keys that change at a time")
      ->check(CLI::Range(0., 1.));
  command->add_option("--pass-seconds", options->pass_seconds, "in which the region goes through the table")
      ->check(CLI::PositiveNumber);
  command->add_option("--reader-threads", options->reader_threads)->check(CLI::PositiveNumber);
  command->add_option("--set", options->settings, "a setting: compaction = 'checkpoint'");
  command->callback([options] { bench::run_steady(*options); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Loads that commit");
  app.require_subcommand(1);
  add_inserts(app);
  add_load(app);
  add_steady(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
