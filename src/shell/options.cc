#include "shell/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace diptych::shell {

namespace {

// As CLI11 takes them: the last one first, without the program.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i)
    arguments.emplace_back(argv[i] == std::string("-readonly") ? "--readonly" : argv[i]);
  return arguments;
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions parsed;
  Options& options = parsed.options;
  CLI::App app{
      "The shell of Diptych, an analytical SQL database. Without -c and -f it reads statements from its input."};
  app.name("diptych");
  app.set_version_flag("--version", fmt::format("diptych {}", diptych_version()));
  app.add_option("database", options.database, "database file, created when absent; in memory by default");

  // Called while parsing, so that -c and -f keep their order among each other.
  const auto add_script = [&](const char* names, Script::Kind kind, const char* help) {
    const auto add = [&options, kind](const std::string& text) { options.scripts.push_back({kind, text}); };
    app.add_option_function<std::string>(names, add, help)->trigger_on_parse();
  };
  add_script("-c,--command", Script::Kind::Command, "run the statements or the dot command; may be repeated");
  add_script("-f,--file", Script::Kind::File, "run a file (- is the input), up to its first error; may be repeated");

  std::string modes;
#define DIPTYCH_MODE_LIST(name, help) modes += modes.empty() ? #name : ", " #name;
  DIPTYCH_OUTPUT_MODES(DIPTYCH_MODE_LIST)
#undef DIPTYCH_MODE_LIST
  const auto set_mode = [&options](const std::string& name) {
    options.mode = find_mode(name);
    if (!options.mode) throw CLI::ValidationError("--mode", "no such mode: " + name);
  };
  app.add_option_function<std::string>("-m,--mode", set_mode, "how results are printed: " + modes);
  app.add_flag("--timer", options.timer, "print each statement's time and rows");

  app.add_flag("--readonly", options.is_read_only,
               "only read the database file, beside other processes that do; SQLite's -readonly does, too");

  CLI::App* devices = app.add_subcommand("devices", "list the devices of this machine, and why one can't be used");
  CLI::App* calibrate = app.add_subcommand("calibrate", "measure this machine once, for device = auto");
  std::string device = "all";
  calibrate->add_option("device", device, "cuda, cuda:N, opencl, opencl:N, cpu, or all that are no part of the host");
  app.require_subcommand(0, 1);

  try {
    app.parse(arguments_of(argc, argv));
  } catch (const CLI::ParseError& error) {
    const bool asked_for = error.get_exit_code() == 0;
    app.exit(error);
    parsed.exit_status = asked_for ? 0 : 2;
  }
  if (*devices) options.scripts = {{Script::Kind::Command, "SHOW devices"}};
  if (*calibrate) options.calibrate = device;
  return parsed;
}

}  // namespace diptych::shell
