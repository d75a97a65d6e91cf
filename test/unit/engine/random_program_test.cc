// Random programs over random tables, on the engine and on the reference. DIPTYCH_TEST_SEED gives another seed; the
// seed and the listing of a program that differs are printed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/random_program.h"
#include "engine/reference_engine.h"

namespace diptych::testing {
namespace {

void check(uint64_t seed) {
  RandomProgram generator(seed);
  const int64_t sizes[] = {0, 1, 63, 64, 65, 500, 2047, 2048, 2049, 3000};
  generator.make_table(sizes[generator.below(10)]);
  const int64_t tablet_sizes[] = {64, 1000, 2048, 65536};
  const auto program = generator.make_program(tablet_sizes[generator.below(4)]);
  const ReferenceOutcome expected = run_by_reference(*program, generator.table());
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(::testing::Message() << "threads " << threads << "\n" << listing(*program));
    ExecutionContext context;
    context.threads = threads;
    try {
      const auto rows = rows_of(*run_program(program, context));
      ASSERT_TRUE(expected.errors.empty()) << "an error was expected";
      compare_rows(rows, expected.rows);
    } catch (const Error& error) {
      ASSERT_TRUE(expected.errors.contains(error.state())) << error.what();
    }
  }
}

TEST(RandomPrograms, AgreeWithTheReference) {
  const char* given = std::getenv("DIPTYCH_TEST_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "DIPTYCH_TEST_SEED=" << seed);
    check(seed);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace diptych::testing
