#include "engine.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace slt {
namespace {

// How long after the interrupt a statement may go on before the process is given up.
constexpr int grace_seconds = 30;

Outcome failure(const diptych_error& error) {
  Outcome outcome;
  outcome.sqlstate = error.sqlstate;
  outcome.message = error.message;
  return outcome;
}

Row read_row(diptych_statement* statement, int32_t columns) {
  Row row(static_cast<size_t>(columns));
  for (int32_t c = 0; c < columns; ++c) {
    if (diptych_column_is_null(statement, c)) continue;
    int64_t bytes = 0;
    const char* text = diptych_column_text(statement, c, &bytes);
    row[static_cast<size_t>(c)] =
        text == nullptr ? std::string("(no text)") : std::string(text, static_cast<size_t>(bytes));
  }
  return row;
}

}  // namespace

Watchdog::Watchdog(diptych_connection* connection, int limit_seconds)
    : thread_([this, connection, limit_seconds] {
        std::unique_lock lock(mutex_);
        const auto done = [this] { return done_; };
        if (wake_.wait_for(lock, std::chrono::seconds(limit_seconds), done)) return;
        diptych_interrupt(connection);
        if (wake_.wait_for(lock, std::chrono::seconds(grace_seconds), done)) return;
        std::fprintf(stderr, "a statement does not react to diptych_interrupt\n");
        _exit(3);
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

Engine::Engine(std::string path, std::vector<std::string> settings, int limit_seconds)
    : path_(std::move(path)), settings_(std::move(settings)), limit_seconds_(limit_seconds) {
  open();
}

Engine::~Engine() { close(); }

void Engine::open() {
  if (diptych_open(path_.c_str(), &database_) != DIPTYCH_OK) {
    throw std::runtime_error(std::string("open: ") + diptych_database_error(database_).message);
  }
  if (diptych_connect(database_, &connection_) != DIPTYCH_OK) {
    throw std::runtime_error(std::string("connect: ") + diptych_database_error(database_).message);
  }
  for (const std::string& setting : settings_) {
    const size_t equals = setting.find('=');
    const Outcome outcome = run("SET " + setting.substr(0, equals) + " = " + setting.substr(equals + 1));
    if (outcome.failed()) throw std::runtime_error("--set " + setting + ": " + outcome.message);
  }
}

void Engine::close() {
  diptych_disconnect(std::exchange(connection_, nullptr));
  diptych_close(std::exchange(database_, nullptr));
}

void Engine::restart() {
  close();
  open();
}

Outcome Engine::run_one(const char* sql, const char** tail, bool& blank) {
  diptych_statement* statement = nullptr;
  if (diptych_prepare(connection_, sql, &statement, tail) != DIPTYCH_OK) {
    Outcome outcome = failure(diptych_connection_error(connection_));
    diptych_finalize(statement);
    return outcome;
  }
  blank = statement == nullptr;
  Outcome outcome;
  if (blank) return outcome;
  const int32_t columns = diptych_column_count(statement);
  for (int32_t c = 0; c < columns; ++c) {
    outcome.types.push_back(diptych_column_type(statement, c));
    outcome.names.emplace_back(diptych_column_name(statement, c));
  }
  diptych_status status;
  while ((status = diptych_step(statement)) == DIPTYCH_ROW) outcome.rows.push_back(read_row(statement, columns));
  if (status == DIPTYCH_ERROR) outcome = failure(diptych_statement_error(statement));
  diptych_finalize(statement);
  return outcome;
}

Outcome Engine::run(const std::string& sql) {
  const Watchdog watchdog(connection_, limit_seconds_);
  Outcome last;
  for (const char* rest = sql.c_str(); rest != nullptr && *rest != 0;) {
    const char* tail = nullptr;
    bool blank = false;
    Outcome outcome = run_one(rest, &tail, blank);
    if (!blank) last = std::move(outcome);
    if (last.failed() || tail == rest) break;
    rest = tail;
  }
  return last;
}

}  // namespace slt
