// The table of the steady load, t, whose keys are 0, 1, 2, ... Of every row, amount is price in hundredths: a sum over
// the table shows a change that was made by halves.
//
//      id    amount      price  name                         day
//       0  77350261  773502.61  wqpfhz-ooaetwcmxkjbrx        2019-04-30
//       1   8124007   81240.07  mvuyw.lkcaqzpbnhas           2016-12-01
//
// Beside it is the table spare, with the same columns and spare_rows rows: values for rows that are added later.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <string>
#include <vector>

namespace bench {

constexpr int64_t spare_rows = 65536;

// Makes random values, the same for the same seed.
class RowMaker {
 public:
  explicit RowMaker(uint64_t seed);

  // A line of CSV.
  void add_line(std::string& text, int64_t id);
  void add_name(std::string& text);

 private:
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(end)); }

  std::mt19937_64 random_;
  std::vector<std::string> days_;
};

struct TableOptions {
  std::string path;  // a database file that is not there yet
  int64_t bytes = 1'000'000'000;
};

// Makes the tables, and adds rows to t until the file has as many bytes. The result says how many rows and bytes there
// are.
nlohmann::json load_table(const TableOptions& options);

}  // namespace bench
