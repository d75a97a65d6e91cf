#include <ostream>

#include "shell/display_width.h"
#include "shell/format/formatter.h"

namespace diptych::shell {

namespace {

class MarkdownFormatter : public Formatter {
 public:
  explicit MarkdownFormatter(std::ostream& out) : out_(out) {}

  void begin(const std::vector<ResultColumn>& columns) override {
    for (const ResultColumn& column : columns) write(column.name);
    out_ << "|\n";
    for (const ResultColumn& column : columns) out_ << (column.is_number() ? "|---:" : "|---");
    out_ << "|\n";
  }

  void row(std::span<const Cell> cells) override {
    for (const Cell& cell : cells) write(cell.value_or("NULL"));
    out_ << "|\n";
  }

  void finish() override {}

 private:
  void write(std::string_view text) {
    out_ << "| ";
    for (const char c : escape_control(text)) {
      if (c == '|') out_ << '\\';
      out_ << c;
    }
    out_ << ' ';
  }

  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Formatter> make_markdown_formatter(std::ostream& out) {
  return std::make_unique<MarkdownFormatter>(out);
}

}  // namespace diptych::shell
