// Both file systems behave alike where nothing fails; what only one can do is tested alone.
#include "base/file_system.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "base/posix_file_system.h"

namespace diptych {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::string read(const File& file, int64_t offset, size_t count) {
  std::string text(count, '?');
  file.read_at(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

template <typename Call>
std::string state_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return code_of(error.state());
  }
  return "";
}

class FileSystemTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    std::string scratch = (std::filesystem::temp_directory_path() / "diptych_test_XXXXXX").string();
    ASSERT_NE(::mkdtemp(scratch.data()), nullptr);
    folder_ = scratch;
    if (GetParam()) {
      files_ = std::make_unique<PosixFileSystem>();
    } else {
      auto memory = std::make_unique<MemoryFileSystem>(3);
      memory->set_faults({.short_transfers = true});
      files_ = std::move(memory);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  std::unique_ptr<FileSystem> files_;
};

INSTANTIATE_TEST_SUITE_P(Systems, FileSystemTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Posix" : "Memory"; });

TEST_P(FileSystemTest, WritesAndReads) {
  auto file = files_->open(path("a"), OpenMode::Create);
  EXPECT_EQ(file->size(), 0);
  file->write_at(0, bytes_of("hello world"));
  file->write_at(6, bytes_of("there"));
  file->write_at(20, bytes_of("end"));
  file->sync();
  EXPECT_EQ(file->size(), 23);
  EXPECT_EQ(read(*file, 0, 11), "hello there");
  EXPECT_EQ(read(*file, 11, 12), std::string(9, '\0') + "end");
  file->will_read(0, 23);
  EXPECT_EQ(state_of([&] { read(*file, 20, 4); }), "58030");
  file->truncate(5);
  EXPECT_EQ(file->size(), 5);
  file->truncate(7);
  EXPECT_EQ(read(*file, 0, 7), std::string("hello\0\0", 7));
  EXPECT_EQ(file->path(), path("a"));
}

TEST_P(FileSystemTest, OpenModes) {
  EXPECT_EQ(state_of([&] { files_->open(path("a"), OpenMode::Read); }), "58P01");
  EXPECT_EQ(state_of([&] { files_->open(path("a"), OpenMode::ReadWrite); }), "58P01");
  files_->open(path("a"), OpenMode::CreateExclusive)->write_at(0, bytes_of("x"));
  EXPECT_EQ(state_of([&] { files_->open(path("a"), OpenMode::CreateExclusive); }), "58030");
  EXPECT_EQ(read(*files_->open(path("a"), OpenMode::Create), 0, 1), "x");
  EXPECT_EQ(read(*files_->open(path("a"), OpenMode::Read), 0, 1), "x");
}

TEST_P(FileSystemTest, NamesChange) {
  files_->open(path("a"), OpenMode::Create)->write_at(0, bytes_of("a"));
  files_->open(path("b"), OpenMode::Create)->write_at(0, bytes_of("b"));
  EXPECT_TRUE(files_->exists(path("a")));
  files_->rename(path("a"), path("b"));
  EXPECT_FALSE(files_->exists(path("a")));
  EXPECT_EQ(read(*files_->open(path("b"), OpenMode::Read), 0, 1), "a");
  files_->remove(path("b"));
  EXPECT_FALSE(files_->exists(path("b")));
  files_->sync_directory(path("b"));
  EXPECT_EQ(state_of([&] { files_->remove(path("b")); }), "58P01");
  EXPECT_EQ(state_of([&] { files_->rename(path("b"), path("c")); }), "58P01");
}

TEST_P(FileSystemTest, LocksExcludeOneAnother) {
  auto first = files_->open(path("a"), OpenMode::Create);
  auto second = files_->open(path("a"), OpenMode::Create);
  first->lock(LockMode::Exclusive);
  EXPECT_EQ(state_of([&] { second->lock(LockMode::Exclusive); }), "55006");
  EXPECT_EQ(state_of([&] { second->lock(LockMode::Shared); }), "55006");
  first.reset();
  second->lock(LockMode::Exclusive);
}

TEST_P(FileSystemTest, SharedLocksGoTogether) {
  auto first = files_->open(path("a"), OpenMode::Create);
  auto second = files_->open(path("a"), OpenMode::Read), third = files_->open(path("a"), OpenMode::ReadWrite);
  first->lock(LockMode::Shared);
  second->lock(LockMode::Shared);
  EXPECT_EQ(state_of([&] { third->lock(LockMode::Exclusive); }), "55006");
  first.reset();
  EXPECT_EQ(state_of([&] { third->lock(LockMode::Exclusive); }), "55006");
  second.reset();
  third->lock(LockMode::Exclusive);
}

TEST(PosixFileSystemTest, LockHoldsAgainstOtherProcesses) {
  std::string scratch = (std::filesystem::temp_directory_path() / "diptych_lock_XXXXXX").string();
  ASSERT_NE(::mkdtemp(scratch.data()), nullptr);
  PosixFileSystem files;
  auto file = files.open(scratch + "/a", OpenMode::Create);
  file->lock(LockMode::Exclusive);
  pid_t child = ::fork();
  if (child == 0) {
    std::string state =
        state_of([&] { PosixFileSystem().open(scratch + "/a", OpenMode::ReadWrite)->lock(LockMode::Exclusive); });
    ::_exit(state == "55006" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  std::filesystem::remove_all(scratch);
}

TEST(PosixFileSystemTest, SystemErrors) {
  PosixFileSystem files;
  EXPECT_EQ(state_of([&] { files.open("/nowhere/at/all", OpenMode::Create); }), "58P01");
  EXPECT_EQ(state_of([&] { files.open("/", OpenMode::ReadWrite); }), "58030");
  if (std::filesystem::exists("/dev/full")) {
    auto full = files.open("/dev/full", OpenMode::ReadWrite);
    EXPECT_EQ(state_of([&] { full->write_at(0, bytes_of("x")); }), "53100");
  }
}

TEST(DirectoryOfTest, Paths) {
  EXPECT_EQ(directory_of("a"), ".");
  EXPECT_EQ(directory_of("/a"), "/");
  EXPECT_EQ(directory_of("a/b/c"), "a/b");
}

TEST(FaultFileSystemTest, NthOperationFailsOnce) {
  MemoryFileSystem files;
  files.set_faults({.kind = FaultPlan::Kind::IoError, .at = 2});
  auto file = files.open("a", OpenMode::Create);        // 0
  file->write_at(0, bytes_of("x"));                     // 1
  EXPECT_EQ(state_of([&] { file->sync(); }), "58030");  // 2
  file->sync();                                         // 3
  EXPECT_EQ(files.operations(), 4);
}

TEST(FaultFileSystemTest, FailsForGood) {
  MemoryFileSystem files;
  files.set_faults({.kind = FaultPlan::Kind::DiskFull, .at = 1, .for_good = true});
  auto file = files.open("a", OpenMode::Create);
  EXPECT_EQ(state_of([&] { file->write_at(0, bytes_of("x")); }), "53100");
  EXPECT_EQ(state_of([&] { file->size(); }), "53100");
  files.set_faults({});
  EXPECT_EQ(file->size(), 0);
}

TEST(FaultFileSystemTest, CapacityIsSharedByAllFiles) {
  MemoryFileSystem files;
  files.set_faults({.capacity_bytes = 10});
  auto a = files.open("a", OpenMode::Create);
  auto b = files.open("b", OpenMode::Create);
  a->write_at(0, bytes_of("123456"));
  EXPECT_EQ(state_of([&] { b->write_at(0, bytes_of("123456")); }), "53100");
  EXPECT_EQ(b->size(), 4);  // what fitted was written
  a->write_at(0, bytes_of("654321"));
  a->truncate(0);
  b->write_at(4, bytes_of("56"));
}

// Of a file with synced and unsynced sectors, every combination that a power cut may leave is seen, and nothing else.
TEST(FaultFileSystemTest, PowerCutKeepsWhatWasSynced) {
  MemoryFileSystem files;
  auto file = files.open("a", OpenMode::Create);
  file->write_at(0, bytes_of(std::string(1024, 'o')));
  file->sync();
  files.sync_directory("a");
  file->write_at(0, bytes_of(std::string(1024, 'n')));
  files.set_faults({.kind = FaultPlan::Kind::PowerCut, .at = 0});
  EXPECT_EQ(state_of([&] { file->sync(); }), "58030");
  EXPECT_EQ(state_of([&] { files.exists("a"); }), "58030");
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    auto survivor = files.after_crash(seed);
    std::string content = read(*survivor->open("a", OpenMode::Read), 0, 1024);
    for (size_t sector : {0, 512}) {
      size_t torn = content.substr(sector, 512).find('o');
      EXPECT_EQ(content.substr(sector, 512).find_last_of('n') + 1, torn == std::string::npos ? 512 : torn);
    }
    seen.insert({content[0], content[511], content[512], content[1023]});
  }
  for (const char* state : {"oooo", "nnnn", "nnoo", "oonn", "nono"}) EXPECT_EQ(seen.count(state), 1u) << state;
}

TEST(FaultFileSystemTest, PowerCutAndDirectories) {
  MemoryFileSystem files;
  files.open("a", OpenMode::Create)->sync();
  files.sync_directory("a");
  files.rename("a", "b");
  files.open("c", OpenMode::Create)->sync();
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    auto survivor = files.after_crash(seed);
    std::string names;
    for (const char* name : {"a", "b", "c"}) names += survivor->exists(name) ? name : "";
    seen.insert(names);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a", "b", "bc"}));
}

}  // namespace
}  // namespace diptych
