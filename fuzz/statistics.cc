// Fuzzing the trust in Parquet statistics. The first byte says what the others are:
//
//   even   false bounds for columns of row groups. Every question is answered as by the good file, or with an error
//   odd    changes of any bytes of the footer. Any answer or error will do
//
// Nothing may crash, hang or fail with XX000 (test/unit/session/false_statistics.h).
#include <cstdio>
#include <cstdlib>

#include "session/false_statistics.h"

namespace {

using namespace diptych;

std::vector<std::string> answers_of(const std::vector<std::byte>& file) {
  MemoryFileSystem files;
  files.set_contents(testing::statistics_path, file);
  Database database(":memory:", files);
  Connection connection(database);
  testing::answer(connection, "SET memory_limit = '256MB'");
  std::vector<std::string> answers;
  for (const char* question : testing::statistics_questions) answers.push_back(testing::answer(connection, question));
  return answers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::StatisticsFile statistics;
  static const std::vector<std::string> right = answers_of(statistics.good());
  if (size == 0) return 0;
  const bool is_false = data[0] % 2 == 0;
  const std::span<const uint8_t> edits(data + 1, size - 1);
  const std::vector<std::string> found =
      answers_of(is_false ? statistics.with_false_statistics(edits) : statistics.with_damaged_footer(edits));
  for (size_t i = 0; i < found.size(); ++i) {
    const bool is_wrong = is_false && !testing::is_error(found[i]) && found[i] != right[i];
    if (!is_wrong && !testing::is_internal_error(found[i])) continue;
    std::fprintf(stderr, "%s\nright: %s\nfound: %s\n", testing::statistics_questions[i], right[i].c_str(),
                 found[i].c_str());
    std::abort();
  }
  return 0;
}
