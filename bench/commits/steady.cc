#include "steady.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

#include "connections.h"
#include "meter.h"
#include "steady_table.h"

namespace bench {
namespace {

constexpr int64_t most_rows = 1000;  // of a commit
constexpr int64_t most_step = 1000;  // between the keys of rows that are spread

// What a writer and the reader share.
struct Load {
  const SteadyOptions& options;
  int64_t rows;  // of the table
  Clock::time_point start, end;
};

std::unique_ptr<Connection> connect(const Database& database, const SteadyOptions& options) {
  auto connection = std::make_unique<Connection>(database);
  connection->run("SET device = cpu");
  for (const std::string& setting : options.settings) connection->run("SET " + setting);
  return connection;
}

// Rows with the keys first, first + step, ...
struct Change {
  int64_t first, rows, step;
  int64_t end() const { return first + rows * step; }
};

// Errors: std::runtime_error where a statement changed other rows than it should.
void check_changed(int64_t rows, const Change& change) {
  if (rows != change.rows)
    throw std::runtime_error(
        fmt::format("{} rows were changed instead of {}: from {} by {}", rows, change.rows, change.first, change.step));
}

class ChangeMaker {
 public:
  ChangeMaker(const Load& load, uint64_t seed) : load_(load), random_(seed) {}

  Change next() {
    Change change{0, few_up_to(most_rows), 1};
    const auto keys =
        std::max<int64_t>(std::llround(load_.options.region * static_cast<double>(load_.rows)), most_rows);
    if (is_one_of_two()) change.step = keys / most_rows;
    const int64_t first = region_first(keys);
    change.first = first + below(keys - change.end() + 1);
    return change;
  }

  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  bool is_one_of_two() { return random_() % 2 == 0; }

 private:
  // 1 to most, each power of ten as often as the next one.
  int64_t few_up_to(int64_t most) { return std::llround(std::pow(most, unit_(random_))); }

  int64_t region_first(int64_t keys) const {
    const double passes =
        std::chrono::duration<double>(Clock::now() - load_.start).count() / load_.options.pass_seconds;
    return static_cast<int64_t>((passes - std::floor(passes)) * static_cast<double>(load_.rows - keys));
  }

  const Load& load_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_{0, 1};
};

// A statement that changes rows whose keys follow each other, and one whose rows are spread. text: what it does, with
// so many parameters before those of the condition.
class ChangeStatement {
 public:
  ChangeStatement(const Connection& connection, const std::string& text, int32_t parameters)
      : parameters_(parameters),
        range_(connection, text + range_condition(parameters)),
        spread_(connection, text + range_condition(parameters) +
                                fmt::format(" AND id % ${} = ${}", parameters + 3, parameters + 4)) {}

  Prepared& for_step(int64_t step) { return step == 1 ? range_ : spread_; }

  void run(const Change& change) {
    Prepared& statement = for_step(change.step);
    statement.bind(parameters_ + 1, change.first);
    statement.bind(parameters_ + 2, change.end());
    if (change.step > 1) {
      statement.bind(parameters_ + 3, change.step);
      statement.bind(parameters_ + 4, change.first % change.step);
    }
    check_changed(statement.run(), change);
  }

 private:
  static std::string range_condition(int32_t parameters) {
    return fmt::format(" WHERE id >= ${} AND id < ${}", parameters + 1, parameters + 2);
  }

  const int32_t parameters_;
  Prepared range_, spread_;
};

class Writer {
 public:
  Writer(const Database& database, const Load& load, int number)
      : load_(load),
        number_(number),
        connection_(connect(database, load.options)),
        update_(*connection_, "UPDATE t SET amount = amount + 1, price = price + 0.01, name = $1", 1),
        delete_(*connection_, "DELETE FROM t", 0),
        insert_(
            *connection_,
            "INSERT INTO t SELECT $1 + (id - $2) * $3, amount, price, name, day FROM spare WHERE id >= $2 AND id < $4"),
        changes_(load, static_cast<uint64_t>(number) + 100),
        rows_(static_cast<uint64_t>(number) + 200) {}

  Meter& meter() { return meter_; }

  void run(const std::atomic<bool>& stops) {
    const auto interval = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(load_.options.connections / load_.options.rate));
    auto due = load_.start + interval * number_ / load_.options.connections;
    while (!stops && due < load_.end) {
      std::this_thread::sleep_until(due);
      const auto began = Clock::now();
      commit_once();
      const auto ended = Clock::now();
      meter_.note([&](Measured& measured) {
        measured.commits_us.push_back(microseconds(ended - began));
        measured.waits_us.push_back(microseconds(ended - due));
      });
      due += interval;
      if (ended - due > std::chrono::seconds(1)) skip(due, interval, ended);
    }
  }

 private:
  void skip(Clock::time_point& due, Clock::duration interval, Clock::time_point now) {
    const int64_t count = (now - due) / interval;
    due += interval * count;
    meter_.note([&](Measured& measured) { measured.skipped += count; });
  }

