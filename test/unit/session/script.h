// Scripts of SQL beside the tests: goldens, and statements for files of old formats.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sql/parser.h"

namespace diptych::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n");
  return first == std::string_view::npos ? "" : std::string(text.substr(first));
}

// The statements of a script, without semicolons.
inline std::vector<std::string> statements_of(const std::string& script) {
  std::vector<std::string> statements;
  std::string_view rest = script;
  while (!trimmed(rest).empty()) {
    const StatementText split = split_statement(rest);
    const std::string text = trimmed(split.text);
    if (!text.empty()) statements.push_back(text);
    rest = split.rest;
  }
  return statements;
}

}  // namespace diptych::testing
