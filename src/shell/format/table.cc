// The box of table mode. A long result keeps its first and last rows, a wide one its first and last columns:
//
//   ┌───────┬─────────┬───┬──────┐
//   │  id   │  name   │ … │ col9 │
//   │ bigint│  text   │   │ date │
//   ├───────┼─────────┼───┼──────┤
//   │     1 │ a       │ … │ NULL │
//   │   ·   │   ·     │ · │  ·   │
//   │  1000 │ z       │ … │ NULL │
//   ├───────┴─────────┴───┴──────┤
//   │ 1000 rows (40 shown)   ... │
//   └────────────────────────────┘
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <ostream>

#include "shell/display_width.h"
#include "shell/format/formatter.h"

namespace diptych::shell {

namespace {

// Text columns are narrowed to this many cells before whole columns are dropped.
constexpr size_t narrow_cells = 20;
// From this many rows on the count is printed even when nothing is folded.
constexpr size_t count_from_rows = 10;

enum class Align { left, right, centre };

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string aligned(std::string_view text, size_t width, Align align) {
  const std::string shown = cut_to_width(text, width);
  const size_t room = width - std::min(width, display_width(shown));
  const size_t before = align == Align::left ? 0 : align == Align::right ? room : room / 2;
  return std::string(before, ' ') + shown + std::string(room - before, ' ');
}

class TableFormatter : public Formatter {
 public:
  TableFormatter(const FormatLimits& limits, std::ostream& out) : limits_(limits), out_(out) {}

  void begin(const std::vector<ResultColumn>& columns) override { columns_ = columns; }

  // Millions of rows may pass through the tail: a row that leaves it hands its memory to the one that enters.
  void row(std::span<const Cell> cells) override {
    ++rows_;
    const size_t head_rows = (limits_.max_rows + 1) / 2;
    if (limits_.max_rows == 0 || head_.size() < head_rows) {
      assign(head_.emplace_back(), cells);
      return;
    }
    const size_t tail_rows = limits_.max_rows - head_rows;
    if (tail_rows == 0) return;
    std::vector<std::string> kept;
    if (tail_.size() == tail_rows) {
      kept = std::move(tail_.front());
      tail_.pop_front();
    }
    assign(kept, cells);
    tail_.push_back(std::move(kept));
  }

  void finish() override {
    for (auto& row : head_) escape(row);
    for (auto& row : tail_) escape(row);
    choose_columns();
    draw_rule("┌", "┬", "┐");
    draw_header();
    draw_rule("├", "┼", "┤");
    for (const auto& row : head_) draw_row(row);
    if (rows_folded()) {
      for (int i = 0; i < 3; ++i) draw_dots();
    }
    for (const auto& row : tail_) draw_row(row);
    draw_footer();
  }

 private:
  static constexpr size_t gap = SIZE_MAX;  // stands in shown_ where columns were dropped

  static void assign(std::vector<std::string>& row, std::span<const Cell> cells) {
    row.resize(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) row[i].assign(cells[i].value_or("NULL"));
  }

  static void escape(std::vector<std::string>& row) {
    for (std::string& text : row) text = escape_control(text);
  }

  bool rows_folded() const { return rows_ > head_.size() + tail_.size(); }
  bool columns_folded() const { return std::find(shown_.begin(), shown_.end(), gap) != shown_.end(); }
  size_t width_of(size_t shown) const { return shown == gap ? 1 : widths_[shown]; }

  size_t total_width() const {
    size_t total = 1;
    for (const size_t column : shown_) total += width_of(column) + 3;
    return total;
  }

  void choose_columns() {
    widths_.clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t width = std::max(display_width(columns_[i].name), display_width(columns_[i].type_name));
      for (const auto& row : head_) width = std::max(width, display_width(row[i]));
      for (const auto& row : tail_) width = std::max(width, display_width(row[i]));
      widths_.push_back(width);
    }
    shown_.resize(columns_.size());
    std::iota(shown_.begin(), shown_.end(), size_t{0});
    if (limits_.max_width == 0) return;
    narrow_wide_columns();
    drop_middle_columns();
  }