  void commit_once() {
    const Change change = changes_.next();
    if (changes_.is_one_of_two()) {
      name_.clear();
      rows_.add_name(name_);
      update_.for_step(change.step).bind(1, name_);
      return meter_.time("update", [&] { update_.run(change); });
    }
    meter_.time("begin", [&] { connection_->run("BEGIN"); });
    meter_.time("delete", [&] { delete_.run(change); });
    meter_.time("insert", [&] { insert(change); });
    meter_.time("commit", [&] { connection_->run("COMMIT"); });
  }

  void insert(const Change& change) {
    const int64_t spare = changes_.below(spare_rows - change.rows + 1);
    insert_.bind(1, change.first);
    insert_.bind(2, spare);
    insert_.bind(3, change.step);
    insert_.bind(4, spare + change.rows);
    check_changed(insert_.run(), change);
  }

  const Load& load_;
  const int number_;
  std::unique_ptr<Connection> connection_;
  ChangeStatement update_, delete_;
  Prepared insert_;
  ChangeMaker changes_;
  RowMaker rows_;
  std::string name_;
  Meter meter_;
};

class Reader {
 public:
  Reader(const Database& database, const Load& load) : load_(load), connection_(connect(database, load.options)) {
    connection_->run(fmt::format("SET threads = {}", load.options.reader_threads));
  }

  Meter& meter() { return meter_; }

  void run(const std::atomic<bool>& stops) {
    while (!stops && Clock::now() < load_.end) {
      const auto began = Clock::now();
      meter_.time("scan", [&] { scan(); });
      meter_.note([&](Measured& measured) { measured.scans_us.push_back(microseconds(Clock::now() - began)); });
    }
  }

  // Errors: std::runtime_error where it does not see all rows, or sees one that was changed by halves.
  void scan() {
    const auto rows =
        connection_->run("SELECT count(*), sum(amount) - 100 * sum(price), sum(octet_length(name)), min(day) FROM t");
    const std::string expected = fmt::format("{}\t0.00", load_.rows);
    if (!rows.at(0).starts_with(expected))
      throw std::runtime_error(fmt::format("a scan saw {}, expected {}", rows.at(0), expected));
  }

 private:
  const Load& load_;
  std::unique_ptr<Connection> connection_;
  Meter meter_;
};

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t bytes_of(const std::string& path) {
  std::error_code absent;
  const auto bytes = std::filesystem::file_size(path, absent);
  return absent ? 0 : static_cast<int64_t>(bytes);
}

void print(const nlohmann::json& document) {
  fmt::print("{}\n", document.dump());
  std::fflush(stdout);
}

class SteadyLoad {
 public:
  explicit SteadyLoad(const SteadyOptions& options)
      : options_(options), database_(options.path), load_{options, count_rows(), Clock::now(), {}} {
    for (int number = 0; number < options.connections; ++number)
      writers_.push_back(std::make_unique<Writer>(database_, load_, number));
    reader_.emplace(database_, load_);
    reader_->scan();  // the first one reads the file
  }

  void run() {
    load_.start = Clock::now();
    load_.end =
        load_.start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    std::vector<std::jthread> threads;
    for (const auto& writer : writers_) threads.emplace_back([&] { work(*writer); });
    threads.emplace_back([&] { work(*reader_); });
    int second = 1;
    for (; !stops_ && load_.start + std::chrono::seconds(second) <= load_.end; ++second) {
      std::this_thread::sleep_until(load_.start + std::chrono::seconds(second));
      print_second(second);
    }
    threads.clear();
    print_second(second);  // what began before the end
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  int64_t count_rows() { return std::stoll(connect(database_, options_)->run("SELECT count(*) FROM t").at(0)); }

  template <typename Worker>
  void work(Worker& worker) {
    try {
      worker.run(stops_);
    } catch (...) {
      const std::lock_guard guard(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stops_ = true;
    }
  }

  void print_second(int second) {
    const Measured read = reader_->meter().take();
    Measured all;
    for (const auto& writer : writers_) {
      const Measured one = writer->meter().take();
      all.commits_us.insert(all.commits_us.end(), one.commits_us.begin(), one.commits_us.end());
      all.waits_us.insert(all.waits_us.end(), one.waits_us.begin(), one.waits_us.end());
      all.skipped += one.skipped;
      if (one.longest_us > all.longest_us) {
        all.longest_us = one.longest_us;
        all.longest = one.longest;
      }
    }
    print({{"second", second},
           {"file_bytes", bytes_of(options_.path)},
           {"log_bytes", bytes_of(options_.path + "-log")},
           {"resident_bytes", resident_bytes()},
           {"longest_statement", all.longest},
           {"longest_us", all.longest_us},
           {"longest_scan_us", read.longest_us},
           {"skipped", all.skipped},
           {"commits_us", all.commits_us},
           {"waits_us", all.waits_us},
           {"scans_us", read.scans_us}});
  }

  const SteadyOptions& options_;
  const Database database_;
  Load load_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::optional<Reader> reader_;
  std::atomic<bool> stops_ = false;
  std::mutex mutex_;  // guards failure_
  std::exception_ptr failure_;
};

}  // namespace

void run_steady(const SteadyOptions& options) {
  auto load = std::make_unique<SteadyLoad>(options);
  load->run();
  const auto began = Clock::now();
  load.reset();
  print({{"close_us", microseconds(Clock::now() - began)}, {"file_bytes", bytes_of(options.path)}});
}

}  // namespace bench
