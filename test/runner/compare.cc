#include "compare.h"

#include <strings.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "md5.h"

namespace slt {
namespace {

constexpr double own_tolerance = 1e-9;     // sums of floats depend on the order of the rows
constexpr double duckdb_tolerance = 1e-5;  // its scripts show some floats with six digits
constexpr size_t shown_lines = 12;

std::string print_fixed(double value) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.3f", value);
  return buffer;
}

std::string print_integer(const std::string& text, diptych_type type) {
  if (type == DIPTYCH_TYPE_BOOLEAN) return text == "t" || text == "true" ? "1" : "0";
  if (type == DIPTYCH_TYPE_SMALLINT || type == DIPTYCH_TYPE_INTEGER || type == DIPTYCH_TYPE_BIGINT) return text;
  char* end = nullptr;
  const long double number = std::strtold(text.c_str(), &end);
  if (*end != 0) return text;
  return std::to_string(static_cast<long long>(number));
}

std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '@';
  }
  return text;
}

// Tabs and line ends would break the row into pieces.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\t')
      result += "\\t";
    else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else
      result += c;
  }
  return result;
}

bool as_number(const std::string& text, long double& number) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string::npos) {
    if (text != "inf" && text != "-inf" && text != "Infinity" && text != "-Infinity") return false;
  }
  char* end = nullptr;
  number = std::strtold(text.c_str(), &end);
  return end != text.c_str() && *end == 0;
}

bool equal_numbers(const std::string& a, const std::string& b, double tolerance) {
  long double x = 0, y = 0;
  if (!as_number(a, x) || !as_number(b, y)) return false;
  return x == y || std::fabs(x - y) <= tolerance * std::max(std::fabs(x), std::fabs(y));
}

// DuckDB's scripts write booleans in several ways, of which 1 and 0 are read only against t and f.
bool equal_booleans(const std::string& actual, const std::string& expected) {
  if (actual == "t") return expected == "1" || strcasecmp(expected.c_str(), "true") == 0;
  if (actual == "f") return expected == "0" || strcasecmp(expected.c_str(), "false") == 0;
  return false;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool equal_values(const std::string& actual, const std::string& expected, char letter, Dialect dialect) {
  if (actual == expected) return true;
  if (dialect == Dialect::Original) return false;
  if (dialect == Dialect::Own) return letter == 'R' && equal_numbers(actual, expected, own_tolerance);
  return equal_numbers(trimmed(actual), trimmed(expected), duckdb_tolerance) ||
         equal_booleans(actual, trimmed(expected)) || trimmed(actual) == trimmed(expected);
}

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '\t');) cells.push_back(cell);
  if (line.empty() || line.back() == '\t') cells.emplace_back();
  return cells;
}

// The expected lines as rows: one value a line when that gives the right number of values, else one row a line.
std::vector<std::vector<std::string>> expected_rows(const Record& record, size_t rows, size_t columns) {
  std::vector<std::vector<std::string>> result;
  if (columns > 1 && record.expected.size() == rows * columns) {
    for (size_t i = 0; i < record.expected.size(); i += columns) {
      const auto first = record.expected.begin() + static_cast<long>(i);
      result.emplace_back(first, first + static_cast<long>(columns));
    }
    return result;
  }
  for (const std::string& line : record.expected) {
    result.push_back(columns == 1 ? std::vector<std::string>{line} : split_tabs(line));
  }
  return result;
}

std::string join(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (size_t i = 0; i < rows.size() && i < shown_lines; ++i) {
    for (size_t c = 0; c < rows[i].size(); ++c) text += (c == 0 ? "    " : "\t") + rows[i][c];
    text += "\n";
  }
  if (rows.size() > shown_lines) text += "    ... " + std::to_string(rows.size()) + " rows\n";
  return text;
}

bool equal_rows(const std::vector<std::vector<std::string>>& actual,
                const std::vector<std::vector<std::string>>& expected, const Record& record, Dialect dialect) {
  if (actual.size() != expected.size()) return false;
  for (size_t r = 0; r < actual.size(); ++r) {
    if (actual[r].size() != expected[r].size()) return false;
    for (size_t c = 0; c < actual[r].size(); ++c) {
      const char letter = c < record.column_types.size() ? record.column_types[c] : 'T';
      if (!equal_values(actual[r][c], expected[r][c], letter, dialect)) return false;
    }
  }
  return true;
}

bool has_order_by(std::string sql) {
  std::transform(sql.begin(), sql.end(), sql.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return sql.find("order by") != std::string::npos;
}

// The digest form "30 values hashing to 3c13dee48d9356ae19af2515e05e6b54".
bool is_digest(const Record& record) {
  return record.expected.size() == 1 && record.expected[0].find(" values hashing to ") != std::string::npos;
}

}  // namespace

std::string render(const std::optional<std::string>& value, diptych_type type, char letter, Dialect dialect) {
  if (!value) return "NULL";
  if (value->empty()) return "(empty)";
  if (dialect == Dialect::Own) return escaped(*value);
  if (dialect == Dialect::Duckdb) return *value;
  if (letter == 'I') return print_integer(*value, type);
  if (letter == 'R') return print_fixed(std::strtod(value->c_str(), nullptr));
  return printable(*value);
}

std::string Rendered::text() const {
  std::string all;
  for (const auto& row : rows) {
    for (const auto& value : row) all += value + "\n";
  }
  return all;
}

Rendered render_result(const Outcome& outcome, const Record& record, Dialect dialect) {
  Rendered result;
  for (const Row& row : outcome.rows) {
    auto& cells = result.rows.emplace_back();
    for (size_t c = 0; c < row.size(); ++c) {
      const char letter = c < record.column_types.size() ? record.column_types[c] : 'T';
      cells.push_back(render(row[c], outcome.types[c], letter, dialect));
    }
  }
  if (record.sort == SortMode::Rows) std::sort(result.rows.begin(), result.rows.end());
  if (record.sort == SortMode::Values) {
    Rendered single;
    for (auto& row : result.rows) {
      for (auto& value : row) single.rows.push_back({std::move(value)});
    }
    std::sort(single.rows.begin(), single.rows.end());
    return single;
  }
  return result;
}

std::string difference(const Rendered& result, const Record& record, Dialect dialect) {
  if (is_digest(record)) {
    const std::string digest = std::to_string(result.values()) + " values hashing to " + md5_hex(result.text());
    return digest == record.expected[0]
               ? ""
               : "  expected " + record.expected[0] + "\n  got " + digest + "\n" + join(result.rows);
  }
  auto actual = result.rows;
  auto expected = expected_rows(record, actual.size(), actual.empty() ? record.column_types.size() : actual[0].size());
  if (equal_rows(actual, expected, record, dialect)) return "";
  const bool any_order = record.sort == SortMode::Rows || (dialect == Dialect::Duckdb && !has_order_by(record.sql));
  if (any_order && dialect != Dialect::Original) {
    std::sort(actual.begin(), actual.end());
    std::sort(expected.begin(), expected.end());
    if (equal_rows(actual, expected, record, dialect)) return "";
  }
  return "  expected\n" + join(expected) + "  got\n" + join(actual);
}

}  // namespace slt
