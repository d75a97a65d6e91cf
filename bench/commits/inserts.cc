#include "inserts.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "connections.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* table = "CREATE TABLE t (id bigint, amount bigint, name text)";
constexpr int64_t rows_of_a_connection = 1'000'000'000;

std::string name_of(int64_t id) { return fmt::format("row {}", id); }

std::string text_of(int64_t id) { return fmt::format("INSERT INTO t VALUES ({}, {}, '{}')", id, id * 7, name_of(id)); }

// A connection, used by one thread.
class Inserter {
 public:
  virtual ~Inserter() = default;
  // The row is on the disk when it returns.
  virtual void insert(int64_t id) = 0;
};

// A database file.
class System {
 public:
  virtual ~System() = default;
  virtual std::string version() const = 0;
  virtual std::unique_ptr<Inserter> connect(bool is_text) = 0;
};

class DiptychInserter : public Inserter {
 public:
  DiptychInserter(const Database& database, bool is_text) : connection_(database) {
    if (!is_text) prepared_.emplace(connection_, "INSERT INTO t VALUES ($1, $2, $3)");
  }

  void insert(int64_t id) override {
    if (!prepared_) {
      if (diptych_execute(connection_.get(), text_of(id).c_str()) != DIPTYCH_OK)
        throw Failure(diptych_connection_error(connection_.get()));
      return;
    }
    prepared_->bind(1, id);
    prepared_->bind(2, id * 7);
    prepared_->bind(3, name_of(id));
    prepared_->run();
  }

 private:
  Connection connection_;
  std::optional<Prepared> prepared_;
};

class DiptychSystem : public System {
 public:
  explicit DiptychSystem(const std::string& path) : database_(path) { Connection(database_).run(table); }
  std::string version() const override { return diptych_version(); }
  std::unique_ptr<Inserter> connect(bool is_text) override {
    return std::make_unique<DiptychInserter>(database_, is_text);
  }

 private:
  Database database_;
};

class SqliteInserter : public Inserter {
 public:
  SqliteInserter(const std::string& path, bool is_text) {
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    constexpr int busy_ms = 60'000;
    check(sqlite3_open_v2(path.c_str(), &database_, flags, nullptr));
    check(sqlite3_busy_timeout(database_, busy_ms));
    execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    if (!is_text) check(sqlite3_prepare_v2(database_, "INSERT INTO t VALUES (?, ?, ?)", -1, &prepared_, nullptr));
  }

  ~SqliteInserter() override {
    sqlite3_finalize(prepared_);
    sqlite3_close(database_);
  }

  void insert(int64_t id) override {
    if (prepared_ == nullptr) return execute(text_of(id).c_str());
    const std::string name = name_of(id);
    sqlite3_bind_int64(prepared_, 1, id);
    sqlite3_bind_int64(prepared_, 2, id * 7);
    sqlite3_bind_text(prepared_, 3, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
    sqlite3_step(prepared_);
    check(sqlite3_reset(prepared_));
  }

  void execute(const char* sql) { check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr)); }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(fmt::format("sqlite: {}", sqlite3_errmsg(database_)));
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* prepared_ = nullptr;
};

class SqliteSystem : public System {
 public:
  explicit SqliteSystem(std::string path) : path_(std::move(path)) {
    SqliteInserter first(path_, true);
    first.execute(table);
  }
  std::string version() const override { return sqlite3_libversion(); }
  std::unique_ptr<Inserter> connect(bool is_text) override { return std::make_unique<SqliteInserter>(path_, is_text); }

 private:
  const std::string path_;
};

std::unique_ptr<System> open_system(const InsertOptions& options) {
  if (options.system == "sqlite") return std::make_unique<SqliteSystem>(options.path);
  return std::make_unique<DiptychSystem>(options.path);
}

// What one thread has done.
struct Work {
  std::vector<int64_t> nanoseconds;  // of each commit
  std::exception_ptr failure;
};

Work insert_until(Inserter& inserter, int64_t first, Clock::time_point end) {
  Work work;
  try {
    for (auto before = Clock::now(); before < end;) {
      inserter.insert(first++);
      const auto now = Clock::now();
      work.nanoseconds.push_back((now - before).count());
      before = now;
    }
  } catch (...) {
    work.failure = std::current_exception();
  }
  return work;
}

// All threads begin together and end with the commit that they are at. Returns the seconds that they took.
double insert_in_threads(const std::vector<std::unique_ptr<Inserter>>& inserters, double seconds,
                         std::vector<Work>& works) {
  const auto duration = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::barrier gate(static_cast<ptrdiff_t>(inserters.size()) + 1);
  std::vector<std::jthread> threads;
  for (size_t number = 0; number < inserters.size(); ++number)
    threads.emplace_back([&, number] {
      gate.arrive_and_wait();
      works[number] = insert_until(*inserters[number], static_cast<int64_t>(number) * rows_of_a_connection,
                                   Clock::now() + duration);
    });
  gate.arrive_and_wait();
  const auto start = Clock::now();
  threads.clear();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The least value that a share of all does not exceed, in microseconds. sorted: nanoseconds, at least one.
double percentile(const std::vector<int64_t>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::max<size_t>(rank, 1) - 1]) / 1e3;
}

}  // namespace

nlohmann::json run_inserts(const InsertOptions& options) {
  const auto system = open_system(options);
  std::vector<std::unique_ptr<Inserter>> inserters;
  for (int i = 0; i < options.connections; ++i) inserters.push_back(system->connect(options.is_text));
  std::vector<Work> works(inserters.size());
  const double seconds = insert_in_threads(inserters, options.seconds, works);
  std::vector<int64_t> nanoseconds, commits;
  for (const Work& work : works) {
    if (work.failure) std::rethrow_exception(work.failure);
    nanoseconds.insert(nanoseconds.end(), work.nanoseconds.begin(), work.nanoseconds.end());
    commits.push_back(static_cast<int64_t>(work.nanoseconds.size()));
  }
  std::ranges::sort(nanoseconds);
  return {{"system", options.system},
          {"version", system->version()},
          {"seconds", seconds},
          {"commits", commits},
          {"commits_per_second", static_cast<double>(nanoseconds.size()) / seconds},
          {"latency_us",
           {{"p50", percentile(nanoseconds, 0.5)},
            {"p99", percentile(nanoseconds, 0.99)},
            {"max", percentile(nanoseconds, 1)}}}};
}

}  // namespace bench
