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

}  // namespace bench
