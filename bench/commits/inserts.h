// Commits of one row each, from many connections of one process.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace bench {

struct InsertOptions {
  std::string system = "diptych";  // or sqlite
  std::string path;                // a database file that is not there yet
  int connections = 1;
  double seconds = 2;
  bool is_text = false;  // a text for each row instead of a prepared statement
};

// Creates the table t, then inserts rows into it until the time is over. Connection c has inserted the rows
// c * 10^9, c * 10^9 + 1, ... The result says how many each has, commits a second, and how long one took.
nlohmann::json run_inserts(const InsertOptions& options);

}  // namespace bench
