// A sqllogictest file read into records.
//
//   file text -> lines (comments dropped, loops unrolled) -> records
//
// Three dialects share the grammar (sqlite.org/sqllogictest, doc "About Sqllogictest"): the original one, where every
// value stands on its own line; DuckDB's, where a row is a line of tab-separated values; and this project's, which is
// DuckDB's with exact texts and with the SQLSTATE after `statement error`.
//
// Directives: statement ok|error [SQLSTATE], query TYPES [nosort|rowsort|valuesort] [label], skipif, onlyif, halt,
// hash-threshold N, require NAME, mode NAME, restart, loop VAR FROM TO, foreach VAR A B ..., endloop.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace slt {

enum class RecordKind { Statement, Query, Halt, HashThreshold, Require, Restart };
enum class SortMode { None, Rows, Values };

struct Record {
  RecordKind kind = RecordKind::Statement;
  int line = 0;                       // 1-based line of the directive
  std::string sql;                    // Statement and Query
  bool error_expected = false;        // Statement
  std::string sqlstate;               // Statement with an expected error: empty means any
  std::string message_part;           // Statement with an expected error: must occur in the message; empty means any
  std::string column_types;           // Query: one letter a column
  SortMode sort = SortMode::None;     // Query
  std::string label;                  // Query: results under the same label are equal
  std::vector<std::string> expected;  // Query: the lines after ----
  std::string argument;               // Require: what is required; HashThreshold: the number
  std::vector<std::string> skipif;    // engines that leave the record out
  std::vector<std::string> onlyif;    // the engines that alone run it
};

// What is wrong with a script, and where.
struct ScriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Every key of `variables` (such as __TEST_DIR__) is replaced by its value in the whole text.
std::vector<Record> parse_script(const std::string& text, const std::map<std::string, std::string>& variables);

}  // namespace slt
