#include "shell/statement_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "shell/error_report.h"
#include "shell/statement_splitter.h"

namespace diptych::shell {

namespace {

std::vector<ResultColumn> columns_of(const diptych_statement* statement) {
  std::vector<ResultColumn> columns;
  for (int32_t i = 0; i < diptych_column_count(statement); ++i) {
    columns.push_back(
        {diptych_column_name(statement, i), diptych_column_type_name(statement, i), diptych_column_type(statement, i)});
  }
  return columns;
}

// The C API lends one text at a time, so the cells of a row are copied; the buffers live as long as the statement.
class RowReader {
 public:
  explicit RowReader(diptych_statement* statement)
      : statement_(statement), texts_(diptych_column_count(statement)), cells_(texts_.size()) {}

  std::span<const Cell> read() {
    for (size_t i = 0; i < texts_.size(); ++i) {
      int64_t bytes = 0;
      const char* text = diptych_column_text(statement_, static_cast<int32_t>(i), &bytes);
      cells_[i].reset();
      if (text == nullptr) continue;
      texts_[i].assign(text, static_cast<size_t>(bytes));
      cells_[i] = texts_[i];
    }
    return cells_;
  }

 private:
  diptych_statement* statement_;
  std::vector<std::string> texts_;
  std::vector<Cell> cells_;
};

constexpr diptych_error interrupted_error = {"57014", "cancelled on request", "", 0};

std::string plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

StatementRunner::StatementRunner(diptych_connection* connection, const Settings& settings, Output& output,
                                 const InterruptPipe& interrupts)
    : connection_(connection), settings_(settings), output_(output), interrupts_(interrupts) {}

bool StatementRunner::run(std::string_view sql, size_t first_line) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text(sql);
  rows_printed_ = 0;
  StatementWatch watch(connection_, interrupts_, ::isatty(STDERR_FILENO) != 0);

  diptych_statement* prepared = nullptr;
  const diptych_status status = diptych_prepare(connection_, text.c_str(), &prepared, nullptr);
  const StatementHandle statement(prepared);
  if (status != DIPTYCH_OK) return fail(diptych_connection_error(connection_), sql, first_line, watch);
  if (!statement) return true;

  const bool as_lines = first_word(sql) == "explain" && settings_.mode == OutputMode::table;
  if (!print_rows(statement.get(), as_lines, watch)) {
    const diptych_error error = diptych_statement_error(statement.get());
    const bool from_library = std::string_view(error.sqlstate) != "00000";
    return fail(from_library ? error : interrupted_error, sql, first_line, watch);
  }
  watch.stop();
  report_success(statement.get(), std::chrono::steady_clock::now() - start);
  return true;
}

std::unique_ptr<Formatter> StatementRunner::formatter_for(bool as_lines) {
  if (as_lines) return make_plain_formatter(output_.stream());
  const FormatLimits limits{settings_.max_rows, settings_.max_width.value_or(output_.terminal_width())};
  return make_formatter(settings_.mode, limits, output_.stream());
}

// False when the statement failed or was interrupted.
bool StatementRunner::print_rows(diptych_statement* statement, bool as_lines, StatementWatch& watch) {
  diptych_status status = diptych_step(statement);
  watch.hide_progress();
  if (status == DIPTYCH_ERROR) return false;
  const std::vector<ResultColumn> columns = columns_of(statement);
  if (columns.empty()) return true;

  const std::unique_ptr<Formatter> formatter = formatter_for(as_lines);
  formatter->begin(columns);
  RowReader reader(statement);
  for (; status == DIPTYCH_ROW && !watch.interrupted(); status = diptych_step(statement)) {
    formatter->row(reader.read());
    ++rows_printed_;
  }
  if (status != DIPTYCH_DONE) return false;
  formatter->finish();
  output_.stream().flush();
  return true;
}

bool StatementRunner::fail(const diptych_error& error, std::string_view sql, size_t first_line, StatementWatch& watch) {
  watch.stop();
  output_.stream().flush();
  std::cerr << error_report(error, sql, first_line) << std::flush;
  return false;
}

void StatementRunner::report_success(diptych_statement* statement, std::chrono::duration<double> elapsed) {
  const int64_t changed = diptych_rows_changed(statement);
  const bool has_rows = diptych_column_count(statement) > 0;
  if (settings_.announce_changes && changed >= 0) std::cout << plural(changed, "row") << " written\n";
  if (settings_.timer) {
    const std::string rows = has_rows       ? ", " + plural(rows_printed_, "row")
                             : changed >= 0 ? ", " + plural(changed, "row")
                                            : "";
    std::cout << fmt::format("Time: {:.3f} s{}\n", elapsed.count(), rows);
  }
  std::cout.flush();
}

}  // namespace diptych::shell
