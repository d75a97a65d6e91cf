#include "shell/error_report.h"

#include <gtest/gtest.h>

#include <clocale>

#include "shell/progress_bar.h"

namespace diptych::shell {
namespace {

TEST(ErrorReport, CaretStandsUnderThePosition) {
  EXPECT_EQ(error_report({"42703", "no b", "try a", 11}, "select a,\nb;", 5),
            "ERROR 42703: no b\nLINE 6: b;\n        ^\nHINT: try a\n");
  EXPECT_EQ(error_report({"42601", "end", "", 9}, "select a", 1),
            "ERROR 42601: end\nLINE 1: select a\n                ^\n");
  EXPECT_EQ(error_report({"42601", "x", "", 1}, "a", 1), "ERROR 42601: x\nLINE 1: a\n        ^\n");
}

TEST(ErrorReport, NoPositionNoLine) {
  EXPECT_EQ(error_report({"58030", "disk", "", 0}, "x", 1), "ERROR 58030: disk\n");
}

TEST(ErrorReport, PositionsBeyondTheTextAndLongLinesAreHarmless) {
  EXPECT_NO_THROW(error_report({"42601", "x", "", 999}, "ab", 1));
  const std::string sql = std::string(500, 'a') + " " + std::string(500, 'b');
  const std::string report = error_report({"42601", "x", "", 502}, sql, 1);
  EXPECT_LT(report.size(), 400u);
  EXPECT_NE(report.find("…"), std::string::npos);
}

TEST(ProgressBar, TellsRowsAndRest) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EXPECT_EQ(progress_line({24'600'000, 60'000'000, 2, 3}, 50), "██████▏          41% 24.6M of 60.0M rows, 3 s left");
  EXPECT_EQ(progress_line({500, 0, 2, -1}, 50), "500 rows, 2 s");
  EXPECT_EQ(progress_line({5, 10, 2, 3}, 12), "50% 5 of 10…");
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(1200), "1.2k");
  EXPECT_EQ(short_duration(80), "1 min 20 s");
  EXPECT_EQ(short_duration(11100), "3 h 5 min");
}

}  // namespace
}  // namespace diptych::shell
