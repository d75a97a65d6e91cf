// Goldens of plans, programs and kernels: every test/golden/*.sql holds statements; those that start with EXPLAIN, and
// the plans before and after the optimiser of those that start with PLAN, are printed and compared with the .expected
// file beside it. DIPTYCH_ACCEPT=1 writes the files anew: read the difference before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "plan/plan_text.h"
#include "session/script.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych {
namespace {

void append_lines(std::string& out, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) out += line + "\n";
}

// The line of a kernel's text that counts the library's lines; they come and go with changes to the library.
bool is_library_line(const std::string& line) { return line.ends_with(" lines of src/kernel"); }

// Runs one statement of a script and returns what it prints.
std::string golden_of(Connection& connection, const std::string& text) {
  std::string out = text + "\n";
  if (text.starts_with("PLAN ")) {
    Statement query(connection, text.substr(5));
    out += "-- as bound\n";
    append_lines(out, describe(query.logical_plan()));
    out += "-- optimised\n";
    append_lines(out, describe(query.optimized_plan()));
    return out + "\n";
  }
  Statement statement(connection, text);
  const auto rows = statement.run();
  if (!text.starts_with("EXPLAIN")) return "";
  for (const Value& value : read_values(*rows)) {
    const std::string line = value.to_text();
    if (!is_library_line(line)) out += line + "\n";
  }
  return out + "\n";
}

std::string run_script(const std::string& script) {
  MemoryFileSystem files;
  Database database(":memory:", files);
  Connection connection(database);
  std::string out;
  for (const std::string& text : testing::statements_of(script)) out += golden_of(connection, text);
  return out;
}

TEST(Golden, PlansProgramsAndKernels) {
  const std::filesystem::path folder = std::filesystem::path(DIPTYCH_SOURCE_DIR) / "test/golden";
  const bool accept = std::getenv("DIPTYCH_ACCEPT") != nullptr;
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".sql") continue;
    std::filesystem::path expected = entry.path();
    expected.replace_extension(".expected");
    std::string actual;
    try {
      actual = run_script(testing::read_file(entry.path()));
    } catch (const Error& error) {
      FAIL() << entry.path() << ": " << error.message();
    }
    if (accept) std::ofstream(expected) << actual;
    EXPECT_EQ(actual, testing::read_file(expected)) << "in " << entry.path();
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace diptych
