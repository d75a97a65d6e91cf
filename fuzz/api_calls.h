// Random calls of the C API, for fuzzing: bytes say which function is called with which handles and arguments, in any
// order. Two connections, some statements and appenders over one database; right and wrong arguments; tables that come,
// go and change under prepared statements; handles closed in any order.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "diptych/diptych.h"

namespace diptych::fuzz {

inline constexpr const char* api_texts[] = {
    "CREATE TABLE t(a integer)",
    "CREATE TABLE t(a text, b bigint)",
    "CREATE TABLE t(a numeric(30, 2), b varchar(5) DEFAULT 'x', c date)",
    "CREATE TABLE t(a char(3) PRIMARY KEY, b double precision)",
    "CREATE TABLE IF NOT EXISTS t(a bigint, b timestamp, c interval, d boolean)",
    "DROP TABLE t",
    "DROP TABLE IF EXISTS t, u",
    "CREATE TABLE u AS SELECT * FROM t",
    "CREATE TABLE u AS SELECT $1 AS a, 1 AS b",
    "INSERT INTO t VALUES (1)",
    "INSERT INTO t VALUES ('7', '8')",
    "INSERT INTO t VALUES ($1)",
    "INSERT INTO t VALUES ($1, $2)",
    "INSERT INTO t(a) SELECT x FROM generate_series(1, 200) g(x)",
    "INSERT INTO u SELECT * FROM t",
    "INSERT INTO t SELECT * FROM u",
    "INSERT INTO t SELECT $1 FROM u",
    "SELECT * FROM t",
    "SELECT a FROM t",
    "SELECT * FROM u WHERE a IS NOT NULL",
    "SELECT count(*), min(a), max(a) FROM t",
    "SELECT a, count(*) FROM t GROUP BY a ORDER BY a DESC",
    "SELECT a FROM t WHERE a = $1 LIMIT $2",
    "SELECT $1, $2::integer, now()",
    "SELECT * FROM generate_series($1, $2) LIMIT 300",
    "SELECT 1 AS a, 'two' AS b, 3.5, NULL, date '2024-02-29'",
    "EXPLAIN SELECT * FROM t WHERE a > $1",
    "EXPLAIN ANALYZE SELECT a FROM t",
    "DESCRIBE t",
    "SHOW tables",
    "SET tablet_rows = 64",
    "SET threads = 2",
    "SELECT 1 / (a - a) FROM u",
    "SELECT 1; SELECT",
    "",
};

// Interrupts connections every now and then, so that no call waits for ever.
class Interrupter {
 public:
  Interrupter()
      : thread_([this] {
          std::unique_lock lock(mutex_);
          while (!wake_.wait_for(lock, period, [this] { return done_; }))
            for (diptych_connection* connection : connections_) diptych_interrupt(connection);
        }) {}
  ~Interrupter() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  void set(size_t number, diptych_connection* connection) {
    const std::lock_guard lock(mutex_);
    connections_[number] = connection;
  }

 private:
  static constexpr auto period = std::chrono::milliseconds(5);
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::array<diptych_connection*, 2> connections_{};
  std::thread thread_;
};

class ApiCalls {
 public:
  // The database's handle is closed by one of the calls when `may_close`, else never.
  ApiCalls(diptych_database* database, bool may_close, std::span<const uint8_t> bytes)
      : database_(database), may_close_(may_close), bytes_(bytes) {}

  ~ApiCalls() {
    const bool in_order = byte() % 2 == 0;
    if (!in_order) close_connections();
    for (Appender& appender : appenders_) diptych_append_abandon(appender.handle);
    for (Statement& statement : statements_) diptych_finalize(statement.handle);
    if (in_order) close_connections();
    if (may_close_) diptych_close(database_);
  }

  void run() {
    for (size_t i = 0; i < connections_.size(); ++i) connect(i);
    while (at_ < bytes_.size()) call();
  }

