// Fuzzing what is behind the checksums of a database file: the bytes say which values and which fields of the meta data
// to change (test/unit/session/damaged_file.h), and every checksum is made right again. Such a file may have other
// answers, or errors; one core and all cores must agree on them, and nothing may crash, hang or fail with XX000.
#include <cstdio>
#include <cstdlib>

#include "session/damaged_file.h"

namespace {

using namespace diptych;

[[noreturn]] void fail(const char* sql, const std::string& one, const std::string& all) {
  std::fprintf(stderr, "%s\none core: %s\nall cores: %s\n", sql, one.c_str(), all.c_str());
  std::abort();
}

void ask(Connection& connection) {
  for (const char* sql : testing::damaged_questions) {
    testing::answer(connection, "SET threads = 1");
    const std::string one = testing::answer(connection, sql);
    const bool changes = std::string(sql).starts_with("INSERT");
    testing::answer(connection, "SET threads = 3");
    const std::string all = changes ? one : testing::answer(connection, sql);
    const bool differs = !testing::is_error(one) && !testing::is_error(all) && one != all;
    if (differs || testing::is_internal_error(one) || testing::is_internal_error(all)) fail(sql, one, all);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::DamagedFile damaged;
  MemoryFileSystem files;
  files.set_contents(testing::damaged_path, damaged.edit({data, size}));
  try {
    Database database(testing::damaged_path, files);
    Connection connection(database);
    ask(connection);
  } catch (const Error& error) {
    if (error.state() == SqlState::internal_error) fail("open", error.message(), "");
  }
  return 0;
}
