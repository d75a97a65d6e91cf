// Running one script against one fresh database.
#pragma once

#include <string>
#include <vector>

#include "compare.h"
#include "engine.h"
#include "script.h"

namespace slt {

// How many records of a script went which way. Lives in memory shared with the parent process, so plain integers only.
struct Counts {
  long passed = 0;
  long failed = 0;
  long skipped = 0;
  long unsupported = 0;  // SQL that is refused with 0A000, and what depends on it
  long line = 0;         // of the record being run, so that a crash can be told where
};

struct RunOptions {
  std::string way;  // in which of several the script runs, told with its failures
  std::string database = ":memory:";
  std::vector<std::string> settings;
  std::string data_directory;     // what __DATA_DIR__ stands for
  std::string scratch_directory;  // what __TEST_DIR__ stands for, emptied for each script
  Dialect dialect = Dialect::Own;
  int limit_seconds = 60;
  int shown_failures = 20;
  bool verbose = false;
};

// How failures name the script.
inline std::string name_of(const std::string& path, const RunOptions& options) {
  return options.way.empty() ? path : path + " (" + options.way + ")";
}

// Runs the script and counts in `counts` (which is shared memory when a crash is to be survived). Failures go to
// standard output.
void run_script(const std::string& path, const RunOptions& options, Counts& counts);

}  // namespace slt
