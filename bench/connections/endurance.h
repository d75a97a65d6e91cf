// Connections that run the queries of a folder on one database file for minutes.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

struct EnduranceOptions {
  std::string database, queries;  // the file; the folder, of files *.sql with a query each
  std::string device = "cuda", residency = "auto";
  int connections = 16, threads = 1;
  double seconds = 300;
};

// Prints the queries a second of one connection and of all, wrong answers (by the CPU's), failures and fallbacks, and
// what the device's memory held before and after. The program's exit status: 0 where all were right.
int run_endurance(const EnduranceOptions& options);

}  // namespace bench
