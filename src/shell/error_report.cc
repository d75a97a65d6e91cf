#include "shell/error_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/display_width.h"

namespace diptych::shell {

namespace {

// So much of a long line is shown on either side of the error.
constexpr size_t context_cells = 60;

// The byte offset of the 1-based character `position`, at most sql.size().
size_t byte_offset(std::string_view sql, int64_t position) {
  size_t offset = 0;
  for (int64_t i = 1; i < position && offset < sql.size(); ++i) offset += first_glyph(sql.substr(offset)).bytes;
  return offset;
}

// The end of `text` that is at most `cells` wide.
std::string_view last_cells(std::string_view text, size_t cells) {
  while (display_width(text) > cells) text.remove_prefix(first_glyph(text).bytes);
  return text;
}

std::string without_tabs(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '\t', ' ');
  return spaced;
}

std::string source_lines(std::string_view sql, int64_t position, size_t first_line) {
  const size_t offset = byte_offset(sql, position);
  const size_t line_break = offset == 0 ? std::string_view::npos : sql.rfind('\n', offset - 1);
  const size_t begin = line_break == std::string_view::npos ? 0 : line_break + 1;
  const size_t end = std::min(sql.find('\n', offset), sql.size());
  const size_t line =
      first_line + static_cast<size_t>(std::count(sql.begin(), sql.begin() + static_cast<long>(begin), '\n'));

  const std::string before = without_tabs(sql.substr(begin, offset - begin));
  const std::string_view shown_before = last_cells(before, context_cells);
  const std::string after = cut_to_width(without_tabs(sql.substr(offset, end - offset)), context_cells);
  const std::string label = fmt::format("LINE {}: {}", line, shown_before.size() < before.size() ? "…" : "");
  const size_t indent = display_width(label) + display_width(shown_before);
  return fmt::format("{}{}{}\n{}^\n", label, shown_before, after, std::string(indent, ' '));
}

}  // namespace

std::string error_report(const diptych_error& error, std::string_view sql, size_t first_line) {
  std::string report = fmt::format("ERROR {}: {}\n", error.sqlstate, error.message);
  if (error.position > 0) report += source_lines(sql, error.position, first_line);
  if (*error.hint != '\0') report += fmt::format("HINT: {}\n", error.hint);
  return report;
}

}  // namespace diptych::shell
