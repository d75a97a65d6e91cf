// Diptych through its C API: a database in memory, rows in through the appender, results out a chunk at a time.
#include <diptych/diptych.h>
#include <fmt/format.h>

#include <stdexcept>

#include "queries.h"
#include "system.h"

namespace diptych::bench {

namespace {

class DiptychSystem : public System {
 public:
  explicit DiptychSystem(const Dataset& data) {
    check(diptych_open(nullptr, &database_) == DIPTYCH_OK, [&] { return diptych_database_error(database_); });
    check(diptych_connect(database_, &connection_) == DIPTYCH_OK, [&] { return diptych_database_error(database_); });
    execute(
        "create table test (id integer, uniformi integer, normali5 integer, normali20 integer, uniformf real, "
        "normalf5 real, normalf20 real)");
    load(data);
  }

  ~DiptychSystem() override {
    diptych_disconnect(connection_);
    diptych_close(database_);
  }

  std::string version() const override { return diptych_version(); }
  void set_threads(int threads) override { execute(fmt::format("set threads = {}", threads)); }

  double run(size_t query) override {
    const Stopwatch watch;
    fetch(query, [](const auto&, int64_t) {});
    return watch.seconds();
  }

  Digest digest(size_t query) override {
    Digest digest;
    fetch(query, [&](const auto& chunk, int64_t rows) {
      std::array<const uint32_t*, most_columns> columns{};
      for (size_t i = 0; i < queries[query].columns; ++i) {
        if (chunk[i].width != 4 || chunk[i].validity != nullptr) throw std::runtime_error("diptych: unexpected chunk");
        columns[i] = static_cast<const uint32_t*>(chunk[i].values);
      }
      digest.add(std::span(columns).first(queries[query].columns), static_cast<size_t>(rows));
    });
    return digest;
  }

 private:
  template <typename ErrorOf>
  static void check(bool good, const ErrorOf& error_of) {
    if (good) return;
    const diptych_error error = error_of();
    throw std::runtime_error(fmt::format("diptych: {} {}", error.sqlstate, error.message));
  }

  void execute(const std::string& sql) {
    check(diptych_execute(connection_, sql.c_str()) == DIPTYCH_OK,
          [&] { return diptych_connection_error(connection_); });
  }

  void load(const Dataset& data) {
    diptych_appender* appender = nullptr;
    const auto error_of = [&] { return diptych_append_error(appender); };
    check(diptych_append_begin(connection_, "test", &appender) == DIPTYCH_OK,
          [&] { return diptych_connection_error(connection_); });
    for (size_t i = 0; i < data.rows(); ++i) {
      diptych_status status = DIPTYCH_OK;
      for (const auto* column : {&data.id, &data.uniformi, &data.normali5, &data.normali20}) {
        if (status == DIPTYCH_OK) status = diptych_append_int64(appender, (*column)[i]);
      }
      for (const auto* column : {&data.uniformf, &data.normalf5, &data.normalf20}) {
        if (status == DIPTYCH_OK) status = diptych_append_double(appender, (*column)[i]);
      }
      check(status == DIPTYCH_OK && diptych_append_end_row(appender) == DIPTYCH_OK, error_of);
    }
    check(diptych_append_finish(appender) == DIPTYCH_OK, error_of);
    diptych_append_abandon(appender);
  }

  template <typename Take>
  void fetch(size_t query, const Take& take) {
    diptych_statement* statement = nullptr;
    check(diptych_prepare(connection_, queries[query].sql.data(), &statement, nullptr) == DIPTYCH_OK,
          [&] { return diptych_connection_error(connection_); });
    std::array<diptych_chunk_column, most_columns> chunk{};
    int64_t rows = 0;
    diptych_status status;
    while ((status = diptych_step_chunk(statement, chunk.data(), &rows)) == DIPTYCH_ROW) take(chunk, rows);
    check(status == DIPTYCH_DONE, [&] { return diptych_statement_error(statement); });
    diptych_finalize(statement);
  }

  diptych_database* database_ = nullptr;
  diptych_connection* connection_ = nullptr;
};

}  // namespace

std::unique_ptr<System> make_diptych_system(const Dataset& data) { return std::make_unique<DiptychSystem>(data); }

}  // namespace diptych::bench
