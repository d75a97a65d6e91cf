#include "shell/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "shell/display_width.h"

namespace diptych::shell {

namespace {

constexpr size_t widest_bar = 40;

// A bar of `cells` cells, filled to the eighth of a cell.
std::string bar(double share, size_t cells) {
  static constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(share * static_cast<double>(cells * 8));
  std::string text;
  for (size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += parts[eighths % 8];
  const size_t used = eighths / 8 + (eighths % 8 > 0 ? 1 : 0);
  return text + std::string(cells - std::min(cells, used), ' ');
}

}  // namespace

std::string short_count(int64_t count) {
  static constexpr struct {
    double size;
    char letter;
  } units[] = {{1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}};
  for (const auto& unit : units) {
    if (static_cast<double>(count) >= unit.size)
      return fmt::format("{:.1f}{}", static_cast<double>(count) / unit.size, unit.letter);
  }
  return fmt::format("{}", count);
}

std::string short_duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string progress_line(const diptych_progress& progress, size_t cells) {
  if (progress.rows_total <= 0) {
    return cut_to_width(
        fmt::format("{} rows, {}", short_count(progress.rows_done), short_duration(progress.seconds_elapsed)), cells);
  }
  const double share =
      std::clamp(static_cast<double>(progress.rows_done) / static_cast<double>(progress.rows_total), 0.0, 1.0);
  std::string text = fmt::format(" {:3.0f}% {} of {} rows", share * 100, short_count(progress.rows_done),
                                 short_count(progress.rows_total));
  if (progress.seconds_left >= 0) text += fmt::format(", {} left", short_duration(progress.seconds_left));
  const size_t width = display_width(text);
  if (width + 5 > cells) return cut_to_width(text.substr(text.find_first_not_of(' ')), cells);
  return bar(share, std::min(widest_bar, cells - width)) + text;
}

}  // namespace diptych::shell
