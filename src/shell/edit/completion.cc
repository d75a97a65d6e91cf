#include "shell/edit/completion.h"

#include <strings.h>

#include <algorithm>
#include <cctype>

#include "shell/dot_commands.h"
#include "shell/edit/keywords.h"
#include "shell/format/formatter.h"
#include "shell/schema.h"

namespace diptych::shell {

namespace {

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }

bool begins_with(std::string_view word, std::string_view prefix) {
  return word.size() >= prefix.size() && ::strncasecmp(word.data(), prefix.data(), prefix.size()) == 0;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// The word before the last one, in lower case.
std::string word_before(std::string_view line) {
  line.remove_suffix(last_word(line).size());
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  return lower(last_word(line));
}

bool wants_table(std::string_view word) {
  return word == "from" || word == "into" || word == "table" || word == "describe" || word == "copy" ||
         word == "exists";
}

void add_matching(std::vector<std::string>& found, const std::vector<std::string>& words, std::string_view prefix) {
  for (const std::string& word : words) {
    const std::string written = quoted_name(word);
    if (begins_with(written, prefix)) found.push_back(written);
  }
}

std::vector<std::string> dot_candidates(std::string_view line, std::string_view prefix) {
  std::vector<std::string> found;
  if (line.starts_with(".mode ")) {
#define DIPTYCH_MODE_WORD(name, help) \
  if (begins_with(#name, prefix)) found.emplace_back(#name);
    DIPTYCH_OUTPUT_MODES(DIPTYCH_MODE_WORD)
#undef DIPTYCH_MODE_WORD
  } else if (prefix.starts_with('.')) {
    for (const std::string_view name : dot_command_names()) {
      if (begins_with(name, prefix)) found.emplace_back(name);
    }
  }
  return found;
}

}  // namespace

std::string_view last_word(std::string_view line) {
  if (line.starts_with('.') && line.find(' ') == std::string_view::npos) return line;
  size_t begin = line.size();
  while (begin > 0 && is_word_byte(line[begin - 1])) --begin;
  return line.substr(begin);
}

std::string common_prefix(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::string prefix = words.front();
  for (const std::string& word : words) {
    const auto end = std::mismatch(prefix.begin(), prefix.end(), word.begin(), word.end()).first;
    prefix.erase(end, prefix.end());
  }
  return prefix;
}

void Completion::learn() {
  if (known_) return;
  tables_ = relation_names(connection_);
  columns_.clear();
  for (const std::string& table : tables_) {
    std::vector<std::string>& names = columns_.emplace_back();
    for (const ColumnDescription& column : describe_table(connection_, table)) names.push_back(column.name);
  }
  known_ = true;
}

std::vector<std::string> Completion::candidates(std::string_view line) {
  const std::string_view prefix = last_word(line);
  std::vector<std::string> found;
  learn();
  const std::string_view before = line.substr(0, line.size() - prefix.size());
  if (line.starts_with('.') && !line.starts_with(".schema ") && !line.starts_with(".import ")) {
    found = dot_candidates(line, prefix);
  } else if (before.ends_with('.')) {
    const std::string table = lower(last_word(before.substr(0, before.size() - 1)));
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (lower(tables_[i]) == table) add_matching(found, columns_[i], prefix);
    }
  } else if (line.starts_with('.') || wants_table(word_before(line))) {
    add_matching(found, tables_, prefix);
  } else if (!prefix.empty()) {
    const bool upper = std::isupper(static_cast<unsigned char>(prefix.front())) != 0;
    for (const std::string_view word : keywords()) {
      if (begins_with(word, prefix)) found.push_back(upper ? std::string(word) : lower(word));
    }
    add_matching(found, tables_, prefix);
    for (const auto& names : columns_) add_matching(found, names, prefix);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace diptych::shell
