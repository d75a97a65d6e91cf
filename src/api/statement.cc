// Prepared statements of the C API.
#include <optional>

#include "api/handles.h"
#include "api/result_reader.h"
#include "session/parameters.h"
#include "sql/parser.h"

using diptych::Error;
using diptych::guard;
using diptych::not_null;
using diptych::SqlState;
using diptych::Value;
using diptych::value_or;

struct diptych_statement {
  diptych_statement(std::shared_ptr<diptych::Session> owner, std::string statement_text)
      : session(std::move(owner)), text(std::move(statement_text)), statement(session->connection, text) {}

  mutable diptych::ErrorState error;
  const std::shared_ptr<diptych::Session> session;
  const std::string text;
  diptych::Statement statement;
  std::vector<diptych::ColumnDefinition> columns;
  std::vector<std::string> type_names;
  std::optional<diptych::ResultReader> reader;  // while there are rows to read
  bool is_done = false;                         // all have been read

  // Runs the statement unless that was done. False: its rows have all been read.
  bool run() {
    if (is_done) return false;
    if (reader) return true;
    session->connection.start_statement();
    reader.emplace(statement.run());
    diptych::check_invariant(reader->column_count() == columns.size(), "a result has the columns that were told");
    return true;
  }

  // Gives up the result: its end is reached, an error or a reset. After an error the statement would run anew.
  void stop(bool done) {
    reader.reset();
    is_done = done;
  }
};

namespace {

diptych_status bind_value(diptych_statement* statement, int32_t parameter, Value value) {
  if (statement->reader || statement->is_done)
    throw Error(SqlState::invalid_transaction_state, "the statement is running: reset it before binding");
  if (parameter < 1) throw Error(SqlState::undefined_parameter, "parameters are numbered from 1");
  statement->statement.bind_parameter(static_cast<size_t>(parameter) - 1, std::move(value));
  return DIPTYCH_OK;
}

size_t column_number(const diptych_statement* statement, int32_t column) {
  if (column < 0 || static_cast<size_t>(column) >= statement->columns.size())
    throw Error(SqlState::invalid_parameter_value, "there is no column " + std::to_string(column));
  return static_cast<size_t>(column);
}

// Steps with a function of the reader that is false at the end of the rows.
template <typename Step>
diptych_status step(diptych_statement* statement, diptych::ResultReader::Way way, Step&& next) {
  if (statement->reader) statement->reader->check_way(way);
  try {
    if (statement->run() && next(*statement->reader)) return DIPTYCH_ROW;
    statement->stop(true);
    return DIPTYCH_DONE;
  } catch (...) {
    statement->stop(false);
    throw;
  }
}

// Reads a cell of the current row with a function of the reader and the column's number.
template <typename T, typename Read>
T cell(diptych_statement* statement, int32_t column, T otherwise, Read&& read) {
  return value_or(otherwise, statement, [&]() -> T {
    const size_t number = column_number(statement, column);
    if (!statement->reader || !statement->reader->has_row())
      throw Error(SqlState::invalid_transaction_state, "there is no current row");
    return read(*statement->reader, number);
  });
}

}  // namespace

