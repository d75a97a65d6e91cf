// SQLite through its C API, one thread and no locks, everything in memory: the pages, its journal, its sorting.
#include <fmt/format.h>
#include <sqlite3.h>

#include <stdexcept>

#include "contestant.h"

namespace diptych::bench {

namespace {

class Sqlite : public Contestant {
 public:
  Sqlite(const std::string& name, bool has_index) : Contestant(name), has_index_(has_index) {
    check(sqlite3_open_v2(":memory:", &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                          nullptr));
    execute("PRAGMA journal_mode = memory; PRAGMA temp_store = memory");
  }

  ~Sqlite() override { sqlite3_close(database_); }

  std::string version() const override { return sqlite3_libversion(); }

  void execute(const std::string& sql) override {
    check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
  }

  void load(const Table& table) override {
    execute("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS target");
    execute("CREATE TABLE t (id integer, group_number integer, value integer)");
    execute("CREATE TABLE target (id integer, group_number integer, value integer)");
    execute("BEGIN");
    Statement insert(*this, "INSERT INTO t VALUES (?, ?, ?)");
    for (size_t i = 0; i < table.rows(); ++i) {
      sqlite3_bind_int(insert.get(), 1, table.id[i]);
      sqlite3_bind_int(insert.get(), 2, table.group_number[i]);
      sqlite3_bind_int(insert.get(), 3, table.value[i]);
      insert.step();
      sqlite3_reset(insert.get());
    }
    execute("COMMIT");
    if (has_index_) execute("CREATE INDEX t_id ON t (id)");
  }

  Run run(const std::string& sql) override {
    const Stopwatch watch;
    const int64_t changed_before = sqlite3_total_changes64(database_);
    Run run;
    {
      Statement statement(*this, sql);
      const int columns = sqlite3_column_count(statement.get());
      while (statement.step()) {
        for (int i = 0; i < columns; ++i) run.total += sqlite3_column_double(statement.get(), i);
        ++run.rows;
      }
      if (columns == 0) run.rows = sqlite3_total_changes64(database_) - changed_before;
    }
    run.seconds = watch.seconds();
    return run;
  }

  Columns columns(const std::string& sql) override {
    Statement statement(*this, sql);
    Columns columns(static_cast<size_t>(sqlite3_column_count(statement.get())));
    while (statement.step()) {
      for (size_t i = 0; i < columns.size(); ++i) {
        columns[i].push_back(sqlite3_column_double(statement.get(), static_cast<int>(i)));
      }
    }
    return columns;
  }

 private:
  class Statement {
   public:
    Statement(const Sqlite& owner, const std::string& sql) : owner_(owner) {
      owner.check(sqlite3_prepare_v2(owner.database_, sql.c_str(), -1, &statement_, nullptr));
    }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement() { sqlite3_finalize(statement_); }

    sqlite3_stmt* get() const { return statement_; }

    // Whether a row is there to read.
    bool step() {
      const int code = sqlite3_step(statement_);
      if (code != SQLITE_ROW && code != SQLITE_DONE) owner_.check(code);
      return code == SQLITE_ROW;
    }

   private:
    const Sqlite& owner_;
    sqlite3_stmt* statement_ = nullptr;
  };

  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(fmt::format("{}: {}", name(), sqlite3_errmsg(database_)));
  }

  bool has_index_;
  sqlite3* database_ = nullptr;
};

}  // namespace

std::unique_ptr<Contestant> make_sqlite(const std::string& name, bool has_index) {
  return std::make_unique<Sqlite>(name, has_index);
}

}  // namespace diptych::bench
