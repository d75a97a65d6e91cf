// What tables and columns there are, asked of the database with SHOW TABLES and DESCRIBE.
#pragma once

#include <diptych/diptych.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diptych::shell {

struct ColumnDescription {
  std::string name;
  std::string type;
  bool nullable = true;
  bool key = false;
  std::string default_text;  // empty: none
};

// All rows of a statement as texts (NULL is empty), with the column names first; nothing when it fails.
std::optional<std::vector<std::vector<std::string>>> query_texts(diptych_connection* connection,
                                                                 const std::string& sql);

// Sorted by name; empty when there are none or the database can't tell.
std::vector<std::string> table_names(diptych_connection* connection);
std::vector<ColumnDescription> describe_table(diptych_connection* connection, std::string_view table);

// `name` as SQL needs it written: quoted unless it is a plain lower-case name and no reserved word.
std::string quoted_name(std::string_view name);
// 'text', with quotes doubled.
std::string quoted_text(std::string_view text);

// The views of the database, sorted by name, each with the statement that makes it.
struct ViewText {
  std::string name, text;
};
std::vector<ViewText> view_texts(diptych_connection* connection);
// Of tables and views, sorted.
std::vector<std::string> relation_names(diptych_connection* connection);
// The CREATE TABLE statement that would make the table anew.
std::string create_table_text(std::string_view table, const std::vector<ColumnDescription>& columns);

}  // namespace diptych::shell
