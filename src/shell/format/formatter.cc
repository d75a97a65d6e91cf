#include "shell/format/formatter.h"

namespace diptych::shell {

std::string_view mode_name(OutputMode mode) {
  switch (mode) {
#define DIPTYCH_MODE_NAME(name, help) \
  case OutputMode::name: return #name;
    DIPTYCH_OUTPUT_MODES(DIPTYCH_MODE_NAME)
#undef DIPTYCH_MODE_NAME
  }
  return {};
}

std::optional<OutputMode> find_mode(std::string_view name) {
#define DIPTYCH_MODE_FIND(mode, help) \
  if (name == #mode) return OutputMode::mode;
  DIPTYCH_OUTPUT_MODES(DIPTYCH_MODE_FIND)
#undef DIPTYCH_MODE_FIND
  return std::nullopt;
}

bool ResultColumn::is_number() const {
  switch (type) {
    case DIPTYCH_TYPE_SMALLINT:
    case DIPTYCH_TYPE_INTEGER:
    case DIPTYCH_TYPE_BIGINT:
    case DIPTYCH_TYPE_REAL:
    case DIPTYCH_TYPE_DOUBLE:
    case DIPTYCH_TYPE_NUMERIC: return true;
    default: return false;
  }
}

std::unique_ptr<Formatter> make_formatter(OutputMode mode, const FormatLimits& limits, std::ostream& out) {
  switch (mode) {
    case OutputMode::table: return make_table_formatter(limits, out);
    case OutputMode::csv: return make_csv_formatter(out);
    case OutputMode::json: return make_json_formatter(out);
    case OutputMode::markdown: return make_markdown_formatter(out);
    case OutputMode::line: return make_line_formatter(out);
  }
  return nullptr;
}

}  // namespace diptych::shell
