// Database files that earlier versions wrote open, answer as they did then, and take new rows: test/data/format-*.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "session/script.h"
#include "session/session_evaluator.h"
#include "session/statement.h"
#include "storage/file/file_header.h"

namespace diptych {
namespace {

using testing::read_file;
namespace fs = std::filesystem;

constexpr const char* path = "old.diptych";

// The rows as lines; of an error its SQLSTATE, as wordings change.
std::string run(Connection& connection, const std::string& sql) {
  std::string out = sql + ";\n";
  try {
    const auto rows = Statement(connection, sql).run();
    const size_t columns = rows->columns().size();
    size_t i = 0;
    for (const Value& value : read_values(*rows)) {
      out += value.is_null() ? "NULL" : value.to_text();
      out += ++i % columns == 0 ? "\n" : "|";
    }
  } catch (const Error& error) {
    out += "error " + std::string(code_of(error.state())) + "\n";
  }
  return out + "\n";
}

std::vector<std::byte> bytes_of(const fs::path& file) {
  const std::string text = read_file(file);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<fs::path> old_files() {
  std::vector<fs::path> found;
  for (const auto& folder : fs::directory_iterator(fs::path(DIPTYCH_SOURCE_DIR) / "test/data")) {
    if (!folder.path().filename().string().starts_with("format-")) continue;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().extension() == ".diptych") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path beside(fs::path file, const char* extension) { return file.replace_extension(extension); }

class OldFormats : public ::testing::TestWithParam<fs::path> {};

TEST_P(OldFormats, AnswersAsItDid) {
  MemoryFileSystem files;
  files.set_contents(path, bytes_of(GetParam()));
  std::string answers;
  {
    Database database(path, files);
    Connection connection(database);
    database.store().verify();
    for (const std::string& sql : testing::statements_of(read_file(beside(GetParam(), ".sql"))))
      answers += run(connection, sql);
  }
  const fs::path expected = beside(GetParam(), ".expected");
  if (std::getenv("DIPTYCH_ACCEPT") != nullptr && !fs::exists(expected)) std::ofstream(expected) << answers;
  EXPECT_EQ(answers, read_file(expected));
  // What was written into it is a sound file, too.
  Database again(path, files);
  again.store().verify();
}

// A file that a later version wrote is refused, with its version and the ones that are known.
TEST_P(OldFormats, AnUnknownVersionIsNamed) {
  std::vector<std::byte> bytes = bytes_of(GetParam());
  constexpr size_t version_offset = 8, checksum_offset = 56;
  const uint32_t version = 4711;
  for (size_t page = 0; page < size_t{header_pages}; ++page) {
    const std::span<std::byte> header = std::span(bytes).subspan(page * page_bytes, page_bytes);
    std::memcpy(&header[version_offset], &version, sizeof version);
    const uint64_t checksum = checksum_of(header.first(checksum_offset));
    std::memcpy(&header[checksum_offset], &checksum, sizeof checksum);
  }
  MemoryFileSystem files;
  files.set_contents(path, std::move(bytes));
  try {
    Database database(path, files);
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::feature_not_supported);
    EXPECT_EQ(error.message(), "the database file has format version 4711, this program reads version 1");
  }
}

INSTANTIATE_TEST_SUITE_P(Files, OldFormats, ::testing::ValuesIn(old_files()), [](const auto& test) {
  std::string name = test.param.parent_path().filename().string() + "_" + test.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace diptych
