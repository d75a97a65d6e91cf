// Runs one SQL statement and prints what comes of it: rows, a count, a time, or an error.
#pragma once

#include <diptych/diptych.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "shell/format/formatter.h"
#include "shell/handle.h"
#include "shell/interrupt_pipe.h"
#include "shell/output.h"
#include "shell/statement_watch.h"

namespace diptych::shell {

// What dot commands and options set.
struct Settings {
  OutputMode mode = OutputMode::table;
  bool timer = false;
  size_t max_rows = 40;             // table mode; 0: all rows
  std::optional<size_t> max_width;  // table mode; nothing: the terminal's, 0: any
  bool announce_changes = false;    // tell how many rows an INSERT or COPY wrote
};

class StatementRunner {
 public:
  // All must outlive the runner.
  StatementRunner(diptych_connection* connection, const Settings& settings, Output& output,
                  const InterruptPipe& interrupts);

  // True when it succeeded. `sql` begins on line `first_line` of its input, which error messages count from.
  bool run(std::string_view sql, size_t first_line);

 private:
  bool print_rows(diptych_statement* statement, bool as_lines, StatementWatch& watch);
  std::unique_ptr<Formatter> formatter_for(bool as_lines);
  bool fail(const diptych_error& error, std::string_view sql, size_t first_line, StatementWatch& watch);
  void report_success(diptych_statement* statement, std::chrono::duration<double> elapsed);

  diptych_connection* connection_;
  const Settings& settings_;
  Output& output_;
  const InterruptPipe& interrupts_;
  int64_t rows_printed_ = 0;
};

}  // namespace diptych::shell
