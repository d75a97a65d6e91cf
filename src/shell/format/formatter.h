// How a result is written: one formatter per output mode, fed row by row.
//
//   begin(columns)  row(cells) row(cells) ...  finish()
//
// The table formatter keeps the head and the tail of the rows and draws at the end; the others write as rows come.
#pragma once

#include <diptych/diptych.h>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diptych::shell {

// name, what .mode's help says of it
#define DIPTYCH_OUTPUT_MODES(X)                     \
  X(table, "a box, folded when it is long or wide") \
  X(csv, "comma-separated values with a header")    \
  X(json, "an array of one object per row")         \
  X(markdown, "a Markdown table")                   \
  X(line, "one line per value, rows separated by an empty line")

enum class OutputMode : uint8_t {
#define DIPTYCH_MODE_ENUM(name, help) name,
  DIPTYCH_OUTPUT_MODES(DIPTYCH_MODE_ENUM)
#undef DIPTYCH_MODE_ENUM
};

std::string_view mode_name(OutputMode mode);
std::optional<OutputMode> find_mode(std::string_view name);

struct ResultColumn {
  std::string name;
  std::string type_name;  // as SQL writes it
  diptych_type type = DIPTYCH_TYPE_TEXT;

  bool is_number() const;
};

// A value as text; nothing is NULL. Valid until the formatter's row() returns.
using Cell = std::optional<std::string_view>;

struct FormatLimits {
  size_t max_rows = 40;  // table mode: rows beyond are folded; 0: none are
  size_t max_width = 0;  // table mode: cells a line may take; 0: any number
};

class Formatter {
 public:
  virtual ~Formatter() = default;
  virtual void begin(const std::vector<ResultColumn>& columns) = 0;
  virtual void row(std::span<const Cell> cells) = 0;
  virtual void finish() = 0;
};

// `out` must outlive the formatter.
std::unique_ptr<Formatter> make_formatter(OutputMode mode, const FormatLimits& limits, std::ostream& out);

std::unique_ptr<Formatter> make_table_formatter(const FormatLimits& limits, std::ostream& out);
std::unique_ptr<Formatter> make_csv_formatter(std::ostream& out);
std::unique_ptr<Formatter> make_json_formatter(std::ostream& out);
std::unique_ptr<Formatter> make_markdown_formatter(std::ostream& out);
std::unique_ptr<Formatter> make_line_formatter(std::ostream& out);
// Every value on a line of its own, without a header: for EXPLAIN, whose rows are lines of text.
std::unique_ptr<Formatter> make_plain_formatter(std::ostream& out);

}  // namespace diptych::shell
