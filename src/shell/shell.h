// The shell: reads statements and dot commands, from a terminal, a pipe, files or the command line, and runs them.
//
//   lines -> dot command?  -> dot_commands
//         -> SQL until ';' -> StatementRunner -> formatter -> output
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "shell/dot_commands.h"
#include "shell/edit/completion.h"
#include "shell/handle.h"
#include "shell/interrupt_pipe.h"
#include "shell/options.h"
#include "shell/output.h"
#include "shell/statement_runner.h"

namespace diptych::shell {

class LineEditor;

class Shell {
 public:
  // `connection` must outlive the shell.
  Shell(diptych_connection* connection, const Options& options);

  // Runs what the options ask for; the process's exit status: 1 when a script failed.
  int run();

 private:
  int run_input();
  enum class OnError { Stop, Continue };
  // Text that waits for the ';' that ends its statement.
  struct Input {
    std::string pending;
    size_t first_line = 1;  // of `pending`
    size_t lines = 0;       // read so far
    bool failed = false;
  };

  int run_interactively();
  void edit_statements(LineEditor& editor);
  bool run_script(const Script& script);
  bool run_file(const std::string& path);
  bool run_stream(std::istream& in, OnError on_error);
  void feed(Input& input, std::string_view line, OnError on_error);
  void run_complete_statements(Input& input, OnError on_error);
  void run_rest(Input& input);
  bool run_sql(std::string_view sql, size_t first_line);
  bool run_dot(std::string_view line);

  diptych_connection* connection_;
  Options options_;
  InterruptPipe interrupts_;
  Settings settings_;
  Output output_;
  StatementRunner runner_;
  Completion completion_;
  bool quit_ = false;
  int read_depth_ = 0;  // .read within files
};

}  // namespace diptych::shell
