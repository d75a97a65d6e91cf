// Databases and connections of the C API.
#include "api/handles.h"
#include "sql/parser.h"

using diptych::guard;

extern "C" {

const char* diptych_version(void) { return DIPTYCH_VERSION; }

diptych_status diptych_open(const char* path, diptych_database** database) {
  *database = new (std::nothrow) diptych_database();
  if (!*database) return DIPTYCH_ERROR;
  return guard((*database)->error, {}, [&] {
    (*database)->database = std::make_unique<diptych::Database>(path ? path : ":memory:");
    return DIPTYCH_OK;
  });
}

diptych_error diptych_database_error(const diptych_database* database) { return database->error.view(); }

void diptych_close(diptych_database* database) { delete database; }

diptych_status diptych_connect(diptych_database* database, diptych_connection** connection) {
  *connection = nullptr;
  return guard(database->error, {}, [&] {
    if (!database->database) throw diptych::Error(diptych::SqlState::internal_error, "the database is not open");
    *connection = new diptych_connection(*database->database);
    return DIPTYCH_OK;
  });
}

void diptych_disconnect(diptych_connection* connection) { delete connection; }

diptych_error diptych_connection_error(const diptych_connection* connection) { return connection->error.view(); }

void diptych_interrupt(diptych_connection* connection) { connection->connection.interrupt(); }

diptych_progress diptych_get_progress(const diptych_connection* connection) {
  const diptych::Progress& progress = connection->connection.progress();
  diptych_progress result;
  result.rows_done = progress.rows_done;
  result.rows_total = progress.rows_total;
  result.seconds_elapsed = connection->connection.seconds_elapsed();
  result.seconds_left = -1;
  if (result.rows_total > 0 && result.rows_done > 0) {
    const double done = static_cast<double>(result.rows_done) / static_cast<double>(result.rows_total);
    result.seconds_left = done >= 1 ? 0 : result.seconds_elapsed * (1 - done) / done;
  }
  return result;
}

diptych_status diptych_execute(diptych_connection* connection, const char* sql) {
  return guard(connection->error, sql, [&] {
    const std::string_view script = sql;
    std::string_view rest = script;
    while (!rest.empty()) {
      const auto offset = static_cast<int>(rest.data() - script.data());
      const diptych::StatementText split = diptych::split_statement(rest);
      try {
        diptych::Statement statement(connection->connection, std::string(split.text));
        if (!statement.is_empty()) {
          connection->connection.start_statement();
          statement.run();
        }
      } catch (const diptych::Error& error) {
        if (error.position() < 0) throw;
        throw diptych::Error(error.state(), error.message(), error.position() + offset, error.hint());
      }
      rest = split.rest;
    }
    return DIPTYCH_OK;
  });
}
}
