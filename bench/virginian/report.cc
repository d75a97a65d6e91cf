#include "report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace diptych::bench {

namespace {

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string host() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown host";
}

std::vector<size_t> widths_of(const Table& table) {
  std::vector<size_t> widths;
  for (const std::string& cell : table.header) widths.push_back(cell.size());
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

std::string text_line(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
  std::string line = fmt::format("{:<{}}", cells[0], widths[0]);
  for (size_t i = 1; i < cells.size(); ++i) line += fmt::format("  {:>{}}", cells[i], widths[i]);
  return line + "\n";
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += fmt::format(" {} |", cell);
  return line + "\n";
}

}  // namespace

std::string machine_name() {
  return fmt::format("{} ({}), {} cores", host(), processor(), std::thread::hardware_concurrency());
}

std::string figure(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

double arithmetic_mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double geometric_mean(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return std::exp(arithmetic_mean(logs));
}

std::string Report::text() const {
  std::string text;
  for (const Table& table : tables) {
    const std::vector<size_t> widths = widths_of(table);
    text += table.title + "\n\n" + text_line(table.header, widths);
    for (const auto& row : table.rows) text += text_line(row, widths);
    for (const std::string& note : table.notes) text += note + "\n";
    text += "\n";
  }
  text += problems.empty() ? "All results are equal.\n" : "PROBLEMS:\n";
  for (const std::string& problem : problems) text += "  " + problem + "\n";
  return text;
}

std::string Report::markdown() const {
  std::string text;
  for (const Table& table : tables) {
    std::vector<std::string> rule(table.header.size(), "---:");
    rule[0] = "---";
    text += "### " + table.title + "\n\n" + markdown_line(table.header) + markdown_line(rule);
    for (const auto& row : table.rows) text += markdown_line(row);
    text += "\n";
    for (const std::string& note : table.notes) text += note + "\n\n";
  }
  for (const std::string& problem : problems) text += "Problem: " + problem + "\n\n";
  return text;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path);
  out << text;
  if (!out.flush()) throw std::runtime_error("can't write to " + path.string());
}

}  // namespace diptych::bench
