// A contestant of bench_turning: a database in memory that holds the table `t`, and runs statements from their text.
//
//   t       id: every number from 1 to the number of rows once, in random order
//           group_number: 1 to 100
//           value: 1 to 65535
//   target  the same columns, empty: what INSERT ... SELECT fills
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace diptych::bench {

struct Table {
  std::vector<int32_t> id, group_number, value;

  size_t rows() const { return id.size(); }
  // The same table for the same number of rows.
  static Table generate(size_t rows);
};

// What a statement gave. `total` is the sum of all values of all rows: reading them is a part of the measured time.
struct Run {
  double seconds = 0;
  int64_t rows = 0;  // of the result, or changed
  double total = 0;
};

// columns[i][row], every value as a number.
using Columns = std::vector<std::vector<double>>;

class Contestant {
 public:
  explicit Contestant(std::string name) : name_(std::move(name)) {}
  virtual ~Contestant() = default;

  const std::string& name() const { return name_; }
  virtual std::string version() const = 0;
  // Makes `t` and `target` anew.
  virtual void load(const Table& table) = 0;
  // Any number of statements, whose rows are dropped.
  virtual void execute(const std::string& sql) = 0;
  // From the text of one statement until all values of its result have been read and the statement is closed.
  virtual Run run(const std::string& sql) = 0;
  virtual Columns columns(const std::string& sql) = 0;

 private:
  std::string name_;
};

// All of them throw std::runtime_error with the system's message when the system fails.
std::unique_ptr<Contestant> make_sqlite(const std::string& name, bool has_index);

// One database of Diptych, whose contestants are connections with settings of their own.
class DiptychDatabase;
std::shared_ptr<DiptychDatabase> open_diptych();
std::unique_ptr<Contestant> make_diptych(const std::string& name, std::shared_ptr<DiptychDatabase> database,
                                         const std::vector<std::string>& settings);

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace diptych::bench
