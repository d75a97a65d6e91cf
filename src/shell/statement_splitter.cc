#include "shell/statement_splitter.h"

#include <cctype>

namespace diptych::shell {

namespace {

constexpr size_t unfinished = std::string_view::npos;

bool is_name_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }

size_t after_quoted(std::string_view sql, size_t start, char quote, bool backslashes) {
  for (size_t i = start + 1; i < sql.size(); ++i) {
    if (backslashes && sql[i] == '\\') {
      ++i;
    } else if (sql[i] == quote) {
      // A doubled quote is an escaped one: to skip it as the start of another text has the same effect.
      return i + 1;
    }
  }
  return unfinished;
}

size_t after_line_comment(std::string_view sql, size_t start) {
  const size_t end = sql.find('\n', start);
  return end == std::string_view::npos ? sql.size() : end + 1;
}

size_t after_block_comment(std::string_view sql, size_t start) {
  size_t depth = 0;
  for (size_t i = start; i + 1 < sql.size(); ++i) {
    if (sql.substr(i, 2) == "/*") {
      ++depth;
      ++i;
    } else if (sql.substr(i, 2) == "*/") {
      ++i;
      if (--depth == 0) return i + 1;
    }
  }
  return unfinished;
}

// Of $$ or $tag$ at `start`: the position after the closing tag; start + 1 when it opens no text (a parameter, $1).
size_t after_dollar(std::string_view sql, size_t start) {
  size_t end = start + 1;
  while (end < sql.size() && is_name_byte(sql[end])) ++end;
  const bool numbered = end > start + 1 && std::isdigit(static_cast<unsigned char>(sql[start + 1]));
  if (end == sql.size() || sql[end] != '$' || numbered) return start + 1;
  const std::string_view tag = sql.substr(start, end + 1 - start);
  const size_t close = sql.find(tag, end + 1);
  return close == std::string_view::npos ? unfinished : close + tag.size();
}

bool has_escape_prefix(std::string_view sql, size_t quote) {
  return quote > 0 && (sql[quote - 1] == 'e' || sql[quote - 1] == 'E') && (quote < 2 || !is_name_byte(sql[quote - 2]));
}

// The position after the element (character, quoted text, comment) at `i`, or `unfinished`.
size_t after_element(std::string_view sql, size_t i) {
  const std::string_view two = sql.substr(i, 2);
  if (sql[i] == '\'') return after_quoted(sql, i, '\'', has_escape_prefix(sql, i));
  if (sql[i] == '"') return after_quoted(sql, i, '"', false);
  if (two == "--") return after_line_comment(sql, i);
  if (two == "/*") return after_block_comment(sql, i);
  if (sql[i] == '$' && (i == 0 || !is_name_byte(sql[i - 1]))) return after_dollar(sql, i);
  return i + 1;
}

}  // namespace

std::optional<size_t> statement_end(std::string_view sql) {
  for (size_t i = 0; i < sql.size();) {
    if (sql[i] == ';') return i + 1;
    i = after_element(sql, i);
    if (i == unfinished) return std::nullopt;
  }
  return std::nullopt;
}

size_t leading_blank(std::string_view sql) {
  size_t i = 0;
  while (i < sql.size()) {
    const std::string_view two = sql.substr(i, 2);
    const bool space = std::isspace(static_cast<unsigned char>(sql[i])) != 0;
    if (!space && two != "--" && two != "/*") break;
    const size_t next = after_element(sql, i);
    if (next == unfinished) break;
    i = next;
  }
  return i;
}

bool is_blank(std::string_view sql) {
  while (!sql.empty()) {
    sql.remove_prefix(leading_blank(sql));
    if (sql.empty()) return true;
    if (sql.front() != ';') return false;
    sql.remove_prefix(1);
  }
  return true;
}

std::string first_word(std::string_view sql) {
  sql.remove_prefix(leading_blank(sql));
  std::string word;
  while (!sql.empty() && is_name_byte(sql.front())) {
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(sql.front())));
    sql.remove_prefix(1);
  }
  return word;
}

}  // namespace diptych::shell
