// The list of scripts made elsewhere that must go on passing (test/sql/suites.txt).
//
//   dialect   path under the suite root      least number of passing records   most failing records
//   duckdb    duckdb-pg15-verified/sql/cast  120                               0
#pragma once

#include <string>
#include <vector>

#include "compare.h"

namespace slt {

struct SuiteEntry {
  Dialect dialect = Dialect::Original;
  std::string path;  // a file or a folder
  long least_passed = 0;
  long most_failed = 0;
};

// Throws std::runtime_error for a list that can't be read.
std::vector<SuiteEntry> read_suite_list(const std::string& path);

// "own", "original" or "duckdb"; throws std::runtime_error for anything else.
Dialect dialect_of(const std::string& name);

// The scripts (*.slt, *.test) that a path, a folder or a glob pattern stands for, sorted.
std::vector<std::string> scripts_of(const std::string& pattern);

}  // namespace slt