 private:
  // A handle with the number of its connection's handle; -1: that is closed.
  struct Statement {
    diptych_statement* handle = nullptr;
    int connection = -1;
  };
  struct Appender {
    diptych_appender* handle = nullptr;
    int connection = -1;
  };

  uint8_t byte() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }

  // Small numbers of either sign most of the time, else an extreme.
  int32_t number() {
    const auto value = static_cast<int8_t>(byte());
    if (value == INT8_MAX) return INT32_MAX;
    if (value == INT8_MIN) return INT32_MIN;
    return value % 6;
  }

  std::string bytes() {
    std::string text;
    for (size_t left = byte() % 16; left > 0; --left) text += static_cast<char>(byte());
    return text;
  }

  std::string sql() {
    const size_t choice = byte();
    if (choice < 224) return api_texts[choice % std::size(api_texts)];
    std::string text = bytes();
    for (char& c : text)
      if (c == 'c' || c == 'C') c = 'x';  // COPY would write files
    return text;
  }

  static void check(const diptych_error& error) {
    if (std::strcmp(error.sqlstate, "XX000") != 0) return;
    std::fprintf(stderr, "internal error: %s\n", error.message);
    std::abort();
  }

  static diptych_statement* check(diptych_statement* statement) {
    check(diptych_statement_error(statement));
    return statement;
  }

  void close_connections() {
    for (size_t i = 0; i < connections_.size(); ++i) close_connection(i);
  }

  void close_connection(size_t i) {
    interrupter_.set(i, nullptr);
    diptych_disconnect(connections_[i]);
    connections_[i] = nullptr;
    for (Statement& statement : statements_)
      if (statement.connection == static_cast<int>(i)) statement.connection = -1;
    for (Appender& appender : appenders_)
      if (appender.connection == static_cast<int>(i)) appender.connection = -1;
  }

  void connect(size_t i) {
    close_connection(i);
    diptych_connect(database_, &connections_[i]);
    interrupter_.set(i, connections_[i]);
  }

  // A statement of a closed connection can't be interrupted, so that nobody of this thread may keep it waiting.
  void let_write(const Statement& statement) {
    if (statement.connection >= 0) return;
    for (Appender& appender : appenders_) {
      diptych_append_abandon(appender.handle);
      appender.handle = nullptr;
    }
  }

  void read(diptych_statement* statement) {
    const int32_t column = number();
    int64_t length = 0;
    const char* text = diptych_column_text(statement, column, byte() % 2 ? &length : nullptr);
    touch(text, text ? static_cast<size_t>(length) : 0);
    diptych_column_int64(statement, column);
    diptych_column_double(statement, column);
    diptych_column_is_null(statement, column);
    const char* name = diptych_column_name(statement, column);
    touch(name, name ? std::strlen(name) : 0);
    name = diptych_column_type_name(statement, column);
    touch(name, name ? std::strlen(name) : 0);
    diptych_column_type(statement, column);
  }

