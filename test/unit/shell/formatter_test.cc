#include "shell/format/formatter.h"

#include <gtest/gtest.h>

#include <clocale>
#include <sstream>

#include "shell/display_width.h"

namespace diptych::shell {
namespace {

class FormatterTest : public testing::Test {
 protected:
  FormatterTest() { std::setlocale(LC_CTYPE, "C.UTF-8"); }

  static std::string table(const FormatLimits& limits, const std::vector<ResultColumn>& columns, size_t rows,
                           std::string_view cell) {
    std::ostringstream out;
    const auto formatter = make_table_formatter(limits, out);
    formatter->begin(columns);
    for (size_t i = 0; i < rows; ++i) formatter->row(std::vector<Cell>(columns.size(), cell));
    formatter->finish();
    return out.str();
  }

  static size_t widest_line(const std::string& text) {
    std::istringstream lines(text);
    size_t widest = 0;
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
    return widest;
  }
};

TEST_F(FormatterTest, WidthsCountCells) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("é日本"), 5u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("\xff\xc3"), 2u);
  EXPECT_EQ(cut_to_width("日本語", 5), "日本…");
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");
  EXPECT_EQ(cut_to_width("abc", 3), "abc");
  EXPECT_EQ(escape_control("a\n\x1b"), "a\\n\\x1b");
}

TEST_F(FormatterTest, RowsFoldBeyondTheLimitOnly) {
  const std::vector<ResultColumn> columns = {{"a", "integer", DIPTYCH_TYPE_INTEGER}};
  for (const size_t rows : {0, 1, 39, 40})
    EXPECT_EQ(table({40, 0}, columns, rows, "1").find("shown"), std::string::npos);
  EXPECT_NE(table({40, 0}, columns, 41, "1").find("41 rows (40 shown)"), std::string::npos);
  EXPECT_NE(table({1, 0}, columns, 3, "1").find("3 rows (1 shown)"), std::string::npos);
  EXPECT_EQ(table({0, 0}, columns, 500, "1").find("shown"), std::string::npos);
}

TEST_F(FormatterTest, TablesFitEveryWidth) {
  const std::vector<ResultColumn> columns(12, {"column", "text", DIPTYCH_TYPE_TEXT});
  for (size_t width = 12; width < 400; ++width) {
    const std::string text = table({40, width}, columns, 2, "a rather long value, 日本");
    std::istringstream lines(text);
    std::string rule;
    std::getline(lines, rule);
    EXPECT_LE(display_width(rule), width);
  }
  EXPECT_EQ(widest_line(table({40, 0}, columns, 2, "x")), 12 * 9 + 1u);
}

}  // namespace
}  // namespace diptych::shell
