// SQLite through its C API: a database in memory, values fetched one by one, as its interface demands.
#include <fmt/format.h>
#include <sqlite3.h>

#include <bit>
#include <stdexcept>

#include "queries.h"
#include "system.h"

namespace diptych::bench {

namespace {

class SqliteSystem : public System {
 public:
  explicit SqliteSystem(const Dataset& data) {
    check(sqlite3_open(":memory:", &database_));
    execute("pragma journal_mode = off");
    execute(
        "create table test (id integer primary key, uniformi integer, normali5 integer, normali20 integer, "
        "uniformf real, normalf5 real, normalf20 real)");
    load(data);
    for (auto& column : fetched_) column.resize(data.rows());
  }

  ~SqliteSystem() override { sqlite3_close(database_); }

  std::string version() const override { return sqlite3_libversion(); }
  void configure(const Configuration&) override {}  // SQLite has one thread

  double run(size_t query) override {
    const Stopwatch watch;
    fetch(query);
    return watch.seconds();
  }

  Digest digest(size_t query) override {
    const size_t rows = fetch(query);
    std::array<const uint32_t*, most_columns> columns{};
    for (size_t i = 0; i < most_columns; ++i) columns[i] = fetched_[i].data();
    Digest digest;
    digest.add(std::span(columns).first(queries[query].columns), rows);
    return digest;
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(fmt::format("sqlite: {}", sqlite3_errmsg(database_)));
  }

  void execute(const char* sql) { check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr)); }

  void load(const Dataset& data) {
    execute("begin");
    sqlite3_stmt* insert = nullptr;
    check(sqlite3_prepare_v2(database_, "insert into test values (?, ?, ?, ?, ?, ?, ?)", -1, &insert, nullptr));
    for (size_t i = 0; i < data.rows(); ++i) {
      int parameter = 0;
      for (const auto* column : {&data.id, &data.uniformi, &data.normali5, &data.normali20}) {
        sqlite3_bind_int(insert, ++parameter, (*column)[i]);
      }
      for (const auto* column : {&data.uniformf, &data.normalf5, &data.normalf20}) {
        sqlite3_bind_double(insert, ++parameter, (*column)[i]);
      }
      if (sqlite3_step(insert) != SQLITE_DONE) check(SQLITE_ERROR);
      sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    execute("commit");
  }

  // The rows, in fetched_; returns how many.
  size_t fetch(size_t query) {
    sqlite3_stmt* select = nullptr;
    check(sqlite3_prepare_v2(database_, queries[query].sql.data(), -1, &select, nullptr));
    const auto columns = static_cast<int>(queries[query].columns);
    const bool floats = queries[query].floats;
    size_t rows = 0;
    int code;
    while ((code = sqlite3_step(select)) == SQLITE_ROW) {
      fetched_[0][rows] = static_cast<uint32_t>(sqlite3_column_int(select, 0));
      for (int i = 1; i < columns; ++i) {
        fetched_[static_cast<size_t>(i)][rows] =
            floats ? std::bit_cast<uint32_t>(static_cast<float>(sqlite3_column_double(select, i)))
                   : static_cast<uint32_t>(sqlite3_column_int(select, i));
      }
      ++rows;
    }
    if (code != SQLITE_DONE) check(code);
    sqlite3_finalize(select);
    return rows;
  }

  sqlite3* database_ = nullptr;
  std::array<std::vector<uint32_t>, most_columns> fetched_;
};

}  // namespace

std::unique_ptr<System> make_sqlite_system(const Dataset& data) { return std::make_unique<SqliteSystem>(data); }

}  // namespace diptych::bench