  // Reads the bytes, so that a sanitizer sees those that are not there.
  static void touch(const void* data, size_t size) {
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < size; ++i) sum = static_cast<uint8_t>(sum + static_cast<const uint8_t*>(data)[i]);
  }

  void read_chunk(diptych_statement* statement) {
    std::vector<diptych_chunk_column> columns(static_cast<size_t>(diptych_column_count(statement)));
    int64_t rows = 0;
    const bool with_columns = byte() % 8 != 0;
    const diptych_status status =
        diptych_step_chunk(statement, with_columns ? columns.data() : nullptr, byte() % 8 ? &rows : nullptr);
    if (status != DIPTYCH_ROW) return;
    const auto count = static_cast<size_t>(rows);
    for (const diptych_chunk_column& column : columns) {
      if (column.validity) touch(column.validity, (count + 7) / 8);
      if (column.values) touch(column.values, count * static_cast<size_t>(column.width));
      if (column.offsets) touch(column.bytes, column.offsets[count]);
    }
  }

  void bind(diptych_statement* statement) {
    const int32_t parameter = number();
    switch (byte() % 5) {
      case 0: diptych_bind_null(statement, parameter); break;
      case 1: diptych_bind_boolean(statement, parameter, byte() % 2 != 0); break;
      case 2: diptych_bind_int64(statement, parameter, number()); break;
      case 3: diptych_bind_double(statement, parameter, number() / 4.0); break;
      default: {
        const std::string text = bytes();
        diptych_bind_text(statement, parameter, byte() % 8 ? text.data() : nullptr,
                          byte() % 2 ? static_cast<int64_t>(text.size()) : -1);
      }
    }
  }

  void prepare(size_t connection, Statement& statement) {
    diptych_finalize(statement.handle);
    const std::string text = sql();
    const char* tail = nullptr;
    diptych_prepare(connections_[connection], byte() % 16 ? text.c_str() : nullptr, &statement.handle,
                    byte() % 2 ? &tail : nullptr);
    statement.connection = static_cast<int>(connection);
  }

  void append(diptych_appender* appender) {
    switch (byte() % 8) {
      case 0: diptych_append_null(appender); break;
      case 1:
      case 2: diptych_append_int64(appender, number()); break;
      case 3: diptych_append_double(appender, number() / 4.0); break;
      case 4: {
        const std::string text = bytes();
        diptych_append_text(appender, byte() % 8 ? text.data() : nullptr, static_cast<int64_t>(text.size()));
        break;
      }
      case 5:
      case 6: diptych_append_end_row(appender); break;
      default: diptych_append_finish(appender);
    }
    check(diptych_append_error(appender));
  }

  void call() {
    const uint8_t what = byte(), which = byte();
    const size_t connection = which % connections_.size();
    diptych_connection* handle = connections_[connection];
    Statement& statement = statements_[which % statements_.size()];
    Appender& appender = appenders_[which % appenders_.size()];
    switch (what % 20) {
      case 0: connect(connection); break;
      case 1:
        if (what > 200) close_connection(connection);
        break;
      case 2:
        if (may_close_ && what > 200) {
          diptych_close(database_);
          database_ = nullptr;
        }
        break;
      case 3:
      case 4: diptych_execute(handle, byte() % 16 ? sql().c_str() : nullptr); break;
      case 5:
      case 6: prepare(connection, statement); break;
      case 7: diptych_finalize(std::exchange(statement.handle, nullptr)); break;
      case 8:
      case 9:
      case 10:
        let_write(statement);
        diptych_step(statement.handle);
        break;
      case 11:
        let_write(statement);
        read_chunk(statement.handle);
        break;
      case 12: read(statement.handle); break;
      case 13: bind(statement.handle); break;
      case 14: diptych_reset(statement.handle); break;
      case 15:
        diptych_append_abandon(std::exchange(appender.handle, nullptr));
        diptych_append_begin(handle, byte() % 16 ? (byte() % 2 ? "t" : "u") : nullptr, &appender.handle);
        appender.connection = static_cast<int>(connection);
        break;
      case 16:
      case 17: append(appender.handle); break;
      case 18: diptych_append_abandon(std::exchange(appender.handle, nullptr)); break;
      default:
        diptych_interrupt(handle);
        diptych_get_progress(handle);
        diptych_rows_changed(statement.handle);
        diptych_parameter_count(statement.handle);
    }
    if (may_close_) check(diptych_database_error(database_));
    check(diptych_connection_error(connections_[connection]));
    check(statement.handle);
  }

  diptych_database* database_;
  bool may_close_;
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  Interrupter interrupter_;
  std::array<diptych_connection*, 2> connections_{};
  std::array<Statement, 4> statements_;
  std::array<Appender, 2> appenders_;
};

}  // namespace diptych::fuzz
