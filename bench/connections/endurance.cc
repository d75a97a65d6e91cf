#include "endurance.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "connections.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Query {
  std::string name, sql;
  std::vector<std::string> expected;
};

std::vector<Query> read_queries(const std::string& folder) {
  std::vector<Query> queries;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".sql") continue;
    std::ifstream file(entry.path());
    std::string sql{std::istreambuf_iterator<char>(file), {}};
    sql.erase(sql.find_last_not_of(" \n;") + 1);
    queries.push_back({entry.path().stem(), std::move(sql), {}});
  }
  if (queries.empty()) throw std::runtime_error("no queries in " + folder);
  std::ranges::sort(queries, {}, &Query::name);
  return queries;
}

class Endurance {
 public:
  explicit Endurance(const EnduranceOptions& options)
      : options_(options), database_(options.database), queries_(read_queries(options.queries)) {
    Connection cpu(database_);
    cpu.run("set device = cpu");
    for (Query& query : queries_) query.expected = cpu.run(query.sql);
    for (int i = 0; i < options_.connections; ++i) {
      Connection& peer = *peers_.emplace_back(std::make_unique<Connection>(database_));
      peer.run(fmt::format("set threads = {}", options_.threads));
      peer.run(fmt::format("set device = '{}'", options_.device));
      peer.run(fmt::format("set residency = '{}'", options_.residency));
    }
  }

  int run() {
    // Columns and kernels in place.
    for (const auto& peer : peers_)
      for (const Query& query : queries_) run_one(*peer, query);
    const int64_t before = held_bytes();
    const double alone = rate(1, options_.seconds / 10), all = rate(peers_.size(), options_.seconds);
    fmt::print("{} connections for {:.0f} s: {:.0f} queries a second, {:.2f} times those of one ({:.0f})\n",
               peers_.size(), options_.seconds, all, all / alone, alone);
    fmt::print("bytes on the device before {}, after {}\n", before, held_bytes());
    for (const std::string& row : peers_.front()->run("show fallbacks")) fmt::print("fallback: {}\n", row);
    fmt::print("queries: {}, wrong answers: {}, failures: {}\n", done_.load(), wrong_.load(), failures_.load());
    return wrong_ + failures_ == 0 ? 0 : 1;
  }

 private:
  void run_one(Connection& peer, const Query& query) {
    try {
      if (peer.run(query.sql) != query.expected && wrong_++ == 0) fmt::print("WRONG: {}\n", query.name);
    } catch (const Failure& failure) {
      if (failures_++ == 0) fmt::print("FAILED: {}: {}\n", query.name, failure.what());
    }
    ++done_;
  }

  // Queries a second of the first so many connections, each of which goes round the queries from another one on.
  double rate(size_t connections, double seconds) {
    const int64_t before = done_;
    const auto start = Clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    std::vector<std::jthread> threads;
    for (size_t number = 0; number < connections; ++number)
      threads.emplace_back([&, number] {
        for (size_t next = number; spent() < seconds; ++next)
          run_one(*peers_[number], queries_[next % queries_.size()]);
      });
    threads.clear();
    return static_cast<double>(done_ - before) / spent();
  }

  // Of the device, once nothing runs.
  int64_t held_bytes() {
    std::string text;
    for (const std::string& row : peers_.front()->run("explain (analyze, format json) " + queries_.front().sql))
      text += row + '\n';
    const auto document = nlohmann::json::parse(text);
    int64_t bytes = 0;
    for (const auto& device : document.at("run").at("memory").at("devices"))
      bytes += device.at("used_bytes").get<int64_t>();
    return bytes;
  }

  const EnduranceOptions options_;
  const Database database_;
  std::vector<Query> queries_;
  std::vector<std::unique_ptr<Connection>> peers_;
  std::atomic<int64_t> done_ = 0, wrong_ = 0, failures_ = 0;
};

}  // namespace

int run_endurance(const EnduranceOptions& options) { return Endurance(options).run(); }

}  // namespace bench
