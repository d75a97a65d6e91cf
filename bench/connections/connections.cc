#include "connections.h"

namespace bench {

Database::Database(const std::string& path) {
  if (diptych_open(path.c_str(), &database_) != DIPTYCH_OK) throw Failure(diptych_database_error(database_));
}

Connection::Connection(const Database& database) {
  if (diptych_connect(database.get(), &connection_) != DIPTYCH_OK)
    throw Failure(diptych_database_error(database.get()));
}

std::vector<std::string> Connection::run(const std::string& sql) {
  diptych_statement* statement = nullptr;
  if (diptych_prepare(connection_, sql.c_str(), &statement, nullptr) != DIPTYCH_OK)
    throw Failure(diptych_connection_error(connection_));
  struct Finalize {
    diptych_statement* statement;
    ~Finalize() { diptych_finalize(statement); }
  } const finalize{statement};
  std::vector<std::string> rows;
  diptych_status status = DIPTYCH_OK;
  while ((status = diptych_step(statement)) == DIPTYCH_ROW) {
    std::string& row = rows.emplace_back();
    for (int32_t column = 0; column < diptych_column_count(statement); ++column) {
      if (column > 0) row += '\t';
      if (diptych_column_is_null(statement, column)) continue;
      int64_t bytes = 0;
      const char* text = diptych_column_text(statement, column, &bytes);
      row.append(text, static_cast<size_t>(bytes));
    }
  }
  if (status == DIPTYCH_ERROR) throw Failure(diptych_statement_error(statement));
  return rows;
}

Prepared::Prepared(const Connection& connection, const std::string& sql) {
  if (diptych_prepare(connection.get(), sql.c_str(), &statement_, nullptr) != DIPTYCH_OK)
    throw Failure(diptych_connection_error(connection.get()));
}

void Prepared::bind(int32_t parameter, int64_t value) {
  if (diptych_bind_int64(statement_, parameter, value) != DIPTYCH_OK)
    throw Failure(diptych_statement_error(statement_));
}

void Prepared::bind(int32_t parameter, const std::string& text) {
  if (diptych_bind_text(statement_, parameter, text.data(), static_cast<int64_t>(text.size())) != DIPTYCH_OK)
    throw Failure(diptych_statement_error(statement_));
}

int64_t Prepared::run() {
  diptych_status status = DIPTYCH_ROW;
  while (status == DIPTYCH_ROW) status = diptych_step(statement_);
  if (status == DIPTYCH_ERROR) throw Failure(diptych_statement_error(statement_));
  const int64_t rows = diptych_rows_changed(statement_);
  diptych_reset(statement_);
  return rows;
}

}  // namespace bench