extern "C" {

diptych_status diptych_prepare(diptych_connection* connection, const char* sql, diptych_statement** statement,
                               const char** tail) {
  if (statement) *statement = nullptr;
  return guard(connection, sql ? sql : "", [&] {
    const std::string_view script = not_null(sql, "the text");
    not_null(statement, "the place for the statement");
    const diptych::StatementText split = diptych::split_statement(script);
    if (tail) *tail = split.rest.empty() ? sql + script.size() : split.rest.data();
    auto prepared = std::make_unique<diptych_statement>(connection->session, std::string(split.text));
    if (prepared->statement.is_empty()) return DIPTYCH_OK;
    connection->session->connection.start_statement();  // binding may wait for a pipe
    prepared->columns = prepared->statement.columns();
    for (const diptych::ColumnDefinition& column : prepared->columns)
      prepared->type_names.push_back(column.type.name());
    *statement = prepared.release();
    return DIPTYCH_OK;
  });
}

void diptych_finalize(diptych_statement* statement) { delete statement; }

diptych_error diptych_statement_error(const diptych_statement* statement) { return diptych::error_of(statement); }

int32_t diptych_parameter_count(const diptych_statement* statement) {
  return value_or(0, statement, [&] {
    return static_cast<int32_t>(const_cast<diptych_statement*>(statement)->statement.parameter_types().size());
  });
}

diptych_status diptych_bind_null(diptych_statement* statement, int32_t parameter) {
  return guard(statement, {}, [&] { return bind_value(statement, parameter, Value()); });
}

diptych_status diptych_bind_boolean(diptych_statement* statement, int32_t parameter, bool value) {
  return guard(statement, {}, [&] { return bind_value(statement, parameter, Value::boolean(value)); });
}

diptych_status diptych_bind_int64(diptych_statement* statement, int32_t parameter, int64_t value) {
  return guard(statement, {}, [&] { return bind_value(statement, parameter, Value::bigint(value)); });
}

diptych_status diptych_bind_double(diptych_statement* statement, int32_t parameter, double value) {
  return guard(statement, {}, [&] { return bind_value(statement, parameter, Value::float64(value)); });
}

diptych_status diptych_bind_text(diptych_statement* statement, int32_t parameter, const char* text, int64_t bytes) {
  return guard(statement, {}, [&] {
    const std::string_view value = diptych::text_argument(text, bytes);
    diptych::check_text(value);
    return bind_value(statement, parameter, Value::text(std::string(value)));
  });
}

diptych_status diptych_step(diptych_statement* statement) {
  if (!statement) return DIPTYCH_ERROR;
  return guard(statement, statement->text, [&] {
    return step(statement, diptych::ResultReader::Way::Rows,
                [](diptych::ResultReader& reader) { return reader.next_row(); });
  });
}

diptych_status diptych_step_chunk(diptych_statement* statement, diptych_chunk_column* columns, int64_t* rows) {
  if (rows) *rows = 0;
  if (!statement) return DIPTYCH_ERROR;
  return guard(statement, statement->text, [&] {
    not_null(rows, "the place for the number of rows");
    if (!statement->columns.empty()) not_null(columns, "the place for the columns");
    return step(statement, diptych::ResultReader::Way::Chunks, [&](diptych::ResultReader& reader) {
      *rows = reader.next_chunk(columns);
      return *rows > 0;
    });
  });
}

diptych_status diptych_reset(diptych_statement* statement) {
  return guard(statement, {}, [&] {
    statement->stop(false);
    return DIPTYCH_OK;
  });
}

int32_t diptych_column_count(const diptych_statement* statement) {
  return statement ? static_cast<int32_t>(statement->columns.size()) : 0;
}

const char* diptych_column_name(const diptych_statement* statement, int32_t column) {
  return value_or<const char*>(nullptr, statement,
                               [&] { return statement->columns[column_number(statement, column)].name.c_str(); });
}

diptych_type diptych_column_type(const diptych_statement* statement, int32_t column) {
  return value_or(DIPTYCH_TYPE_NULL, statement,
                  [&] { return diptych::api_type(statement->columns[column_number(statement, column)].type); });
}

const char* diptych_column_type_name(const diptych_statement* statement, int32_t column) {
  return value_or<const char*>(nullptr, statement,
                               [&] { return statement->type_names[column_number(statement, column)].c_str(); });
}

bool diptych_column_is_null(diptych_statement* statement, int32_t column) {
  return cell(statement, column, true,
              [](diptych::ResultReader& reader, size_t number) { return reader.is_null(number); });
}

int64_t diptych_column_int64(diptych_statement* statement, int32_t column) {
  return cell(statement, column, int64_t{0},
              [](diptych::ResultReader& reader, size_t number) { return reader.int64_at(number); });
}

double diptych_column_double(diptych_statement* statement, int32_t column) {
  return cell(statement, column, 0.0,
              [](diptych::ResultReader& reader, size_t number) { return reader.double_at(number); });
}

const char* diptych_column_text(diptych_statement* statement, int32_t column, int64_t* bytes) {
  if (bytes) *bytes = 0;
  return cell<const char*>(statement, column, nullptr,
                           [&](diptych::ResultReader& reader, size_t number) -> const char* {
                             if (reader.is_null(number)) return nullptr;
                             const std::string& text = reader.text_at(number);
                             if (bytes) *bytes = static_cast<int64_t>(text.size());
                             return text.c_str();
                           });
}

int64_t diptych_rows_changed(const diptych_statement* statement) {
  return statement ? statement->statement.rows_changed() : -1;
}
}
