// Database files that earlier versions wrote open, answer as they did then, and take new rows: test/data/formats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "sanitized.h"
#include "session/script.h"
#include "session/session_evaluator.h"
#include "session/statement.h"
#include "storage/file/file_header.h"

namespace diptych {
namespace {

using testing::read_file;
namespace fs = std::filesystem;

constexpr const char* old_path = "old.diptych";

// The rows as lines; of an error its SQLSTATE, as wordings change.
std::string answer_to(Connection& connection, const std::string& sql) {
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

// The file, and the log beside it, if there is one.
void put(const fs::path& file, MemoryFileSystem& files) {
  files.set_contents(old_path, bytes_of(file));
  const fs::path log = file.string() + "-log";
  if (fs::exists(log)) files.set_contents(old_path + std::string("-log"), bytes_of(log));
}

std::vector<fs::path> old_files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(DIPTYCH_SOURCE_DIR) / "test/data/formats"))
    if (entry.path().extension() == ".diptych") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// What all formats' files of the name have in common.
fs::path common(const fs::path& file, const char* extension) {
  return file.parent_path().parent_path() / file.filename().replace_extension(extension);
}

// To the statements over files of its name.
std::string answers_to(Connection& connection, const fs::path& file) {
  std::string answers;
  for (const std::string& sql : testing::statements_of(read_file(common(file, ".sql"))))
    answers += answer_to(connection, sql);
  return answers;
}

class OldFormats : public ::testing::TestWithParam<fs::path> {};

TEST_P(OldFormats, AnswersAsItDid) {
  MemoryFileSystem files;
  put(GetParam(), files);
  std::string answers;
  {
    Database database(old_path, files);
    Connection connection(database);
    database.store().verify();
    answers = answers_to(connection, GetParam());
  }
  const fs::path expected = common(GetParam(), ".expected");
  if (std::getenv("DIPTYCH_ACCEPT") != nullptr && !fs::exists(expected)) std::ofstream(expected) << answers;
  EXPECT_EQ(answers, read_file(expected));
  // What was written into it is a sound file, too.
  Database again(old_path, files);
  again.store().verify();
}

// Of all tables, in order.
std::vector<uint64_t> tablet_ids(Database& database) {
  std::vector<uint64_t> ids;
  const auto catalog = database.store().snapshot();
  for (const std::string& name : catalog->table_names()) {
    const auto table = catalog->find_table(name);
    for (size_t tablet = 0; tablet < table->tablet_count(); ++tablet) ids.push_back(table->tablet_id(tablet));
  }
  return ids;
}

// Tablets of a file without ids get them when it is opened, and keep them when the file is written.
TEST_P(OldFormats, TheFirstCommitWritesTheNewestFormat) {
  MemoryFileSystem files;
  put(GetParam(), files);
  std::vector<uint64_t> before;
  {
    Database database(old_path, files);
    before = tablet_ids(database);
    Connection connection(database);
    Statement(connection, "CREATE TABLE zz_added AS SELECT 1 AS i").run();
    EXPECT_EQ(tablet_ids(database).size(), before.size() + 1);
  }
  uint32_t newest = 0;
  for (int64_t page = 0; page < header_pages; ++page) {
    const std::vector<std::byte> bytes = files.contents(old_path);
    const auto header = decode_header(std::span(bytes).subspan(static_cast<size_t>(page * page_bytes), page_bytes));
    newest = std::max(newest, header->version);
  }
  EXPECT_EQ(newest, file_format_version);
  Database again(old_path, files);
  std::vector<uint64_t> after = tablet_ids(again);
  const uint64_t added = after.back();
  after.pop_back();
  EXPECT_EQ(after, before);
  for (const uint64_t id : before) EXPECT_LT(id, added);
}

// Whatever a power cut leaves of the first commit is the old file or the new one.
TEST_P(OldFormats, PowerCutInTheFirstCommit) {
  for (int64_t at = 0;; at += testing::unless_sanitized(1, 3)) {
    SCOPED_TRACE("power cut at operation " + std::to_string(at));
    MemoryFileSystem files(static_cast<uint64_t>(at));
    put(GetParam(), files);
    files.set_faults({.kind = FaultPlan::Kind::PowerCut, .at = at});
    bool ended = false;
    try {
      Database database(old_path, files);
      Connection connection(database);
      Statement(connection, "CREATE TABLE zz_added AS SELECT 1 AS i").run();
      ended = true;
    } catch (const Error&) {
    }
    for (const uint64_t image : {1, 2, 3}) {
      const auto survivor = files.after_crash(static_cast<uint64_t>(at) * 3 + image);
      Database database(old_path, *survivor);
      database.store().verify();
      Connection connection(database);
      EXPECT_EQ(answers_to(connection, GetParam()), read_file(common(GetParam(), ".expected")));
    }
    if (ended) break;
  }
}

// After an error the old state holds, and another transaction can follow.
TEST_P(OldFormats, ErrorInTheFirstCommit) {
  for (int64_t at = 0;; at += testing::unless_sanitized(1, 3)) {
    SCOPED_TRACE("error of operation " + std::to_string(at));
    MemoryFileSystem files(static_cast<uint64_t>(at));
    put(GetParam(), files);
    files.set_faults({.kind = FaultPlan::Kind::IoError, .at = at});
    bool ended = false;
    try {
      Database database(old_path, files);
      Connection connection(database);
      ended = answer_to(connection, "CREATE TABLE zz_added AS SELECT 1 AS i").find("error") == std::string::npos;
      database.store().begin_write();
      database.store().verify();
    } catch (const Error&) {
    }
    Database database(old_path, files);
    database.store().verify();
    Connection connection(database);
    EXPECT_EQ(answers_to(connection, GetParam()), read_file(common(GetParam(), ".expected")));
    if (ended) break;
  }
}

// A header's copy that a crash has torn is written again by the next writer, whether it commits or not.
TEST_P(OldFormats, ATornHeaderIsPutBackInItsVersion) {
  constexpr std::ptrdiff_t page = page_bytes;
  for (const std::ptrdiff_t slot : {0, 1}) {
    MemoryFileSystem files;
    put(GetParam(), files);
    std::vector<std::byte> bytes = files.contents(old_path);
    std::fill_n(bytes.begin() + (2 * slot + 1) * page, page, std::byte{0});
    files.set_contents(old_path, bytes);
    {
      Database database(old_path, files);
      database.store().begin_write();
    }
    bytes = files.contents(old_path);
    std::fill_n(bytes.begin() + 2 * slot * page, page, std::byte{0});
    files.set_contents(old_path, bytes);
    Database database(old_path, files);
    Connection connection(database);
    EXPECT_EQ(answers_to(connection, GetParam()), read_file(common(GetParam(), ".expected")));
  }
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
  files.set_contents(old_path, std::move(bytes));
  try {
    Database database(old_path, files);
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::feature_not_supported);
    EXPECT_EQ(error.message(), "the database file has format version 4711, this program reads versions 1 to 5");
  }
}

INSTANTIATE_TEST_SUITE_P(Files, OldFormats, ::testing::ValuesIn(old_files()), [](const auto& test) {
  return "format_" + test.param.parent_path().filename().string() + "_" + test.param.stem().string();
});

}  // namespace
}  // namespace diptych
