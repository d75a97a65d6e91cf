// What the command line asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shell/format/formatter.h"

namespace diptych::shell {

// -c TEXT or -f PATH; they run in the order given.
struct Script {
  enum class Kind : uint8_t { Command, File };
  Kind kind;
  std::string text;
};

struct Options {
  std::string database = ":memory:";
  std::vector<Script> scripts;
  std::optional<OutputMode> mode;
  bool timer = false;
  bool is_read_only = false;
  std::optional<std::string> calibrate;  // the device, or "all": measures instead of running statements
};

// The options; or, when the process is to end at once (--help, --version, a mistake, which is printed), its exit
// status.
struct ParsedOptions {
  Options options;
  std::optional<int> exit_status;
};

ParsedOptions parse_options(int argc, char** argv);

}  // namespace diptych::shell
