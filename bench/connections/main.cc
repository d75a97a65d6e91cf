// Connections beside each other: statements that group, all at once and one after the other, on the CPU and on a
// device.
//
//   large    as many groups as rows / 2, each connection in its own way: together they need more memory than the device
//            may use
//   small    a few hundred groups of a small table: what counts is what a statement costs beside its kernel
//
// Every connection runs its statements in a thread of its own, on one database. Printed are the ratio of throughputs
// (all at once over one after the other), wrong answers (compared with the CPU's), fallbacks by name, and, of large
// statements, the longest time from a cancel to the end while all others run. --memory sets device_memory_limit, so
// that the large ones need so many times of it (the sum of what each takes alone, as the device's peak tells).
// --profile adds what EXPLAIN ANALYZE says of all statements, in both ways.
//
// With --database and --queries the connections run those queries instead, for --seconds (endurance.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "connections.h"
#include "endurance.h"
#include "profile.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  int64_t rows = 20'000'000, small_rows = 1'000'000;
  int connections = 16, runs = 2, small_runs = 200, repeats = 3;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  double memory = 2;
  bool profile = false;
  std::vector<std::string> devices = {"cpu", "cuda"};
  std::string residency = "auto", json = "build/bench/connections.json";
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <typename T>
T median(std::vector<T> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string large(int number) {
  constexpr const char* keys[] = {"a", "b", "c", "d"};
  constexpr const char* aggregates[] = {"count(*), sum(v)", "min(v), max(w)", "sum(w), count(v)", "avg(w), max(v)"};
  return fmt::format("select {0}, {1} from large group by {0} order by 3 desc, 2 desc, 1 limit 10", keys[number % 4],
                     aggregates[number / 4 % 4]);
}

std::string small(int number) {
  return fmt::format("select k, count(*), sum(v) from small where v > {} group by k order by 3 desc, 1 limit 10",
                     number % 7);
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), first_(database_) {
    make_tables();
    first_.run("set device = cpu");
    for (int number = 0; number < options_.connections; ++number)
      for (const std::string& sql : {large(number), small(number)}) expected_[sql] = first_.run(sql);
  }

  // The program's exit status.
  int run() {
    fmt::print("{} rows, {} connections\n\n{:<16}{:>15}{:>15}{:>8}{:>11}{:>15}\n", options_.rows, options_.connections,
               "", "one by one", "all at once", "ratio", "fallbacks", "cancelled");
    for (const std::string& device : options_.devices) {
      if (device != "cpu") limit_memory(device);
      measure(device, "large", large, options_.runs);
      measure(device, "small", small, options_.small_runs);
    }
    for (const std::string& line : wrong_) fmt::print("WRONG: {}\n", line);
    for (const std::string& line : failures_) fmt::print("FAILED: {}\n", line);
    fmt::print("wrong answers: {}, failures: {}\n", wrong_.size(), failures_.size());
    write_report();
    return wrong_.empty() && failures_.empty() ? 0 : 1;
  }

 private:
  using Statement = std::function<std::string(int)>;
  using Peers = std::vector<std::unique_ptr<Connection>>;

  void make_tables() {
    const int64_t half = options_.rows / 2;
    first_.run(
        fmt::format("create table large as select (i * 7919 % {0})::integer a, (i * 104729 % {0})::bigint * 1000003 b,"
                    " (i % {0})::integer c, (i * 15485863 % {0})::integer d, (i % 1000)::integer v, i * 3 w"
                    " from generate_series(1::bigint, {1}) g(i)",
                    half, options_.rows));
    first_.run(
        fmt::format("create table small as select (i % 300)::integer k, (i % 50)::integer v"
                    " from generate_series(1::bigint, {}) g(i)",
                    options_.small_rows));
  }

  std::unique_ptr<Connection> connect(const std::string& device) const {
    auto peer = std::make_unique<Connection>(database_);
    peer->run(fmt::format("set threads = {}", options_.threads));
    peer->run(fmt::format("set device = '{}'", device));
    if (device == "cpu") return peer;
    peer->run(fmt::format("set residency = '{}'", options_.residency));
    peer->run("set gpu_engine = 'generated'");
    return peer;
  }

  void check(Connection& peer, const std::string& sql) {
    try {
      const auto rows = peer.run(sql);
      if (rows == expected_.at(sql)) return;
      std::lock_guard guard(mutex_);
      wrong_.push_back(
          fmt::format("{}: {} instead of {}", sql, fmt::join(rows, " | "), fmt::join(expected_.at(sql), " | ")));
    } catch (const Failure& failure) {
      std::lock_guard guard(mutex_);
      failures_.push_back(fmt::format("{}: {}", sql, failure.what()));
    }
  }

  using Run = std::function<void(Connection& peer, const std::string& sql)>;

  // Seconds.
  static double one_after_the_other(const Peers& peers, const Statement& statement, int runs, const Run& run_one) {
    const auto start = Clock::now();
    for (size_t number = 0; number < peers.size(); ++number)
      for (int run = 0; run < runs; ++run) run_one(*peers[number], statement(static_cast<int>(number)));
    return seconds_since(start);
  }

  static double all_at_once(const Peers& peers, const Statement& statement, int runs, const Run& run_one) {
    std::barrier gate(static_cast<ptrdiff_t>(peers.size()) + 1);
    std::vector<std::jthread> threads;
    for (size_t number = 0; number < peers.size(); ++number) {
      threads.emplace_back([&, number] {
        gate.arrive_and_wait();
        for (int run = 0; run < runs; ++run) run_one(*peers[number], statement(static_cast<int>(number)));
      });
    }
    gate.arrive_and_wait();
    const auto start = Clock::now();
    threads.clear();
    return seconds_since(start);
  }

  void measure(const std::string& device, const std::string& name, const Statement& statement, int runs) {
    Peers peers;
    for (int number = 0; number < options_.connections; ++number) peers.push_back(connect(device));
    const Run run_one = [this](Connection& peer, const std::string& sql) { check(peer, sql); };
    one_after_the_other(peers, statement, 1, run_one);  // columns and kernels in place
    const auto before = fallbacks();
    std::vector<double> alone, together, ratios;
    for (int repeat = 0; repeat < options_.repeats; ++repeat) {
      alone.push_back(one_after_the_other(peers, statement, runs, run_one));
      together.push_back(all_at_once(peers, statement, runs, run_one));
      ratios.push_back(alone.back() / together.back());
    }
    nlohmann::json fallen = nlohmann::json::object();
    int64_t fallen_count = 0;
    for (const auto& [reason, count] : fallbacks()) {
      const auto known = before.find(reason);
      const int64_t more = count - (known == before.end() ? 0 : known->second);
      if (more > 0) fallen[reason] = more;
      fallen_count += more;
    }
    // Small ones end before a cancel meets them.
    const bool is_large = name == "large";
    const double cancelled = is_large ? measure_cancel(peers, statement) : 0;
    fmt::print("{:<16}{:>12.1f} ms{:>12.1f} ms{:>8.2f}{:>11}{}\n", device + ' ' + name, median(alone) * 1e3,
               median(together) * 1e3, median(ratios), fallen_count,
               is_large ? fmt::format("{:>12.1f} ms", cancelled * 1e3) : "              -");
    for (const auto& [reason, count] : fallen.items())
      fmt::print("    fallback, {} times: {}\n", count.get<int64_t>(), reason);
    if (options_.profile) print_profile(peers, statement, runs);
    std::fflush(stdout);
    nlohmann::json& part = report_["parts"][device + ' ' + name];
    part = {{"ratio", median(ratios)}, {"alone_seconds", alone}, {"together_seconds", together}, {"fallbacks", fallen}};
    if (is_large) part["cancel_seconds"] = cancelled;
  }

  static void print_profile(const Peers& peers, const Statement& statement, int runs) {
    const auto into = [](Profile& profile) {
      return [&profile](Connection& peer, const std::string& sql) {
        profile.add(fmt::format("{}", fmt::join(peer.run("explain (analyze, format json) " + sql), "\n")));
      };
    };
    Profile alone, together;
    one_after_the_other(peers, statement, runs, into(alone));
    all_at_once(peers, statement, runs, into(together));
    print_profiles(alone, together);
  }

  std::map<std::string, int64_t> fallbacks() {
    std::map<std::string, int64_t> counts;
    for (const std::string& row : first_.run("show fallbacks")) {
      const size_t tab = row.find('\t');
      counts[row.substr(0, tab)] = std::stoll(row.substr(tab + 1));
    }
    return counts;
  }

  // The longest time from a cancel to the statement's end, each connection cancelled once while the others run.
  double measure_cancel(const Peers& peers, const Statement& statement) {
    struct State {
      std::atomic<bool> is_cancelled = false;
      Clock::time_point ended;
    };
    std::vector<State> states(peers.size());
    std::atomic<bool> stop = false;
    std::vector<std::jthread> threads;
    for (size_t number = 0; number < peers.size(); ++number) {
      threads.emplace_back([&, number] {
        while (!stop) {
          try {
            peers[number]->run(statement(static_cast<int>(number)));
          } catch (const Failure& failure) {
            states[number].ended = Clock::now();
            if (failure.state == "57014") {
              states[number].is_cancelled = true;
              states[number].is_cancelled.notify_all();
              continue;
            }
            std::lock_guard guard(mutex_);
            failures_.push_back(failure.what());
          }
        }
      });
    }
    double longest = 0;
    for (size_t number = 0; number < peers.size(); ++number) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      longest = std::max(longest, cancel(*peers[number], states[number].is_cancelled, states[number].ended));
    }
    stop = true;
    threads.clear();
    return longest;
  }

  // Between two statements there is nothing to cancel: then it is asked again.
  static double cancel(Connection& peer, const std::atomic<bool>& is_cancelled, const Clock::time_point& ended) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto start = Clock::now();
      peer.interrupt();
      while (!is_cancelled && seconds_since(start) < 0.5) std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (is_cancelled) return std::chrono::duration<double>(ended - start).count();
    }
    return 0;
  }

  // device_memory_limit of which the large statements need --memory times.
  void limit_memory(const std::string& device) {
    const auto peer = connect(device);
    first_.run("set device_memory_limit = 0");
    int64_t needed = 0;
    for (int number = 0; number < options_.connections; ++number) {
      const auto rows = peer->run("explain (analyze, format json) " + large(number));
      const auto run = nlohmann::json::parse(fmt::format("{}", fmt::join(rows, "\n"))).at("run");
      for (const auto& one : run.at("memory").at("devices"))
        needed = std::max(needed, one.at("peak_bytes").get<int64_t>());
    }
    if (needed == 0) throw std::runtime_error(device + " has run nothing");
    const auto limit = static_cast<int64_t>(static_cast<double>(needed * options_.connections) / options_.memory);
    first_.run(fmt::format("set device_memory_limit = {}", limit));
    report_["device_memory_limit"] = limit;
    fmt::print("{}: one takes up to {:.2f} GB; device_memory_limit {:.2f} GB\n", device,
               static_cast<double>(needed) / 1e9, static_cast<double>(limit) / 1e9);
  }

  void write_report() {
    report_["rows"] = options_.rows;
    report_["connections"] = options_.connections;
    report_["threads"] = options_.threads;
    report_["wrong"] = wrong_;
    report_["failures"] = failures_;
    const std::filesystem::path path = options_.json;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << report_.dump(2) << '\n';
  }

  const Options options_;
  const Database database_;
  Connection first_;
  std::map<std::string, std::vector<std::string>> expected_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::string> wrong_, failures_;
  nlohmann::json report_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  bench::Options options;
  CLI::App app("Connections that group, all at once and one after the other");
  app.add_option("--rows", options.rows);
  app.add_option("--small-rows", options.small_rows);
  app.add_option("--connections", options.connections)->check(CLI::PositiveNumber);
  app.add_option("--runs", options.runs, "of each large statement");
  app.add_option("--small-runs", options.small_runs, "of each small statement");
  app.add_option("--repeats", options.repeats, "medians count")->check(CLI::PositiveNumber);
  app.add_option("--memory", options.memory, "times device_memory_limit that the large ones need together");
  app.add_option("--devices", options.devices)->delimiter(',');
  app.add_option("--residency", options.residency);
  app.add_option("--threads", options.threads);
  app.add_option("--json", options.json);
  app.add_flag("--profile", options.profile, "tell where the time of the statements went");
  bench::EnduranceOptions endurance;
  auto* database = app.add_option("--database", endurance.database, "a file whose queries are run for --seconds");
  app.add_option("--queries", endurance.queries, "a folder of files *.sql")->needs(database);
  app.add_option("--seconds", endurance.seconds)->needs(database);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!endurance.database.empty()) {
      endurance.device = options.devices.back();
      endurance.residency = options.residency;
      endurance.connections = options.connections;
      endurance.threads = options.threads;
      return bench::run_endurance(endurance);
    }
    return bench::Bench(options).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
