// A contestant: a system that holds the data and answers the queries.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "dataset.h"
#include "digest.h"

namespace diptych::bench {

// How the runs that follow are to be done.
struct Configuration {
  int threads = 1;
  // Diptych's settings; the others look at threads alone.
  std::string device = "cpu";
  std::string residency = "auto";
  std::string gpu_engine = "auto";
  bool operator==(const Configuration&) const = default;
};

class System {
 public:
  virtual ~System() = default;
  virtual std::string version() const = 0;
  // Not part of any measured time.
  virtual void configure(const Configuration& configuration) = 0;
  // Seconds from the text of query `query` to the last row of its result in the caller's reach.
  virtual double run(size_t query) = 0;
  // Runs it once more and looks at every value.
  virtual Digest digest(size_t query) = 0;
};

// One that also runs the aggregates over the queries' filters.
class TotalsSystem : public System {
 public:
  virtual double run_totals(size_t query) = 0;
  virtual Totals totals(size_t query) = 0;
};

// Each loads the data into memory; `data` must outlive the system. Throw std::runtime_error when the system fails.
std::unique_ptr<System> make_sqlite_system(const Dataset& data);
// `python` has the duckdb and pyarrow packages; data passes through files in `folder`.
std::unique_ptr<System> make_duckdb_system(const Dataset& data, const std::string& python, const std::string& folder);
std::unique_ptr<TotalsSystem> make_limit_system(const Dataset& data);

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace diptych::bench
