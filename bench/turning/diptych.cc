// Diptych through its C API, results as chunks of columns.
#include "diptych/diptych.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "contestant.h"

namespace diptych::bench {

class DiptychDatabase {
 public:
  DiptychDatabase() {
    if (diptych_open(":memory:", &database) != DIPTYCH_OK) {
      throw std::runtime_error(diptych_database_error(database).message);
    }
  }
  DiptychDatabase(const DiptychDatabase&) = delete;
  DiptychDatabase& operator=(const DiptychDatabase&) = delete;
  ~DiptychDatabase() { diptych_close(database); }

  diptych_database* database = nullptr;
  size_t loaded_rows = 0;
};

namespace {

// Calls visit(values, scale) with the column's values in their own type; a number is value / scale.
template <typename Visit>
void visit_column(const diptych_chunk_column& column, size_t rows, Visit visit) {
  const auto values_of = [&]<typename Value>(Value) {
    return std::span(static_cast<const Value*>(column.values), rows);
  };
  const bool is_numeric = column.type == DIPTYCH_TYPE_NUMERIC;
  const double scale = is_numeric ? std::pow(10.0, column.scale) : 1;
  if (column.validity != nullptr) throw std::runtime_error("a null where there is none");
  if (column.type == DIPTYCH_TYPE_INTEGER) return visit(values_of(int32_t{}), scale);
  if (column.type == DIPTYCH_TYPE_BIGINT) return visit(values_of(int64_t{}), scale);
  if (column.type == DIPTYCH_TYPE_DOUBLE) return visit(values_of(double{}), scale);
  if (is_numeric && column.width == 8) return visit(values_of(int64_t{}), scale);
  if (is_numeric && column.width == 16) return visit(values_of(__int128{}), scale);
  throw std::runtime_error(fmt::format("a column of type {} and width {}", fmt::underlying(column.type), column.width));
}

double sum_column(const diptych_chunk_column& column, size_t rows) {
  double sum = 0;
  visit_column(column, rows, [&]<typename Value>(std::span<const Value> values, double scale) {
    // 500,000 values of 32 bits fit 64 bits, and the sums of groups do.
    using Total = std::conditional_t<sizeof(Value) == 4, int64_t, Value>;
    sum = static_cast<double>(std::accumulate(values.begin(), values.end(), Total{})) / scale;
  });
  return sum;
}

void append_column(const diptych_chunk_column& column, size_t rows, std::vector<double>& target) {
  visit_column(column, rows, [&](auto values, double scale) {
    for (const auto value : values) target.push_back(static_cast<double>(value) / scale);
  });
}

class Diptych : public Contestant {
 public:
  Diptych(const std::string& name, std::shared_ptr<DiptychDatabase> database, const std::vector<std::string>& settings)
      : Contestant(name), database_(std::move(database)) {
    if (diptych_connect(database_->database, &connection_) != DIPTYCH_OK) {
      fail(diptych_database_error(database_->database), "connecting");
    }
    for (const std::string& setting : settings) execute(setting);
  }

  ~Diptych() override { diptych_disconnect(connection_); }

  std::string version() const override { return diptych_version(); }

  void execute(const std::string& sql) override {
    if (diptych_execute(connection_, sql.c_str()) != DIPTYCH_OK) fail(diptych_connection_error(connection_), sql);
  }

  void load(const Table& table) override {
    if (database_->loaded_rows == table.rows()) return;  // by another connection
    database_->loaded_rows = table.rows();
    execute("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS target");
    execute("CREATE TABLE t (id integer, group_number integer, value integer)");
    execute("CREATE TABLE target (id integer, group_number integer, value integer)");
    diptych_appender* appender = nullptr;
    bool is_good = diptych_append_begin(connection_, "t", &appender) == DIPTYCH_OK;
    for (size_t i = 0; i < table.rows() && is_good; ++i) {
      for (const int32_t value : {table.id[i], table.group_number[i], table.value[i]}) {
        is_good = is_good && diptych_append_int64(appender, value) == DIPTYCH_OK;
      }
      is_good = is_good && diptych_append_end_row(appender) == DIPTYCH_OK;
    }
    if (!is_good || diptych_append_finish(appender) != DIPTYCH_OK) fail(diptych_append_error(appender), "loading");
    diptych_append_abandon(appender);
  }

  Run run(const std::string& sql) override {
    const Stopwatch watch;
    Run run;
    fetch(
        sql,
        [&](const std::vector<diptych_chunk_column>& chunk, size_t rows) {
          for (const diptych_chunk_column& column : chunk) run.total += sum_column(column, rows);
          run.rows += static_cast<int64_t>(rows);
        },
        &run.rows);
    run.seconds = watch.seconds();
    return run;
  }

  Columns columns(const std::string& sql) override {
    Columns columns;
    fetch(sql, [&](const std::vector<diptych_chunk_column>& chunk, size_t rows) {
      columns.resize(chunk.size());
      for (size_t i = 0; i < chunk.size(); ++i) append_column(chunk[i], rows, columns[i]);
    });
    return columns;
  }

 private:
  using Statement = std::unique_ptr<diptych_statement, decltype(&diptych_finalize)>;

  // Calls take(chunk, rows) for each chunk of the result; *changed gets the rows that a change has changed.
  template <typename Take>
  void fetch(const std::string& sql, Take take, int64_t* changed = nullptr) {
    diptych_statement* prepared = nullptr;
    if (diptych_prepare(connection_, sql.c_str(), &prepared, nullptr) != DIPTYCH_OK) {
      fail(diptych_connection_error(connection_), sql);
    }
    const Statement statement(prepared, diptych_finalize);
    std::vector<diptych_chunk_column> chunk(static_cast<size_t>(diptych_column_count(prepared)));
    int64_t rows = 0;
    diptych_status status;
    while ((status = diptych_step_chunk(prepared, chunk.data(), &rows)) == DIPTYCH_ROW) {
      take(chunk, static_cast<size_t>(rows));
    }
    if (status != DIPTYCH_DONE) fail(diptych_statement_error(prepared), sql);
    if (changed != nullptr && chunk.empty()) *changed = diptych_rows_changed(prepared);
  }

  [[noreturn]] void fail(const diptych_error& error, const std::string& what) const {
    throw std::runtime_error(fmt::format("{}: {} {} ({})", name(), error.sqlstate, error.message, what));
  }

  std::shared_ptr<DiptychDatabase> database_;
  diptych_connection* connection_ = nullptr;
};

}  // namespace

std::shared_ptr<DiptychDatabase> open_diptych() { return std::make_shared<DiptychDatabase>(); }

std::unique_ptr<Contestant> make_diptych(const std::string& name, std::shared_ptr<DiptychDatabase> database,
                                         const std::vector<std::string>& settings) {
  return std::make_unique<Diptych>(name, std::move(database), settings);
}

}  // namespace diptych::bench
