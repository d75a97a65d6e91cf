// Connections to one database through the C API, for threads of one process.
#pragma once

#include <diptych/diptych.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

class Failure : public std::runtime_error {
 public:
  explicit Failure(const diptych_error& error)
      : std::runtime_error(std::string(error.sqlstate) + ": " + error.message), state(error.sqlstate) {}
  std::string state;
};

class Database {
 public:
  explicit Database(const std::string& path = ":memory:");
  ~Database() { diptych_close(database_); }
  Database(const Database&) = delete;
  diptych_database* get() const { return database_; }

 private:
  diptych_database* database_ = nullptr;
};

class Connection {
 public:
  explicit Connection(const Database& database);
  ~Connection() { diptych_disconnect(connection_); }
  Connection(const Connection&) = delete;

  // A line of text for each row, columns between tabs. Errors: Failure.
  std::vector<std::string> run(const std::string& sql);
  // From any thread.
  void interrupt() { diptych_interrupt(connection_); }
  diptych_connection* get() const { return connection_; }

 private:
  diptych_connection* connection_ = nullptr;
};

// A statement that is prepared once and run with many values. Parameters are numbered from 1. Errors: Failure.
class Prepared {
 public:
  Prepared(const Connection& connection, const std::string& sql);
  ~Prepared() { diptych_finalize(statement_); }
  Prepared(const Prepared&) = delete;

  void bind(int32_t parameter, int64_t value);
  void bind(int32_t parameter, const std::string& text);
  // To its end, without its rows; returns how many rows it has changed.
  int64_t run();

 private:
  diptych_statement* statement_ = nullptr;
};

}  // namespace bench
