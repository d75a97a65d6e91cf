#include "script.h"

#include <sstream>
#include <utility>

namespace slt {
namespace {

struct Line {
  int number;
  std::string text;
};

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r") == std::string::npos; }

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::vector<Line> split_lines(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty() && line[0] == '#') continue;
    lines.push_back({number, std::move(line)});
  }
  return lines;
}

// The values that a loop's variable takes.
std::vector<std::string> loop_values(const std::vector<std::string>& words, int line) {
  if (words[0] == "foreach") return {words.begin() + 2, words.end()};
  if (words.size() != 4) throw ScriptError("line " + std::to_string(line) + ": loop needs VAR FROM TO");
  std::vector<std::string> values;
  for (long i = std::stol(words[2]); i < std::stol(words[3]); ++i) values.push_back(std::to_string(i));
  return values;
}

// Appends lines[begin, end) to `out` with every loop unrolled.
void unroll(const std::vector<Line>& lines, size_t begin, size_t end, std::vector<Line>& out) {
  for (size_t i = begin; i < end; ++i) {
    const auto words = split_words(lines[i].text);
    if (words.size() < 3 || (words[0] != "loop" && words[0] != "foreach")) {
      out.push_back(lines[i]);
      continue;
    }
    size_t close = i + 1;
    for (int depth = 1; close < end; ++close) {
      const auto inner = split_words(lines[close].text);
      if (inner.empty()) continue;
      if (inner.size() >= 3 && (inner[0] == "loop" || inner[0] == "foreach")) ++depth;
      if (inner[0] == "endloop" && --depth == 0) break;
    }
    if (close == end) throw ScriptError("line " + std::to_string(lines[i].number) + ": loop without endloop");
    for (const std::string& value : loop_values(words, lines[i].number)) {
      std::vector<Line> body(lines.begin() + static_cast<long>(i) + 1, lines.begin() + static_cast<long>(close));
      for (Line& line : body) line.text = replace_all(line.text, "${" + words[1] + "}", value);
      unroll(body, 0, body.size(), out);
      out.push_back({lines[close].number, ""});
    }
    i = close;
  }
}

SortMode sort_mode_of(const std::string& word, int line) {
  if (word == "nosort") return SortMode::None;
  if (word == "rowsort" || word == "sort") return SortMode::Rows;
  if (word == "valuesort") return SortMode::Values;
  throw ScriptError("line " + std::to_string(line) + ": unknown sort mode " + word);
}

void read_header(const std::vector<std::string>& words, Record& record) {
  if (words[0] == "statement") {
    record.kind = RecordKind::Statement;
    record.error_expected = words.size() > 1 && words[1] == "error";
    if (words.size() > 2 && words[2] != "nosort") record.sqlstate = words[2];
    return;
  }
  record.kind = RecordKind::Query;
  if (words.size() > 1) record.column_types = words[1];
  if (words.size() > 2) record.sort = sort_mode_of(words[2], record.line);
  if (words.size() > 3) record.label = words[3];
}

// Reads the SQL and what follows ---- from lines[i]; returns the index after the record.
size_t read_body(const std::vector<Line>& lines, size_t i, Record& record) {
  bool in_results = false;
  for (; i < lines.size() && !is_blank(lines[i].text); ++i) {
    if (!in_results && lines[i].text.rfind("----", 0) == 0) {
      in_results = true;
    } else if (!in_results) {
      record.sql += (record.sql.empty() ? "" : "\n") + lines[i].text;
    } else if (record.kind == RecordKind::Query) {
      record.expected.push_back(lines[i].text);
    } else {
      record.message_part += (record.message_part.empty() ? "" : "\n") + lines[i].text;
    }
  }
  return i;
}

// A directive that is a record by itself; false when `words` is none.
bool read_control(const std::vector<std::string>& words, Record& record) {
  static const std::map<std::string, RecordKind> kinds = {{"halt", RecordKind::Halt},
                                                          {"hash-threshold", RecordKind::HashThreshold},
                                                          {"require", RecordKind::Require},
                                                          {"restart", RecordKind::Restart}};
  const auto found = kinds.find(words[0]);
  if (found == kinds.end()) return false;
  record.kind = found->second;
  if (words.size() > 1) record.argument = words[1];
  return true;
}

std::vector<Record> read_records(const std::vector<Line>& lines) {
  std::vector<Record> records;
  Record next;
  for (size_t i = 0; i < lines.size();) {
    const auto words = split_words(lines[i].text);
    if (words.empty() || words[0] == "mode") {
      ++i;
      continue;
    }
    next.line = lines[i].number;
    if (words[0] == "skipif" || words[0] == "onlyif") {
      if (words.size() > 1) (words[0] == "skipif" ? next.skipif : next.onlyif).push_back(words[1]);
      ++i;
      continue;
    }
    if (words[0] == "statement" || words[0] == "query") {
      read_header(words, next);
      i = read_body(lines, i + 1, next);
    } else if (read_control(words, next)) {
      ++i;
    } else {
      throw ScriptError("line " + std::to_string(lines[i].number) + ": unknown directive " + words[0]);
    }
    records.push_back(std::exchange(next, Record{}));
  }
  return records;
}

}  // namespace

std::vector<Record> parse_script(const std::string& text, const std::map<std::string, std::string>& variables) {
  std::string replaced = text;
  for (const auto& [name, value] : variables) replaced = replace_all(std::move(replaced), name, value);
  std::vector<Line> unrolled;
  const std::vector<Line> lines = split_lines(replaced);
  unroll(lines, 0, lines.size(), unrolled);
  return read_records(unrolled);
}

}  // namespace slt
