#include "report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace diptych::bench {

namespace {

struct Ratio {
  std::string name;
  double limit;  // what the project promises, at most
  std::array<double, queries.size()> values{};
  double mean = 0;  // geometric
};

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string host() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

const Contestant* find(const Report& report, std::string_view name, bool one_thread) {
  for (const Contestant& contestant : report.contestants) {
    if (contestant.name == name && (contestant.threads == 1) == one_thread) return &contestant;
  }
  return nullptr;
}

void add_ratio(std::vector<Ratio>& ratios, const std::string& name, const Contestant* ours, const Contestant* theirs,
               double limit) {
  if (ours == nullptr || theirs == nullptr) return;
  Ratio ratio{name, limit, {}, 0};
  double logs = 0;
  for (size_t i = 0; i < queries.size(); ++i) {
    ratio.values[i] = ours->seconds[i] / theirs->seconds[i];
    logs += std::log(ratio.values[i]);
  }
  ratio.mean = std::exp(logs / static_cast<double>(queries.size()));
  ratios.push_back(ratio);
}

std::vector<Ratio> ratios_of(const Report& report) {
  constexpr double none = HUGE_VAL;
  std::vector<Ratio> ratios;
  const Contestant* one = find(report, "diptych", true);
  const Contestant* all = find(report, "diptych", false);
  add_ratio(ratios, "one core / sqlite", one, find(report, "sqlite", true), 1.0 / 25);
  add_ratio(ratios, "one core / limit", one, find(report, "limit", true), 2.0);
  add_ratio(ratios, "one core / duckdb, 1 thread", one, find(report, "duckdb", true), none);
  add_ratio(ratios, "all cores / duckdb, all threads", all, find(report, "duckdb", false), 0.8);
  add_ratio(ratios, "all cores / limit, all threads", all, find(report, "limit", false), none);
  add_ratio(ratios, "all cores / one core", all, one, none);
  return ratios;
}

}  // namespace

std::string Report::table() const {
  std::string text = fmt::format("{} ({}), {} cores. {} rows, seed {}, median of {} runs, milliseconds.\n\n", host(),
                                 processor(), std::thread::hardware_concurrency(), rows, seed, repetitions);
  text += fmt::format("{:<6}{:>11}", "query", "rows");
  for (const Contestant& contestant : contestants) {
    text += fmt::format("{:>12}", fmt::format("{}-{}", contestant.name, contestant.threads));
  }
  text += '\n';
  for (size_t i = 0; i < queries.size(); ++i) {
    text += fmt::format("{:<6}{:>11}", queries[i].name, result_rows[i]);
    for (const Contestant& contestant : contestants) text += fmt::format("{:>12.2f}", contestant.seconds[i] * 1e3);
    text += '\n';
  }
  text += fmt::format("\n{:<34}", "ratio");
  for (const Query& query : queries) text += fmt::format("{:>7}", query.name);
  text += "   mean  wanted\n";
  for (const Ratio& ratio : ratios_of(*this)) {
    text += fmt::format("{:<34}", ratio.name);
    for (const double value : ratio.values) text += fmt::format("{:>7.3f}", value);
    text += fmt::format("{:>7.3f}", ratio.mean);
    if (std::isfinite(ratio.limit)) {
      text += fmt::format("  {:.3g} {}", ratio.limit, ratio.mean <= ratio.limit ? "met" : "MISSED");
    }
    text += '\n';
  }
  text += disagreements.empty() ? "\nAll results are equal.\n" : "\nRESULTS DIFFER:\n";
  for (const std::string& line : disagreements) text += "  " + line + "\n";
  return text;
}

std::string Report::json() const {
  nlohmann::ordered_json json;
  json["benchmark"] = "virginian";
  json["machine"] = {{"host", host()}, {"processor", processor()}, {"cores", std::thread::hardware_concurrency()}};
  json["rows"] = rows;
  json["seed"] = seed;
  json["repetitions"] = repetitions;
  for (size_t i = 0; i < queries.size(); ++i) {
    json["queries"].push_back({{"name", queries[i].name}, {"sql", queries[i].sql}, {"rows", result_rows[i]}});
  }
  for (const Contestant& contestant : contestants) {
    json["contestants"].push_back({{"name", contestant.name},
                                   {"version", contestant.version},
                                   {"threads", contestant.threads},
                                   {"median_seconds", contestant.seconds}});
  }
  for (const Ratio& ratio : ratios_of(*this)) {
    nlohmann::ordered_json entry = {{"name", ratio.name}, {"queries", ratio.values}, {"geometric_mean", ratio.mean}};
    if (std::isfinite(ratio.limit)) entry["wanted_at_most"] = ratio.limit;
    json["ratios"].push_back(entry);
  }
  json["results_equal"] = disagreements.empty();
  json["disagreements"] = disagreements;
  return json.dump(2) + "\n";
}

}  // namespace diptych::bench
