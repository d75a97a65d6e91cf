// Databases and connections of the C API.
#include "api/handles.h"
#include "sql/parser.h"

using diptych::guard;
using diptych::not_null;

namespace {

void run_script(diptych::Connection& connection, std::string_view script) {
  std::string_view rest = script;
  while (!rest.empty()) {
    const auto offset = static_cast<int>(rest.data() - script.data());
    const diptych::StatementText split = diptych::split_statement(rest);
    try {
      diptych::Statement statement(connection, std::string(split.text));
      if (!statement.is_empty()) {
        connection.start_statement();
        statement.run();
      }
    } catch (const diptych::Error& error) {
      if (error.position() < 0) throw;
      throw diptych::Error(error.state(), error.message(), error.position() + offset, error.hint());
    }
    rest = split.rest;
  }
}

diptych_status open_database(const char* path, diptych_database** database, bool is_read_only) {
  if (!database) return DIPTYCH_ERROR;
  *database = new (std::nothrow) diptych_database();
  return guard(*database, {}, [&] {
    (*database)->database = std::make_shared<diptych::Database>(path ? path : ":memory:", is_read_only);
    return DIPTYCH_OK;
  });
}

}  // namespace

extern "C" {

const char* diptych_version(void) { return DIPTYCH_VERSION; }

diptych_status diptych_open(const char* path, diptych_database** database) {
  return open_database(path, database, false);
}

diptych_status diptych_open_read_only(const char* path, diptych_database** database) {
  return open_database(path, database, true);
}

diptych_error diptych_database_error(const diptych_database* database) { return diptych::error_of(database); }

void diptych_close(diptych_database* database) { delete database; }

diptych_status diptych_connect(diptych_database* database, diptych_connection** connection) {
  if (connection) *connection = nullptr;
  if (!database) return DIPTYCH_ERROR;
  const std::lock_guard lock(database->mutex);
  return guard(database, {}, [&] {
    not_null(connection, "the place for the connection");
    if (!database->database)
      throw diptych::Error(diptych::SqlState::invalid_parameter_value, "the database is not open");
    *connection = new diptych_connection(database->database);
    return DIPTYCH_OK;
  });
}

void diptych_disconnect(diptych_connection* connection) { delete connection; }

diptych_error diptych_connection_error(const diptych_connection* connection) { return diptych::error_of(connection); }

void diptych_interrupt(diptych_connection* connection) {
  if (connection) connection->session->connection.interrupt();
}

diptych_transaction_state diptych_get_transaction_state(const diptych_connection* connection) {
  if (!connection) return DIPTYCH_TRANSACTION_NONE;
  switch (connection->session->connection.transaction().state()) {
    case diptych::TransactionState::Open: return DIPTYCH_TRANSACTION_OPEN;
    case diptych::TransactionState::Failed: return DIPTYCH_TRANSACTION_FAILED;
    default: return DIPTYCH_TRANSACTION_NONE;
  }
}

diptych_progress diptych_get_progress(const diptych_connection* connection) {
  diptych_progress result{0, 0, 0, -1};
  if (!connection) return result;
  const diptych::Progress& progress = connection->session->connection.progress();
  result.rows_done = progress.rows_done;
  result.rows_total = progress.rows_total;
  result.seconds_elapsed = connection->session->connection.seconds_elapsed();
  if (result.rows_total > 0 && result.rows_done > 0) {
    const double done = static_cast<double>(result.rows_done) / static_cast<double>(result.rows_total);
    result.seconds_left = done >= 1 ? 0 : result.seconds_elapsed * (1 - done) / done;
  }
  return result;
}

diptych_status diptych_execute(diptych_connection* connection, const char* sql) {
  return guard(connection, sql ? sql : "", [&] {
    run_script(connection->session->connection, not_null(sql, "the text"));
    return DIPTYCH_OK;
  });
}
}
