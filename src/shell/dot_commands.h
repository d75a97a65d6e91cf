// The commands that begin with a dot: they are the shell's, not SQL's.
#pragma once

#include <diptych/diptych.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shell/output.h"
#include "shell/statement_runner.h"

namespace diptych::shell {

// What the commands act on. All must outlive the call.
struct DotContext {
  diptych_connection* connection;
  Settings& settings;
  Output& output;
  std::function<bool(std::string_view sql)> run_sql;      // true when it succeeded
  std::function<bool(const std::string& path)> run_file;  // true when all of it succeeded
};

struct DotResult {
  bool succeeded = true;
  bool quit = false;
};

// Runs `line`, which begins with a dot. Mistakes are told on stderr.
DotResult run_dot_command(std::string_view line, DotContext& context);

// ".tables", ".schema", ... sorted.
std::span<const std::string_view> dot_command_names();

// The words of a line: separated by blanks unless quoted with ' or ".
std::vector<std::string> split_words(std::string_view line);

}  // namespace diptych::shell
