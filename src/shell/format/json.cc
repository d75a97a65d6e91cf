// An array of objects, one row a line. Numbers are written with all their digits; NaN and infinities, which JSON lacks,
// are strings.
#include <nlohmann/json.hpp>
#include <ostream>

#include "shell/format/formatter.h"

namespace diptych::shell {

namespace {

std::string json_text(std::string_view text) {
  // Bytes that are not UTF-8 become U+FFFD: an output mode must not fail half-way.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_json_number(std::string_view text) {
  return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

class JsonFormatter : public Formatter {
 public:
  explicit JsonFormatter(std::ostream& out) : out_(out) {}

  void begin(const std::vector<ResultColumn>& columns) override {
    columns_ = columns;
    for (const ResultColumn& column : columns) keys_.push_back(json_text(column.name));
    out_ << '[';
  }

  void row(std::span<const Cell> cells) override {
    out_ << (first_ ? "{" : ",\n{");
    first_ = false;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out_ << ',';
      out_ << keys_[i] << ':';
      write(columns_[i], cells[i]);
    }
    out_ << '}';
  }

  void finish() override { out_ << "]\n"; }

 private:
  void write(const ResultColumn& column, const Cell& cell) {
    if (!cell) {
      out_ << "null";
    } else if (column.type == DIPTYCH_TYPE_BOOLEAN) {
      out_ << (cell->starts_with('t') ? "true" : "false");
    } else if (column.is_number() && is_json_number(*cell)) {
      out_ << *cell;
    } else {
      out_ << json_text(*cell);
    }
  }

  std::ostream& out_;
  std::vector<ResultColumn> columns_;
  std::vector<std::string> keys_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Formatter> make_json_formatter(std::ostream& out) { return std::make_unique<JsonFormatter>(out); }

}  // namespace diptych::shell
