// What the C API's handles hold, and where errors stop: every API function runs its body in guard(), which turns what
// is thrown into the handle's error state.
#pragma once

#include <memory>
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
  void clear() { *this = ErrorState(); }
  // text: what error.position() counts bytes of; the API counts characters.
  void set(const Error& error, std::string_view text = {});
  void set(SqlState state, std::string message);
  diptych_error view() const;

 private:
  std::string sqlstate_ = "00000";
  std::string message_;
  std::string hint_;
  int64_t position_ = 0;
};

// Runs the body and reports what it throws in `state`. `text` is the SQL that error positions count in.
template <typename Body>
diptych_status guard(ErrorState& state, std::string_view text, Body&& body) {
  state.clear();
  try {
    return body();
  } catch (const Error& error) {
    state.set(error, text);
  } catch (const std::bad_alloc&) {
    state.set(SqlState::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    state.set(SqlState::internal_error, error.what());
  }
  return DIPTYCH_ERROR;
}

}  // namespace diptych

struct diptych_database {
  diptych::ErrorState error;
  std::unique_ptr<diptych::Database> database;
};

struct diptych_connection {
  explicit diptych_connection(diptych::Database& database) : connection(database) {}
  diptych::ErrorState error;
  diptych::Connection connection;
};
