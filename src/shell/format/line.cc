#include <algorithm>
#include <ostream>

#include "shell/display_width.h"
#include "shell/format/formatter.h"

namespace diptych::shell {

namespace {

class LineFormatter : public Formatter {
 public:
  explicit LineFormatter(std::ostream& out) : out_(out) {}

  void begin(const std::vector<ResultColumn>& columns) override {
    size_t width = 0;
    for (const ResultColumn& column : columns) width = std::max(width, display_width(column.name));
    for (const ResultColumn& column : columns) {
      labels_.push_back(std::string(width - display_width(column.name), ' ') + column.name + " = ");
    }
  }

  void row(std::span<const Cell> cells) override {
    if (!first_) out_ << '\n';
    first_ = false;
    for (size_t i = 0; i < cells.size(); ++i) out_ << labels_[i] << cells[i].value_or("NULL") << '\n';
  }

  void finish() override {}

 private:
  std::ostream& out_;
  std::vector<std::string> labels_;
  bool first_ = true;
};

class PlainFormatter : public Formatter {
 public:
  explicit PlainFormatter(std::ostream& out) : out_(out) {}
  void begin(const std::vector<ResultColumn>&) override {}
  void row(std::span<const Cell> cells) override {
    for (const Cell& cell : cells) out_ << cell.value_or("") << '\n';
  }
  void finish() override {}

 private:
  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Formatter> make_line_formatter(std::ostream& out) { return std::make_unique<LineFormatter>(out); }
std::unique_ptr<Formatter> make_plain_formatter(std::ostream& out) { return std::make_unique<PlainFormatter>(out); }

}  // namespace diptych::shell
