// Prepared statements of the C API.
#include <optional>

#include "api/handles.h"
#include "api/result_reader.h"
#include "sql/parser.h"

using diptych::guard;

struct diptych_statement {
  diptych_statement(diptych_connection& owner, std::string statement_text)
      : connection(owner), text(std::move(statement_text)), statement(owner.connection, text) {}

  diptych_connection& connection;
  std::string text;
  diptych::ErrorState error;
  diptych::Statement statement;
  std::optional<diptych::ResultReader> reader;
  std::vector<std::string> type_names;

  // Runs the statement unless it is running already.
  diptych::ResultReader& result() {
    if (!reader) {
      connection.connection.start_statement();
      reader.emplace(statement.run());
    }
    return *reader;
  }
};

namespace {

diptych_status bind_value(diptych_statement* statement, int32_t parameter, diptych::Value value) {
  return guard(statement->error, statement->text, [&] {
    if (statement->reader)
      throw diptych::Error(diptych::SqlState::invalid_transaction_state,
                           "the statement is running: reset it before binding");
    if (parameter < 1) throw diptych::Error(diptych::SqlState::undefined_parameter, "parameters are numbered from 1");
    statement->statement.bind_parameter(static_cast<size_t>(parameter) - 1, std::move(value));
    return DIPTYCH_OK;
  });
}

const diptych::ColumnDefinition& column_of(const diptych_statement* statement, int32_t column) {
  return const_cast<diptych_statement*>(statement)->statement.columns()[static_cast<size_t>(column)];
}

}  // namespace

extern "C" {

diptych_status diptych_prepare(diptych_connection* connection, const char* sql, diptych_statement** statement,
                               const char** tail) {
  *statement = nullptr;
  return guard(connection->error, sql, [&] {
    const std::string_view script = sql;
    const diptych::StatementText split = diptych::split_statement(script);
    if (tail) *tail = split.rest.empty() ? sql + script.size() : split.rest.data();
    auto prepared = std::make_unique<diptych_statement>(*connection, std::string(split.text));
    if (prepared->statement.is_empty()) return DIPTYCH_OK;
    for (const diptych::ColumnDefinition& column : prepared->statement.columns())
      prepared->type_names.push_back(column.type.name());
    *statement = prepared.release();
    return DIPTYCH_OK;
  });
}

void diptych_finalize(diptych_statement* statement) { delete statement; }

diptych_error diptych_statement_error(const diptych_statement* statement) { return statement->error.view(); }

int32_t diptych_parameter_count(const diptych_statement* statement) {
  return static_cast<int32_t>(const_cast<diptych_statement*>(statement)->statement.parameter_types().size());
}

diptych_status diptych_bind_null(diptych_statement* statement, int32_t parameter) {
  return bind_value(statement, parameter, diptych::Value());
}

diptych_status diptych_bind_boolean(diptych_statement* statement, int32_t parameter, bool value) {
  return bind_value(statement, parameter, diptych::Value::boolean(value));
}

diptych_status diptych_bind_int64(diptych_statement* statement, int32_t parameter, int64_t value) {
  return bind_value(statement, parameter, diptych::Value::bigint(value));
}

diptych_status diptych_bind_double(diptych_statement* statement, int32_t parameter, double value) {
  return bind_value(statement, parameter, diptych::Value::float64(value));
}

diptych_status diptych_bind_text(diptych_statement* statement, int32_t parameter, const char* text, int64_t bytes) {
  return bind_value(
      statement, parameter,
      diptych::Value::text(bytes < 0 ? std::string(text) : std::string(text, static_cast<size_t>(bytes))));
}

diptych_status diptych_step(diptych_statement* statement) {
  return guard(statement->error, statement->text,
               [&] { return statement->result().next_row() ? DIPTYCH_ROW : DIPTYCH_DONE; });
}

diptych_status diptych_step_chunk(diptych_statement* statement, diptych_chunk_column* columns, int64_t* rows) {
  *rows = 0;
  return guard(statement->error, statement->text, [&] {
    *rows = statement->result().next_chunk(columns);
    return *rows > 0 ? DIPTYCH_ROW : DIPTYCH_DONE;
  });
}

diptych_status diptych_reset(diptych_statement* statement) {
  return guard(statement->error, statement->text, [&] {
    statement->reader.reset();
    statement->statement.reset();
    return DIPTYCH_OK;
  });
}

int32_t diptych_column_count(const diptych_statement* statement) {
  return static_cast<int32_t>(statement->type_names.size());
}

const char* diptych_column_name(const diptych_statement* statement, int32_t column) {
  return column_of(statement, column).name.c_str();
}

diptych_type diptych_column_type(const diptych_statement* statement, int32_t column) {
  return diptych::api_type(column_of(statement, column).type);
}

const char* diptych_column_type_name(const diptych_statement* statement, int32_t column) {
  return statement->type_names[static_cast<size_t>(column)].c_str();
}

bool diptych_column_is_null(diptych_statement* statement, int32_t column) {
  return statement->reader->is_null(static_cast<size_t>(column));
}

int64_t diptych_column_int64(diptych_statement* statement, int32_t column) {
  return statement->reader->int64_at(static_cast<size_t>(column));
}

double diptych_column_double(diptych_statement* statement, int32_t column) {
  return statement->reader->double_at(static_cast<size_t>(column));
}

const char* diptych_column_text(diptych_statement* statement, int32_t column, int64_t* bytes) {
  if (bytes) *bytes = 0;
  if (statement->reader->is_null(static_cast<size_t>(column))) return nullptr;
  const std::string& text = statement->reader->text_at(static_cast<size_t>(column));
  if (bytes) *bytes = static_cast<int64_t>(text.size());
  return text.c_str();
}

int64_t diptych_rows_changed(const diptych_statement* statement) { return statement->statement.rows_changed(); }
}
