// What the C API's handles hold, and where errors stop: every API function runs its body in guard() or value_or(),
// which turn what is thrown into the handle's error state.
//
//   diptych_database ----------------------------> Database
//   diptych_connection --> Session (Connection) ------^
//   diptych_statement, diptych_appender --^
//
// Arrows are shared ownership, so handles may be closed in any order: what a handle stands on lives as long as it does.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "diptych/diptych.h"
#include "session/connection.h"
#include "session/database.h"
#include "session/statement.h"

namespace diptych {

// The last error of a handle, in the form that the API shows.
class ErrorState {
 public:
  void clear() noexcept;
  // Of the exception that is being handled, whatever its type. text: what its position counts bytes of; the API counts
  // characters.
  void set_from_exception(std::string_view text) noexcept;
  diptych_error view() const noexcept;

 private:
  void set(const Error& error, std::string_view text);

  const char* sqlstate_ = "00000";
  std::string message_;
  std::string hint_;
  int64_t position_ = 0;
};

// The error of a handle; of a NULL handle that there is none.
template <typename Handle>
diptych_error error_of(const Handle* handle) noexcept {
  return handle ? handle->error.view() : diptych_error{"22023", "the handle is NULL", "", 0};
}

// Runs the body and reports what it throws in the handle's error state. `text` is the SQL that error positions count
// in.
template <typename Handle, typename Body>
diptych_status guard(Handle* handle, std::string_view text, Body&& body) noexcept {
  if (!handle) return DIPTYCH_ERROR;
  handle->error.clear();
  try {
    return body();
  } catch (...) {
    handle->error.set_from_exception(text);
  }
  return DIPTYCH_ERROR;
}

// What the body returns; `otherwise` without a handle and on an error. An older error stays while there is no new one.
template <typename Value, typename Handle, typename Body>
Value value_or(Value otherwise, Handle* handle, Body&& body) noexcept {
  if (!handle) return otherwise;
  try {
    return body();
  } catch (...) {
    handle->error.set_from_exception({});
  }
  return otherwise;
}

// Errors: 22023 the argument is NULL.
template <typename T>
T* not_null(T* argument, const char* name) {
  if (!argument) throw Error(SqlState::invalid_parameter_value, std::string(name) + " is NULL");
  return argument;
}

// The bytes of a text argument, all up to its first NUL when their count is negative. Errors: 22023 it is NULL.
inline std::string_view text_argument(const char* text, int64_t bytes) {
  not_null(text, "the text");
  return bytes < 0 ? std::string_view(text) : std::string_view(text, static_cast<size_t>(bytes));
}

// A connection with the database that it stands on.
struct Session {
  explicit Session(std::shared_ptr<Database> shared) : database(std::move(shared)), connection(*database) {}
  const std::shared_ptr<Database> database;
  Connection connection;
};

}  // namespace diptych

struct diptych_database {
  std::mutex mutex;  // connections are made one after the other, as each may leave an error
  mutable diptych::ErrorState error;
  std::shared_ptr<diptych::Database> database;  // null: it could not be opened
};

struct diptych_connection {
  explicit diptych_connection(std::shared_ptr<diptych::Database> database)
      : session(std::make_shared<diptych::Session>(std::move(database))) {}
  mutable diptych::ErrorState error;
  const std::shared_ptr<diptych::Session> session;
};