  // Takes the missing cells from the widest columns first, but leaves each its name's width or narrow_cells.
  void narrow_wide_columns() {
    while (total_width() > limits_.max_width) {
      size_t widest = gap;
      for (size_t i = 0; i < widths_.size(); ++i) {
        const size_t least = columns_[i].is_number() ? widths_[i] : narrow_cells;
        if (widths_[i] > least && (widest == gap || widths_[i] > widths_[widest])) widest = i;
      }
      if (widest == gap) return;
      --widths_[widest];
    }
  }

  // Of n columns the first and the last ones stay; at least one column is shown, cut to what there is room for.
  void drop_middle_columns() {
    if (total_width() <= limits_.max_width) return;
    size_t left = columns_.size() / 2 + columns_.size() % 2;
    size_t right = columns_.size() - left;
    while (total_width() > limits_.max_width && left + right > 1) {
      (left > right ? left : right)--;
      shown_.clear();
      for (size_t i = 0; i < left; ++i) shown_.push_back(i);
      shown_.push_back(gap);
      for (size_t i = columns_.size() - right; i < columns_.size(); ++i) shown_.push_back(i);
    }
    const size_t total = total_width();
    if (total > limits_.max_width && !shown_.empty()) {
      size_t& width = widths_[shown_.front()];
      width -= std::min(width - 1, total - limits_.max_width);
    }
  }

  void draw_rule(std::string_view left, std::string_view joint, std::string_view right) {
    out_ << left;
    for (size_t i = 0; i < shown_.size(); ++i) {
      if (i > 0) out_ << joint;
      out_ << repeated("─", width_of(shown_[i]) + 2);
    }
    out_ << right << '\n';
  }

  template <typename TextOf, typename AlignOf>
  void draw_line(const TextOf& text_of, const AlignOf& align_of, std::string_view in_gap) {
    for (const size_t column : shown_) {
      if (column == gap) {
        out_ << "│ " << in_gap << ' ';
      } else {
        out_ << "│ " << aligned(text_of(column), widths_[column], align_of(column)) << ' ';
      }
    }
    out_ << "│\n";
  }

  void draw_header() {
    const auto centre = [](size_t) { return Align::centre; };
    draw_line([&](size_t i) { return escape_control(columns_[i].name); }, centre, "…");
    draw_line([&](size_t i) { return columns_[i].type_name; }, centre, " ");
  }

  Align align_of(size_t column) const { return columns_[column].is_number() ? Align::right : Align::left; }

  void draw_row(const std::vector<std::string>& row) {
    draw_line([&](size_t i) { return row[i]; }, [&](size_t i) { return align_of(i); }, "…");
  }

  void draw_dots() {
    draw_line([](size_t) { return "·"; }, [](size_t) { return Align::centre; }, "·");
  }

  std::string count_text() const {
    std::string text = fmt::format("{} row{}", rows_, rows_ == 1 ? "" : "s");
    if (rows_folded()) text += fmt::format(" ({} shown)", head_.size() + tail_.size());
    if (columns_folded()) text += fmt::format(", {} columns ({} shown)", columns_.size(), shown_.size() - 1);
    return text;
  }

  void draw_footer() {
    const size_t inner = total_width() - 4;
    const bool counted = rows_ == 0 || rows_ >= count_from_rows || rows_folded() || columns_folded();
    const std::string text = count_text();
    if (!counted) {
      draw_rule("└", "┴", "┘");
    } else if (display_width(text) > inner) {
      draw_rule("└", "┴", "┘");
      out_ << text << '\n';
    } else {
      draw_rule("├", "┴", "┤");
      out_ << "│ " << aligned(text, inner, Align::left) << " │\n";
      out_ << "└" << repeated("─", inner + 2) << "┘\n";
    }
  }

  FormatLimits limits_;
  std::ostream& out_;
  std::vector<ResultColumn> columns_;
  std::vector<std::vector<std::string>> head_;
  std::deque<std::vector<std::string>> tail_;
  size_t rows_ = 0;
  std::vector<size_t> widths_;
  std::vector<size_t> shown_;
};

}  // namespace

std::unique_ptr<Formatter> make_table_formatter(const FormatLimits& limits, std::ostream& out) {
  return std::make_unique<TableFormatter>(limits, out);
}

}  // namespace diptych::shell
