#include "base/temp_space.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "base/posix_file_system.h"

namespace diptych {
namespace {

std::vector<std::byte> bytes_of(const char* text) {
  std::vector<std::byte> bytes(std::strlen(text));
  std::memcpy(bytes.data(), text, bytes.size());
  return bytes;
}

std::string read(const TempFile& file, int64_t offset, size_t bytes) {
  std::string text(bytes, ' ');
  file.read_at(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

SqlState state_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.state();
  }
  ADD_FAILURE() << "no error";
  return SqlState::internal_error;
}

TEST(TempSpace, GivesBackWhatWasAppended) {
  MemoryFileSystem files;
  files.set_faults({.short_transfers = true});
  TempSpace space(files, "x.tmp-");
  const auto file = space.open();
  EXPECT_EQ(file->append(bytes_of("one")), 0);
  EXPECT_EQ(file->append(bytes_of("twelve")), 3);
  EXPECT_EQ(read(*file, 3, 6), "twelve");
  EXPECT_EQ(read(*file, 0, 3), "one");
  EXPECT_EQ(space.used(), 9);
}

TEST(TempSpace, CountsWhatOpenFilesTake) {
  MemoryFileSystem files;
  TempSpace space(files, "x.tmp-");
  auto first = space.open();
  const auto second = space.open();
  first->append(bytes_of("12345"));
  second->append(bytes_of("123"));
  EXPECT_EQ(space.used(), 8);
  first.reset();
  EXPECT_EQ(space.used(), 3);
  space.set_limit(6);
  EXPECT_EQ(second->append(bytes_of("456")), 3);
  EXPECT_EQ(state_of([&] { second->append(bytes_of("7")); }), SqlState::disk_full);
  EXPECT_EQ(space.used(), 6);
}

TEST(TempSpace, FilesOfThreadsDoNotMeet) {
  MemoryFileSystem files;
  TempSpace space(files, "x.tmp-");
  const auto file = space.open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string text(10, static_cast<char>('a' + i));
      for (int round = 0; round < 100; ++round) EXPECT_EQ(read(*file, file->append(bytes_of(text.c_str())), 10), text);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(space.used(), 4000);
}

TEST(TempSpace, AFullDiskIs53100) {
  MemoryFileSystem files;
  files.set_faults({.capacity_bytes = 100});
  TempSpace space(files, "x.tmp-");
  const auto file = space.open();
  const std::vector<std::byte> bytes(60);
  file->append(bytes);
  EXPECT_EQ(state_of([&] { file->append(bytes); }), SqlState::disk_full);
  EXPECT_EQ(state_of([&] { space.open()->append(bytes); }), SqlState::disk_full);
}

TEST(TempSpace, EveryFailureIsAnErrorAndLeavesNoFile) {
  for (int64_t at = 0; at < 4; ++at) {
    MemoryFileSystem files;
    files.set_faults({.kind = FaultPlan::Kind::IoError, .at = at});
    TempSpace space(files, "x.tmp-");
    const auto use = [&] {
      const auto file = space.open();
      read(*file, file->append(bytes_of("123")), 3);
    };
    // Removing is tried twice.
    if (at == 1)
      use();
    else
      EXPECT_EQ(state_of(use), SqlState::io_error) << at;
    EXPECT_EQ(space.used(), 0);
    EXPECT_TRUE(files.paths().empty());
  }
}

TEST(TempSpace, HasNoNameOnTheRealFileSystem) {
  PosixFileSystem files;
  TempSpace space(files, "/tmp/no such directory/x");
  EXPECT_EQ(state_of([&] { space.open(); }), SqlState::undefined_file);
  space.set_directory(::testing::TempDir());
  const auto file = space.open();
  EXPECT_EQ(read(*file, file->append(bytes_of("1234")), 4), "1234");
}

}  // namespace
}  // namespace diptych
