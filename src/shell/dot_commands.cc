#include "shell/dot_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>

#include "shell/schema.h"

namespace diptych::shell {

namespace {

using Arguments = std::span<const std::string>;

struct DotCommand {
  std::string_view name;
  std::string_view arguments;
  std::string_view help;
  size_t least;  // number of arguments
  size_t most;
  DotResult (*run)(Arguments, DotContext&);
};

DotResult failure(const std::string& message) {
  std::cerr << "ERROR: " << message << std::endl;
  return {.succeeded = false};
}

DotResult run_tables(Arguments, DotContext& context) {
  for (const std::string& name : relation_names(context.connection)) context.output.stream() << name << '\n';
  context.output.stream().flush();
  return {};
}

DotResult run_schema(Arguments arguments, DotContext& context) {
  bool is_found = arguments.empty();
  const auto is_wanted = [&](const std::string& name) { return arguments.empty() || name == arguments[0]; };
  for (const std::string& name : table_names(context.connection)) {
    if (!is_wanted(name)) continue;
    context.output.stream() << create_table_text(name, describe_table(context.connection, name)) << '\n';
    is_found = true;
  }
  for (const ViewText& view : view_texts(context.connection)) {
    if (!is_wanted(view.name)) continue;
    context.output.stream() << view.text << '\n';
    is_found = true;
  }
  if (!is_found) return failure(fmt::format("no such table or view: {}", arguments[0]));
  context.output.stream().flush();
  return {};
}

// A table that is there is appended to; else it is made from the file's columns.
DotResult run_import(Arguments arguments, DotContext& context) {
  const std::string& path = arguments[0];
  const std::string& table = arguments[1];
  const std::vector<std::string> names = table_names(context.connection);
  const bool exists = std::find(names.begin(), names.end(), table) != names.end();
  if (!exists) {
    return {context.run_sql(fmt::format("CREATE TABLE {} AS SELECT * FROM {}", quoted_name(table), quoted_text(path)))};
  }
  const std::string_view options = path.ends_with(".parquet") ? "FORMAT parquet" : "FORMAT csv, HEADER true";
  return {context.run_sql(fmt::format("COPY {} FROM {} ({})", quoted_name(table), quoted_text(path), options))};
}

DotResult run_mode(Arguments arguments, DotContext& context) {
  if (arguments.empty()) {
    context.output.stream() << mode_name(context.settings.mode) << std::endl;
    return {};
  }
  const auto mode = find_mode(arguments[0]);
  if (!mode) return failure(fmt::format("no such mode: {} (see .help)", arguments[0]));
  context.settings.mode = *mode;
  return {};
}

DotResult run_timer(Arguments arguments, DotContext& context) {
  if (arguments[0] != "on" && arguments[0] != "off") return failure("usage: .timer on|off");
  context.settings.timer = arguments[0] == "on";
  return {};
}

std::optional<size_t> parse_count(const std::string& text) {
  size_t count = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

DotResult run_max_rows(Arguments arguments, DotContext& context) {
  const auto count = parse_count(arguments[0]);
  if (!count) return failure("usage: .maxrows N");
  context.settings.max_rows = *count;
  return {};
}

DotResult run_max_width(Arguments arguments, DotContext& context) {
  context.settings.max_width = std::nullopt;
  if (arguments[0] == "auto") return {};
  const auto count = parse_count(arguments[0]);
  if (!count) return failure("usage: .maxwidth N|auto");
  context.settings.max_width = *count;
  return {};
}

DotResult run_read(Arguments arguments, DotContext& context) { return {context.run_file(arguments[0])}; }

DotResult run_output(Arguments arguments, DotContext& context) {
  if (arguments.empty()) {
    context.output.to_standard_output();
  } else if (!context.output.redirect(arguments[0])) {
    return failure(fmt::format("can't write to {}", arguments[0]));
  }
  return {};
}

DotResult run_quit(Arguments, DotContext&) { return {.succeeded = true, .quit = true}; }

DotResult run_help(Arguments, DotContext& context);

constexpr auto commands = std::to_array<DotCommand>({
    {".exit", "", "leave the shell", 0, 0, run_quit},
    {".help", "", "show this list", 0, 0, run_help},
    {".import", "FILE TABLE", "load a CSV (with header) or Parquet file; the table is made if it is not there", 2, 2,
     run_import},
    {".maxrows", "N", "rows a table shows before it is folded; 0: all", 1, 1, run_max_rows},
    {".maxwidth", "N|auto", "cells a table's line may take; 0: any number, auto: the terminal's", 1, 1, run_max_width},
    {".mode", "[MODE]", "how results are printed", 0, 1, run_mode},
    {".output", "[FILE]", "send results to a file, or back to standard output", 0, 1, run_output},
    {".quit", "", "leave the shell", 0, 0, run_quit},
    {".read", "FILE", "run the statements of a file, up to the first error", 1, 1, run_read},
    {".schema", "[TABLE]", "show the CREATE TABLE statements", 0, 1, run_schema},
    {".tables", "", "list the tables", 0, 0, run_tables},
    {".timer", "on|off", "print each statement's time and rows", 1, 1, run_timer},
});

DotResult run_help(Arguments, DotContext& context) {
  std::ostream& out = context.output.stream();
  for (const DotCommand& command : commands) {
    out << fmt::format("{:<24}{}\n", fmt::format("{} {}", command.name, command.arguments), command.help);
  }
#define DIPTYCH_MODE_HELP(name, help) out << fmt::format("    .mode {:<14}{}\n", #name, help);
  DIPTYCH_OUTPUT_MODES(DIPTYCH_MODE_HELP)
#undef DIPTYCH_MODE_HELP
  out << "Anything else is SQL and ends with a semicolon.\n" << std::flush;
  return {};
}

constexpr auto command_names = [] {
  std::array<std::string_view, commands.size()> names{};
  for (size_t i = 0; i < commands.size(); ++i) names[i] = commands[i].name;
  return names;
}();

}  // namespace

DotResult run_dot_command(std::string_view line, DotContext& context) {
  const std::vector<std::string> words = split_words(line);
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const DotCommand& candidate) { return candidate.name == words.front(); });
  if (command == commands.end()) return failure(fmt::format("no such command: {} (see .help)", words.front()));
  const size_t count = words.size() - 1;
  if (count < command->least || count > command->most) {
    return failure(fmt::format("usage: {} {}", command->name, command->arguments));
  }
  return command->run(Arguments(words).subspan(1), context);
}

std::span<const std::string_view> dot_command_names() { return command_names; }

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0 ? c == quote : (c == '\'' || c == '"')) {
      quote = quote != 0 ? '\0' : c;
      if (!in_word) words.emplace_back();
      in_word = true;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == ';' || c == '\r')) {
      in_word = false;
    } else {
      if (!in_word) words.emplace_back();
      in_word = true;
      words.back() += c;
    }
  }
  return words;
}

}  // namespace diptych::shell
