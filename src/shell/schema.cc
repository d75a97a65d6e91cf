#include "shell/schema.h"

#include <algorithm>
#include <cctype>

#include "base/in_quotes.h"
#include "shell/edit/keywords.h"
#include "shell/handle.h"

namespace diptych::shell {

namespace {

// The field of `row` under one of the headings, or nothing. Headings may gain columns without harm.
std::string field(const std::vector<std::string>& header, const std::vector<std::string>& row,
                  std::initializer_list<std::string_view> headings) {
  for (size_t i = 0; i < header.size() && i < row.size(); ++i) {
    if (std::find(headings.begin(), headings.end(), header[i]) != headings.end()) return row[i];
  }
  return {};
}

bool is_yes(const std::string& text) {
  return text.starts_with('t') || text.starts_with('Y') || text.starts_with('y') || text.starts_with("PRI");
}

}  // namespace

std::optional<std::vector<std::vector<std::string>>> query_texts(diptych_connection* connection,
                                                                 const std::string& sql) {
  diptych_statement* prepared = nullptr;
  if (diptych_prepare(connection, sql.c_str(), &prepared, nullptr) != DIPTYCH_OK) return std::nullopt;
  const StatementHandle statement(prepared);
  std::vector<std::vector<std::string>> rows(1);
  const int32_t columns = diptych_column_count(prepared);
  for (int32_t i = 0; i < columns; ++i) rows[0].emplace_back(diptych_column_name(prepared, i));
  diptych_status status;
  while ((status = diptych_step(prepared)) == DIPTYCH_ROW) {
    std::vector<std::string>& row = rows.emplace_back();
    for (int32_t i = 0; i < columns; ++i) {
      int64_t bytes = 0;
      const char* text = diptych_column_text(prepared, i, &bytes);
      row.emplace_back(text == nullptr ? "" : text, text == nullptr ? 0 : static_cast<size_t>(bytes));
    }
  }
  if (status != DIPTYCH_DONE) return std::nullopt;
  return rows;
}

std::vector<std::string> table_names(diptych_connection* connection) {
  std::vector<std::string> names;
  const auto rows = query_texts(connection, "SHOW TABLES");
  if (!rows) return names;
  for (size_t i = 1; i < rows->size(); ++i) {
    if (!(*rows)[i].empty()) names.push_back((*rows)[i].front());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<ViewText> view_texts(diptych_connection* connection) {
  std::vector<ViewText> views;
  const auto rows = query_texts(connection, "SHOW VIEWS");
  for (size_t i = 1; rows && i < rows->size(); ++i) {
    const std::string &name = (*rows)[i][0], &columns = (*rows)[i][1], &query = (*rows)[i][2];
    const std::string list = columns.empty() ? "" : "(" + columns + ")";
    views.push_back({name, "CREATE VIEW " + quoted_name(name) + list + " AS " + query + ";"});
  }
  return views;
}

std::vector<std::string> relation_names(diptych_connection* connection) {
  std::vector<std::string> names = table_names(connection);
  for (ViewText& view : view_texts(connection)) names.push_back(std::move(view.name));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<ColumnDescription> describe_table(diptych_connection* connection, std::string_view table) {
  std::vector<ColumnDescription> columns;
  const auto rows = query_texts(connection, "DESCRIBE " + quoted_name(table));
  if (!rows) return columns;
  const std::vector<std::string>& header = rows->front();
  for (size_t i = 1; i < rows->size(); ++i) {
    const std::vector<std::string>& row = (*rows)[i];
    ColumnDescription column;
    column.name = field(header, row, {"column_name", "name", "column"});
    column.type = field(header, row, {"column_type", "type", "data_type"});
    const std::string nullable = field(header, row, {"null", "nullable", "is_nullable"});
    column.nullable = nullable.empty() || is_yes(nullable);
    column.key = is_yes(field(header, row, {"key", "primary_key"}));
    column.default_text = field(header, row, {"default", "column_default"});
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string quoted_name(std::string_view name) {
  const auto plain_byte = [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || std::isdigit(static_cast<unsigned char>(c));
  };
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), plain_byte) &&
                     !std::isdigit(static_cast<unsigned char>(name.front())) && !is_reserved(name);
  return plain ? std::string(name) : in_quotes(name, '"');
}

std::string quoted_text(std::string_view text) { return in_quotes(text, '\''); }

std::string create_table_text(std::string_view table, const std::vector<ColumnDescription>& columns) {
  std::string text = "CREATE TABLE " + quoted_name(table) + " (";
  std::string keys;
  for (size_t i = 0; i < columns.size(); ++i) {
    const ColumnDescription& column = columns[i];
    text += (i == 0 ? "\n  " : ",\n  ") + quoted_name(column.name) + " " + column.type;
    if (!column.nullable && !column.key) text += " NOT NULL";
    if (!column.default_text.empty()) text += " DEFAULT " + column.default_text;
    if (column.key) keys += (keys.empty() ? "" : ", ") + quoted_name(column.name);
  }
  if (!keys.empty()) text += ",\n  PRIMARY KEY (" + keys + ")";
  return text + "\n);";
}

}  // namespace diptych::shell
