#include "shell/shell.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "shell/edit/line_editor.h"
#include "shell/statement_splitter.h"

namespace diptych::shell {

namespace {

constexpr std::string_view next_prompt = "    ...> ";
constexpr int deepest_read = 16;

// A star says that a transaction is open, an exclamation mark that it has failed.
std::string first_prompt(diptych_transaction_state state) {
  const char* const marks[] = {"", "*", "!"};
  return fmt::format("diptych{}> ", marks[state]);
}

std::string history_path() {
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::string() : std::string(home) + "/.diptych_history";
}

}  // namespace

Shell::Shell(diptych_connection* connection, const Options& options)
    : connection_(connection),
      options_(options),
      runner_(connection, settings_, output_, interrupts_),
      completion_(connection) {
  settings_.mode = options.mode.value_or(OutputMode::table);
  settings_.timer = options.timer;
}

int Shell::run() {
  const int status = run_input();
  if (diptych_get_transaction_state(connection_) != DIPTYCH_TRANSACTION_NONE)
    std::cerr << "The transaction that was open is rolled back.\n";
  return status;
}

int Shell::run_input() {
  if (!options_.scripts.empty()) {
    for (const Script& script : options_.scripts) {
      if (!run_script(script)) return 1;
      if (quit_) break;
    }
    return 0;
  }
  if (::isatty(STDIN_FILENO) != 0) return run_interactively();
  return run_stream(std::cin, OnError::Continue) ? 0 : 1;
}

int Shell::run_interactively() {
  settings_.announce_changes = true;
  std::cout << fmt::format("Diptych {}, {}. Statements end with ';', .help lists the shell's commands.\n",
                           diptych_version(), options_.database)
            << std::flush;
  LineEditor editor(completion_, interrupts_, history_path());
  edit_statements(editor);
  return 0;
}

void Shell::edit_statements(LineEditor& editor) {
  Input input;
  std::string typed;  // the statement as it stands in the history
  std::string line;
  while (!quit_) {
    const bool fresh = input.pending.empty();
    const diptych_transaction_state state = diptych_get_transaction_state(connection_);
    const auto outcome = editor.read(fresh ? first_prompt(state) : std::string(next_prompt), line);
    if (outcome == LineEditor::Outcome::End) {
      std::cout << '\n';
      return;
    }
    if (outcome == LineEditor::Outcome::Interrupted) {
      input = {};
      typed.clear();
      continue;
    }
    if (fresh) input = {};
    typed += line + "\n";
    feed(input, line, OnError::Continue);
    if (!input.pending.empty()) continue;
    if (!is_blank(typed)) editor.remember(typed);
    typed.clear();
  }
}

bool Shell::run_script(const Script& script) {
  if (script.kind == Script::Kind::File) return run_file(script.text);
  std::istringstream in(script.text);
  return run_stream(in, OnError::Stop);
}

bool Shell::run_file(const std::string& path) {
  if (path == "-") return run_stream(std::cin, OnError::Stop);
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open() || in.peek() == std::ifstream::traits_type::eof()) {
    if (in.is_open() && !in.bad()) return true;
    std::cerr << fmt::format("ERROR 58P01: can't read {}\n", path);
    return false;
  }
  if (read_depth_ >= deepest_read) {
    std::cerr << fmt::format("ERROR 54001: {} is read from within itself\n", path);
    return false;
  }
  ++read_depth_;
  const bool succeeded = run_stream(in, OnError::Stop);
  --read_depth_;
  return succeeded;
}

// The last statement needs no ';'. True when none failed.
bool Shell::run_stream(std::istream& in, OnError on_error) {
  Input input;
  std::string line;
  while (!quit_ && std::getline(in, line)) {
    feed(input, line, on_error);
    if (input.failed && on_error == OnError::Stop) return false;
  }
  if (!quit_) run_rest(input);
  return !input.failed;
}

void Shell::feed(Input& input, std::string_view line, OnError on_error) {
  ++input.lines;
  if (input.pending.empty()) {
    if (line.starts_with('.')) {
      if (!run_dot(line)) input.failed = true;
      return;
    }
    input.first_line = input.lines;
  }
  input.pending += line;
  input.pending += '\n';
  run_complete_statements(input, on_error);
}

void Shell::run_complete_statements(Input& input, OnError on_error) {
  std::string_view rest = input.pending;
  size_t line = input.first_line;
  while (!quit_) {
    const size_t blank = leading_blank(rest);
    line += static_cast<size_t>(std::count(rest.begin(), rest.begin() + static_cast<long>(blank), '\n'));
    rest.remove_prefix(blank);
    const auto end = statement_end(rest);
    if (!end) break;
    const std::string_view statement = rest.substr(0, *end);
    if (!is_blank(statement) && !run_sql(statement, line)) input.failed = true;
    if (input.failed && on_error == OnError::Stop) break;
    line += static_cast<size_t>(std::count(statement.begin(), statement.end(), '\n'));
    rest.remove_prefix(*end);
  }
  input.pending = std::string(rest);
  input.first_line = line;
}

void Shell::run_rest(Input& input) {
  if (is_blank(input.pending)) return;
  if (!run_sql(input.pending, input.first_line)) input.failed = true;
}

bool Shell::run_sql(std::string_view sql, size_t first_line) {
  const bool succeeded = runner_.run(sql, first_line);
  completion_.forget();
  return succeeded;
}

bool Shell::run_dot(std::string_view line) {
  DotContext context{connection_, settings_, output_, [this](std::string_view sql) { return run_sql(sql, 1); },
                     [this](const std::string& path) { return run_file(path); }};
  const DotResult result = run_dot_command(line, context);
  quit_ = quit_ || result.quit;
  completion_.forget();
  return result.succeeded;
}

}  // namespace diptych::shell
