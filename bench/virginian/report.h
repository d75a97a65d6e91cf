// The measured times as a table of ratios and as JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "queries.h"

namespace diptych::bench {

struct Contestant {
  std::string name;  // "diptych", "duckdb", ...
  std::string version;
  int threads = 1;
  std::array<double, queries.size()> seconds{};  // medians
};

struct Report {
  uint64_t rows = 0;
  uint64_t seed = 0;
  int repetitions = 0;
  std::vector<Contestant> contestants;
  std::array<uint64_t, queries.size()> result_rows{};
  std::vector<std::string> disagreements;  // empty: all results are equal

  // Milliseconds per query and contestant, then the ratios that the project promises, with geometric means.
  std::string table() const;
  std::string json() const;
};

}  // namespace diptych::bench
