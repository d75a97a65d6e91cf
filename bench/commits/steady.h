// A steady load on the table of steady_table.h: writers that commit at a fixed rate, and a reader that scans in a loop.
//
// A commit changes 1 to 1000 rows, few more often than many (as many have 1 to 10 as 10 to 100 and 100 to 1000). Their
// keys follow each other, or every second to thousandth of a range is one. Half of the commits are one UPDATE. The
// others are transactions that delete rows and add as many with the same keys, so that at any time all keys are there
// once.
//
// With a region of less than 1 the keys are those of a part of the table, which goes through it as time passes:
//
//   keys   0 ......[======= region =======>......... rows
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct SteadyOptions {
  std::string path;          // made by load_table()
  int connections = 4;       // that write
  double rate = 200;         // commits a second of all together
  double seconds = 60;       // of the run
  double region = 1;         // share of the table's keys that change at a time
  double pass_seconds = 60;  // in which the region goes through the table
  int reader_threads = 1;
  std::vector<std::string> settings;  // of all connections: "compaction = 'checkpoint'"
};

// Prints a document of JSON for each second and one at the end; bench_steady.py reads them. Every statement is checked:
// how many rows it has changed, and that the reader sees all rows, each changed wholly. Errors: Failure, and
// std::runtime_error where a check fails.
void run_steady(const SteadyOptions& options);

}  // namespace bench
