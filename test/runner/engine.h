// The engine under test, through its C API alone.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "diptych/diptych.h"

namespace slt {

using Row = std::vector<std::optional<std::string>>;

// What became of a statement: rows, or an error with its SQLSTATE.
struct Outcome {
  std::string sqlstate;  // empty when it succeeded
  std::string message;
  std::vector<diptych_type> types;
  std::vector<std::string> names;
  std::vector<Row> rows;  // texts as diptych_column_text gives them
  bool failed() const { return !sqlstate.empty(); }
};

// Interrupts the connection when a statement runs past the limit, and ends the process when that does not help.
class Watchdog {
 public:
  Watchdog(diptych_connection* connection, int limit_seconds);
  ~Watchdog();

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

// One database with one connection. Not copyable: it owns both handles.
class Engine {
 public:
  // path: a file or ":memory:". settings: "name=value", each run as SET name = value. Throws std::runtime_error.
  Engine(std::string path, std::vector<std::string> settings, int limit_seconds);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  bool in_memory() const { return path_ == ":memory:"; }
  // Runs every statement of `sql`; rows and types are the last one's. Stops at the first error.
  Outcome run(const std::string& sql);
  // Closes the database and opens it again.
  void restart();

 private:
  void open();
  void close();
  Outcome run_one(const char* sql, const char** tail, bool& blank);

  std::string path_;
  std::vector<std::string> settings_;
  int limit_seconds_;
  diptych_database* database_ = nullptr;
  diptych_connection* connection_ = nullptr;
};

}  // namespace slt
