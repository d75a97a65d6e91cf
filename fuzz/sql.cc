// Fuzzing the SQL entry point: any bytes are a script that runs, through the C API, against a small database in memory.
// It may succeed or fail with an error; it may not crash, hang, or fail with an internal error (XX000).
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "diptych/diptych.h"

namespace {

constexpr int64_t most_rows = 2000;  // read of each result
constexpr auto time_limit = std::chrono::milliseconds(500);

constexpr const char* schema =
    "SET threads = 1; SET memory_limit = '64MB';"
    "CREATE TABLE t(i integer, l bigint, n numeric(10,2), d double precision, s text, v varchar(5), x date, ts "
    "timestamp,"
    " b boolean);"
    "INSERT INTO t VALUES (1, 2, 3.25, 4.5, 'five', 'six', '2020-01-07', '2020-01-08 09:10:11', true),"
    " (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (-2147483648, 9223372036854775807, -0.01, 'NaN', '', "
    "'a', "
    "'infinity', '0001-01-01', false);"
    "CREATE TABLE k(id integer PRIMARY KEY, name text NOT NULL DEFAULT 'none');"
    "INSERT INTO k VALUES (1, 'one'), (2, 'two')";

// Interrupts what runs longer than the limit.
class Alarm {
 public:
  explicit Alarm(diptych_connection* connection)
      : thread_([this, connection] {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, time_limit, [this] { return done_; })) diptych_interrupt(connection);
        }) {}
  ~Alarm() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

void check(const diptych_error& error, const std::string& sql) {
  if (std::strcmp(error.sqlstate, "XX000") != 0) return;
  std::fprintf(stderr, "internal error: %s\nin: %s\n", error.message, sql.c_str());
  std::abort();
}

void read_rows(diptych_statement* statement, const std::string& sql) {
  const int32_t columns = diptych_column_count(statement);
  diptych_status status = DIPTYCH_DONE;
  for (int64_t row = 0; row < most_rows && (status = diptych_step(statement)) == DIPTYCH_ROW; ++row) {
    for (int32_t column = 0; column < columns; ++column) {
      int64_t bytes = 0;
      diptych_column_text(statement, column, &bytes);
      diptych_column_int64(statement, column);
      diptych_column_double(statement, column);
    }
  }
  if (status == DIPTYCH_ERROR) check(diptych_statement_error(statement), sql);
}

void run_script(diptych_connection* connection, const std::string& sql) {
  for (const char* rest = sql.c_str(); *rest != 0;) {
    diptych_statement* statement = nullptr;
    const char* tail = nullptr;
    if (diptych_prepare(connection, rest, &statement, &tail) != DIPTYCH_OK) {
      check(diptych_connection_error(connection), sql);
      diptych_finalize(statement);
      return;
    }
    if (statement != nullptr) read_rows(statement, sql);
    diptych_finalize(statement);
    if (tail == nullptr || tail == rest) return;
    rest = tail;
  }
}

// COPY would write files wherever the bytes say.
bool names_copy(std::string sql) {
  std::transform(sql.begin(), sql.end(), sql.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return sql.find("copy") != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string sql(reinterpret_cast<const char*>(data), size);
  if (names_copy(sql)) return -1;
  diptych_database* database = nullptr;
  diptych_connection* connection = nullptr;
  if (diptych_open(":memory:", &database) != DIPTYCH_OK) std::abort();
  if (diptych_connect(database, &connection) != DIPTYCH_OK) std::abort();
  if (diptych_execute(connection, schema) != DIPTYCH_OK) {
    std::fprintf(stderr, "the schema fails: %s\n", diptych_connection_error(connection).message);
    std::abort();
  }
  {
    const Alarm alarm(connection);
    run_script(connection, sql);
  }
  diptych_disconnect(connection);
  diptych_close(database);
  return 0;
}
