// Diptych through its C API.
#pragma once

#include <diptych/diptych.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "queries.h"
#include "system.h"

namespace diptych::bench {

// What EXPLAIN ANALYZE says of the section that reads the table.
struct SectionReport {
  std::string engine;     // "cpu", "cuda:0 generated"
  std::string residency;  // on a device; else how many threads
  std::string fallback;   // why it is not the device asked for
  double device_seconds = 0;
  double compile_seconds = 0;  // writing, finding or compiling kernels
  double bytes_read = 0;       // as they are stored
};

// A connection to a database of its own. Errors of statements are thrown as std::runtime_error, with the SQLSTATE
// first.
class Diptych : public TotalsSystem {
 public:
  explicit Diptych(const std::string& path = ":memory:");
  ~Diptych() override;
  Diptych(const Diptych&) = delete;
  Diptych& operator=(const Diptych&) = delete;

  void create_table();
  void append(const Dataset& data);
  void execute(const std::string& sql);
  // The whole result, as text.
  std::vector<std::vector<std::string>> rows(const std::string& sql);
  // Seconds from the text to the last row, in chunks.
  double seconds_of(std::string_view sql);
  uint64_t count_rows(std::string_view sql);
  SectionReport analyze(std::string_view sql);
  // The first device that can be used, among those of an interface if one is named; empty: there is none.
  std::string find_device(const std::string& wanted);
  // Whether kernels can be chosen between the interpreter's and generated ones.
  bool has_interpreter() const { return has_interpreter_; }

  std::string version() const override { return diptych_version(); }
  void configure(const Configuration& configuration) override;
  double run(size_t query) override { return seconds_of(queries[query].sql); }
  Digest digest(size_t query) override;
  double run_totals(size_t query) override { return seconds_of(queries[query].totals_sql()); }
  Totals totals(size_t query) override;

 private:
  using Statement = std::unique_ptr<diptych_statement, void (*)(diptych_statement*)>;
  using TakeChunk = std::function<void(std::span<const diptych_chunk_column> columns, size_t rows)>;

  Statement prepare(std::string_view sql);
  void fetch(std::string_view sql, const TakeChunk& take);

  diptych_database* database_ = nullptr;
  diptych_connection* connection_ = nullptr;
  bool has_interpreter_ = false;
};

}  // namespace diptych::bench
