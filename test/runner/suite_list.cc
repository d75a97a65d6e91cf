#include "suite_list.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace slt {

Dialect dialect_of(const std::string& name) {
  if (name == "own") return Dialect::Own;
  if (name == "original") return Dialect::Original;
  if (name == "duckdb") return Dialect::Duckdb;
  throw std::runtime_error("unknown dialect " + name);
}

std::vector<SuiteEntry> read_suite_list(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("can't read " + path);
  std::vector<SuiteEntry> entries;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    SuiteEntry entry;
    std::string dialect;
    if (!(words >> dialect >> entry.path >> entry.least_passed >> entry.most_failed)) {
      throw std::runtime_error(path + ": can't read the line: " + line);
    }
    entry.dialect = dialect_of(dialect);
    entries.push_back(entry);
  }
  return entries;
}

std::vector<std::string> scripts_of(const std::string& pattern) {
  std::vector<std::string> scripts;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      const std::filesystem::path path = found.gl_pathv[i];
      if (!std::filesystem::is_directory(path)) {
        scripts.push_back(path);
        continue;
      }
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        const auto extension = entry.path().extension();
        if (extension == ".slt" || extension == ".test") scripts.push_back(entry.path());
      }
    }
  }
  globfree(&found);
  std::sort(scripts.begin(), scripts.end());
  return scripts;
}

}  // namespace slt
