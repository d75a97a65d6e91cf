// What a run found: tables for people, as text and as Markdown, and the same figures as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace diptych::bench {

struct Table {
  std::string title;  // with the unit of the figures
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;
};

struct Report {
  nlohmann::ordered_json json;
  std::vector<Table> tables;
  std::vector<std::string> problems;  // empty: all results are equal and all runs came to their end

  std::string text() const;
  std::string markdown() const;
};

// "vm (AMD EPYC), 2 cores"
std::string machine_name();

// A number with so many digits; "-" for what was not measured.
std::string figure(double value, int decimals);

double geometric_mean(const std::vector<double>& values);
double arithmetic_mean(const std::vector<double>& values);

void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace diptych::bench
