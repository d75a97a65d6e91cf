// RFC 4180, as COPY reads it back: NULL is nothing, an empty text is "".
#include <ostream>

#include "shell/format/formatter.h"

namespace diptych::shell {

namespace {

class CsvFormatter : public Formatter {
 public:
  explicit CsvFormatter(std::ostream& out) : out_(out) {}

  void begin(const std::vector<ResultColumn>& columns) override {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out_ << ',';
      write(columns[i].name);
    }
    out_ << '\n';
  }

  void row(std::span<const Cell> cells) override {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out_ << ',';
      if (cells[i]) write(*cells[i]);
    }
    out_ << '\n';
  }

  void finish() override {}

 private:
  void write(std::string_view text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
      out_ << text;
      return;
    }
    out_ << '"';
    for (const char c : text) {
      if (c == '"') out_ << '"';
      out_ << c;
    }
    out_ << '"';
  }

  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Formatter> make_csv_formatter(std::ostream& out) { return std::make_unique<CsvFormatter>(out); }

}  // namespace diptych::shell
