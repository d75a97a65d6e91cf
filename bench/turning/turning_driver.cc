// Runs statements on SQLite or on Diptych for bench_turning.py, which has a process for each of the two. Reads a JSON
// object a line and answers with one; {"error": text} tells of a failure.
//
//   {"do": "open", "contestants": [{"name": "sqlite-index", "index": true}, {"name": "auto", "settings": [...]}]}
//       those with settings are Diptych's; {"versions": {name: text}}
//   {"do": "load", "rows": 100000}
//   {"do": "run", "name": ..., "sql": ..., "before": [...], "after": [...], "warms_up": true}
//       {"seconds": 0.1, "rows": of the result or changed, "total": the sum of all values}
//   {"do": "settle", "name": ..., "sql": ..., "before": [...], "after": [...], "seconds": 0.5}
//       runs it for that long, and at least 8 times: columns move to a device, kernels are compiled
//   {"do": "result", "name": ..., "sql": ..., "before": [...], "after": [...], "check": ..., "ordered_by": 2}
//       {"rows": 100, "digest": of all values of all rows, "columns": all values of a small result}, whatever the rows'
//       order but that of the column `ordered_by`; of a change (with "check") that query's result after it
//
// "before" and "after" are statements around the measured one, outside its time.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "contestant.h"

namespace diptych::bench {

namespace {

using Json = nlohmann::json;

constexpr int least_settling_runs = 8;
// Sums of averages are rounded differently: results with them are small, and compared value by value.
constexpr size_t most_rows_of_values = 1000;

// The rows in the order of all columns; no columns where there are no rows.
Columns sorted(const Columns& columns) {
  std::vector<size_t> order(columns.empty() ? 0 : columns[0].size());
  if (order.empty()) return {};
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    for (const std::vector<double>& column : columns) {
      if (column[a] != column[b]) return column[a] < column[b];
    }
    return false;
  });
  Columns result(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const size_t row : order) result[i].push_back(columns[i][row]);
  }
  return result;
}

// FNV-1a over the bits of all values.
std::string digest_of(const Columns& columns) {
  uint64_t digest = 0xcbf29ce484222325;
  for (const std::vector<double>& column : columns) {
    for (const double value : column) digest = (digest ^ std::bit_cast<uint64_t>(value)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", digest);
}

class Driver {
 public:
  Json answer(const Json& command) {
    const std::string what = command.at("do");
    if (what == "open") return open(command);
    if (what == "load") return load(command);
    if (what == "run") return run(command);
    if (what == "settle") return settle(command);
    if (what == "result") return result(command);
    throw std::runtime_error("no command " + what);
  }

 private:
  Json open(const Json& command) {
    const std::shared_ptr<DiptychDatabase> database = open_diptych();
    Json versions;
    for (const Json& each : command.at("contestants")) {
      const std::string name = each.at("name");
      contestants_.push_back(each.contains("settings") ? make_diptych(name, database, each.at("settings"))
                                                       : make_sqlite(name, each.at("index")));
      versions[name] = contestants_.back()->version();
    }
    return {{"versions", versions}};
  }

  Json load(const Json& command) {
    const Table table = Table::generate(command.at("rows"));
    for (const auto& contestant : contestants_) contestant->load(table);
    return Json::object();
  }

  Json run(const Json& command) {
    Contestant& contestant = contestant_of(command);
    if (command.at("warms_up")) run_once(contestant, command);
    const Run run = run_once(contestant, command);
    return {{"seconds", run.seconds}, {"rows", run.rows}, {"total", run.total}};
  }

  Json settle(const Json& command) {
    Contestant& contestant = contestant_of(command);
    const Stopwatch watch;
    int runs = 0;
    for (; runs < least_settling_runs || watch.seconds() < command.at("seconds"); ++runs) run_once(contestant, command);
    return {{"runs", runs}};
  }

  Json result(const Json& command) {
    Contestant& contestant = contestant_of(command);
    const bool is_change = command.contains("check");
    execute_all(contestant, command.at("before"));
    if (is_change) contestant.run(command.at("sql"));
    Columns columns = contestant.columns(command.at(is_change ? "check" : "sql"));
    execute_all(contestant, command.at("after"));
    if (command.contains("ordered_by") && !std::ranges::is_sorted(columns.at(command.at("ordered_by")))) {
      throw std::runtime_error(contestant.name() + ": rows out of order");
    }
    columns = sorted(columns);
    const size_t rows = columns.empty() ? 0 : columns[0].size();
    Json answer = {{"rows", rows}, {"digest", digest_of(columns)}};
    if (rows <= most_rows_of_values) answer["columns"] = columns;
    return answer;
  }

  Contestant& contestant_of(const Json& command) const {
    const std::string name = command.at("name");
    const auto found = std::ranges::find_if(contestants_, [&](const auto& each) { return each->name() == name; });
    if (found == contestants_.end()) throw std::runtime_error("no contestant " + name);
    return **found;
  }

  static Run run_once(Contestant& contestant, const Json& command) {
    execute_all(contestant, command.at("before"));
    const Run run = contestant.run(command.at("sql"));
    execute_all(contestant, command.at("after"));
    return run;
  }

  static void execute_all(Contestant& contestant, const Json& statements) {
    for (const Json& statement : statements) contestant.execute(statement);
  }

  std::vector<std::unique_ptr<Contestant>> contestants_;
};

}  // namespace

}  // namespace diptych::bench

int main() {
  diptych::bench::Driver driver;
  std::string line;
  while (std::getline(std::cin, line)) {
    nlohmann::json answer;
    try {
      answer = driver.answer(nlohmann::json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer << std::endl;
  }
}
