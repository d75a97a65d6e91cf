// kill -9 of a process that commits: the file opens and holds the commits it reported, plus at most one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>

#include "base/memory_budget.h"
#include "base/posix_file_system.h"
#include "storage/test_rows.h"

namespace diptych::test {
namespace {

constexpr int kills = 25;

int64_t rows_of_commit(int64_t commit) { return 1 + commit * 37 % 150; }

// Runs in a process of its own (started by EveryKill) until it is killed: commits, and reports each with a byte on
// descriptor 3.
TEST(KillTest, DISABLED_Child) {
  const char* path = std::getenv("DIPTYCH_KILL_TEST_PATH");
  ASSERT_NE(path, nullptr) << "only EveryKill runs this";
  PosixFileSystem files;
  MemoryBudget budget(int64_t{64} << 20);
  auto store = Store::open_file(files, budget, path, small_tablets);
  if (!store->snapshot()->find_table("t")) {
    auto transaction = store->begin_write();
    transaction->create_table(mixed_table("t"));
    transaction->commit();
  }
  int64_t row = store->snapshot()->find_table("t")->live_rows();
  for (int64_t commit = 0;; ++commit) {
    auto transaction = store->begin_write();
    append_numbers(*transaction, "t", range(row, rows_of_commit(commit)));
    transaction->commit();
    row += rows_of_commit(commit);
    ASSERT_EQ(::write(3, "c", 1), 1);
  }
}

// Starts a child, kills it after so many reports and a random while; the count of all its reports.
int64_t run_and_kill(const std::string& path, std::mt19937& random) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  ::setenv("DIPTYCH_KILL_TEST_PATH", path.c_str(), 1);
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 3);
    int quiet = ::open("/dev/null", O_WRONLY);
    ::dup2(quiet, 1);
    ::dup2(quiet, 2);
    ::execl("/proc/self/exe", "test_storage", "--gtest_filter=KillTest.DISABLED_Child",
            "--gtest_also_run_disabled_tests", static_cast<char*>(nullptr));
    ::_exit(1);
  }
  ::close(ends[1]);
  int64_t reports = 0;
  char byte;
  for (unsigned wanted = random() % 20; reports <= wanted && ::read(ends[0], &byte, 1) == 1;) ++reports;
  ::usleep(random() % 3000);
  ::kill(child, SIGKILL);
  while (::read(ends[0], &byte, 1) == 1) ++reports;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return reports;
}

TEST(KillTest, EveryKill) {
  std::string folder = (std::filesystem::temp_directory_path() / "diptych_kill_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::string path = folder + "/db";
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::cout << "seed " << seed << "\n";
  std::mt19937 random(seed);
  int64_t rows = 0;
  for (int i = 0; i < kills; ++i) {
    int64_t reports = run_and_kill(path, random);
    ASSERT_GT(reports, 0);
    int64_t least = rows;
    for (int64_t commit = 0; commit < reports; ++commit) least += rows_of_commit(commit);
    PosixFileSystem files;
    MemoryBudget budget(int64_t{64} << 20);
    auto store = Store::open_file(files, budget, path, small_tablets);
    store->verify();
    std::vector<int64_t> numbers = read_numbers(*store->snapshot()->find_table("t"));
    rows = static_cast<int64_t>(numbers.size());
    EXPECT_EQ(numbers, range(0, rows));
    EXPECT_TRUE(rows == least || rows == least + rows_of_commit(reports)) << rows << " rows, at least " << least;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace diptych::test
