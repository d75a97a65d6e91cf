// Running a script in a process of its own, so that a crash costs one script and is counted as a failure.
#pragma once

#include <string>

#include "script_run.h"

namespace slt {

// As run_script, in a child process. A child that dies adds one failure and a line that tells the signal and the
// record.
Counts run_isolated(const std::string& path, const RunOptions& options);

}  // namespace slt
