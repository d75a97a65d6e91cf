#include "storage/file/commit_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/fault_file_system.h"

namespace diptych {
namespace {

using Records = std::vector<std::vector<std::byte>>;

constexpr Checkpoint first{.sequence = 7, .checksum = 0x1234};
constexpr Checkpoint second{.sequence = 8, .checksum = 0x5678};

std::vector<std::byte> record_of(int bytes, int value) {
  return {static_cast<size_t>(bytes), static_cast<std::byte>(value)};
}

Records read(MemoryFileSystem& files, const Checkpoint& checkpoint) {
  CommitLog log(files, "db");
  return log.read(checkpoint);
}

TEST(CommitLogTest, RecordsComeBackInOrder) {
  MemoryFileSystem files;
  Records written;
  {
    CommitLog log(files, "db");
    EXPECT_TRUE(log.read(first).empty());
    EXPECT_FALSE(files.exists("db-log"));
    for (const int bytes : {0, 1, 7, 8, 9, 4096, 3 << 20, 1}) {
      written.push_back(record_of(bytes, bytes));
      log.wait_for(log.append(written.back()));
    }
  }
  EXPECT_EQ(read(files, first), written);
  CommitLog log(files, "db");
  EXPECT_EQ(log.read(first), written);
  written.push_back(record_of(5, 5));
  log.wait_for(log.append(written.back()));
  EXPECT_EQ(read(files, first), written);
}

TEST(CommitLogTest, ACheckpointBeginsAnew) {
  MemoryFileSystem files;
  CommitLog log(files, "db");
  log.read(first);
  for (int i = 0; i < 5; ++i) log.wait_for(log.append(record_of(100, i)));
  const size_t bytes = files.contents("db-log").size();
  log.restart(second, log.end());
  EXPECT_EQ(log.bytes(), 0);
  EXPECT_TRUE(read(files, second).empty());
  log.wait_for(log.append(record_of(100, 9)));
  EXPECT_EQ(files.contents("db-log").size(), bytes);
  EXPECT_EQ(read(files, second), Records{record_of(100, 9)});
  // Those of another database are not read.
  EXPECT_TRUE(read(files, {.sequence = second.sequence, .checksum = 1}).empty());
}

// A record that was never finished, and one behind it that was: the second one does not come back behind another first
// one.
TEST(CommitLogTest, WhatFollowsAnUnfinishedRecordIsGone) {
  MemoryFileSystem files;
  {
    CommitLog log(files, "db");
    log.read(first);
    log.wait_for(log.append(record_of(64, 1)));
    log.append(record_of(64, 2));
    log.wait_for(log.append(record_of(64, 3)));
  }
  std::vector<std::byte> bytes = files.contents("db-log");
  // The second record was torn, and neither it nor the third known to be on the disk.
  const size_t of_record = 64 + 48;
  bytes[of_record + 60] = std::byte{0xff};
  files.set_contents("db-log", bytes);
  {
    CommitLog log(files, "db");
    EXPECT_EQ(log.read(first), Records{record_of(64, 1)});
    log.wait_for(log.append(record_of(64, 4)));
  }
  EXPECT_EQ(read(files, first), (Records{record_of(64, 1), record_of(64, 4)}));
}

TEST(CommitLogTest, ALostRecordIsDamage) {
  MemoryFileSystem files;
  {
    CommitLog log(files, "db");
    log.read(first);
    for (int i = 0; i < 3; ++i) log.wait_for(log.append(record_of(64, i)));
  }
  const std::vector<std::byte> whole = files.contents("db-log");
  std::vector<std::byte> bytes = whole;
  bytes[60] = std::byte{0xff};
  files.set_contents("db-log", bytes);
  try {
    read(files, first);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::data_corrupted);
    EXPECT_NE(error.message().find("\"db-log\" is damaged at byte 0"), std::string::npos) << error.message();
  }
  // Nobody knows of the last one.
  bytes = whole;
  bytes[2 * (64 + 48) + 60] = std::byte{0xff};
  files.set_contents("db-log", bytes);
  EXPECT_EQ(read(files, first).size(), 2u);
}

// At every operation: what was waited for is there, and nothing but a part of what was appended, from the start.
TEST(CommitLogTest, PowerCuts) {
  constexpr int records = 12;
  for (int64_t at = 0;; ++at) {
    MemoryFileSystem files(static_cast<uint64_t>(at));
    files.set_faults({.kind = FaultPlan::Kind::PowerCut, .at = at});
    size_t appended = 0, waited = 0;
    try {
      CommitLog log(files, "db");
      log.read(first);
      for (int i = 0; i < records; ++i) {
        const int64_t place = log.append(record_of(i * 300, i));
        appended = static_cast<size_t>(i) + 1;
        if (i % 3 == 1) continue;
        log.wait_for(place);
        waited = appended;
      }
    } catch (const Error&) {
      appended += 1;  // it may be there
    }
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const auto image = files.after_crash(seed);
      CommitLog log(*image, "db");
      const Records found = log.read(first);
      ASSERT_GE(found.size(), waited) << at;
      ASSERT_LE(found.size(), appended) << at;
      for (size_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(found[i], record_of(static_cast<int>(i) * 300, static_cast<int>(i))) << at;
      log.wait_for(log.append(record_of(10, 99)));
      ASSERT_EQ(read(*image, first).size(), found.size() + 1) << at;
    }
    if (waited == records) break;
  }
}

TEST(CommitLogTest, AFailureHoldsUntilTheNextCheckpoint) {
  MemoryFileSystem files;
  CommitLog log(files, "db");
  log.read(first);
  log.wait_for(log.append(record_of(10, 1)));
  Checkpoint checkpoint = first;
  for (const FaultPlan::Kind kind : {FaultPlan::Kind::IoError, FaultPlan::Kind::DiskFull}) {
    for (int64_t at : {0, 1}) {
      EXPECT_FALSE(log.is_broken());
      files.set_faults({.kind = kind, .at = at});
      EXPECT_THROW(log.wait_for(log.append(record_of(10, 2))), Error);
      EXPECT_TRUE(log.is_broken());
      files.set_faults({});
      ++checkpoint.sequence;
      log.restart(checkpoint, log.durable());
      log.wait_for(log.append(record_of(10, 3)));
      EXPECT_EQ(read(files, checkpoint), Records{record_of(10, 3)});
    }
  }
}

// Whoever waits late is told, too.
TEST(CommitLogTest, WhatWasGivenUpIsNeverThere) {
  MemoryFileSystem files;
  CommitLog log(files, "db");
  log.read(first);
  std::vector<int64_t> there, lost;
  for (int i = 0; i < 3; ++i) {
    there.push_back(log.append(record_of(10, i)));
    log.wait_for(there.back());
    lost.push_back(log.append(record_of(10, i)));
    files.set_faults({.kind = FaultPlan::Kind::IoError, .at = 0});
    EXPECT_THROW(log.wait_for(lost.back()), Error);
    EXPECT_EQ(log.durable(), there.back());
    lost.push_back(log.append(record_of(10, i)));
    files.set_faults({});
    log.restart({.sequence = 8 + static_cast<uint64_t>(i), .checksum = 9}, log.durable());
    EXPECT_FALSE(log.is_broken());
    there.push_back(log.append(record_of(10, i)));
    // All of it goes with the next checkpoint.
    if (i == 1) log.restart({.sequence = 20, .checksum = 9}, log.end());
  }
  for (const int64_t place : there) log.wait_for(place);
  for (const int64_t place : lost) EXPECT_THROW(log.wait_for(place), Error);
}

TEST(CommitLogTest, ManyWait) {
  MemoryFileSystem files;
  CommitLog log(files, "db");
  log.read(first);
  std::mutex writer;
  std::atomic<int> failures{0};
  constexpr int threads = 8, each = 200;
  const int64_t before = files.operations();
  std::vector<std::jthread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        int64_t place = 0;
        {
          const std::lock_guard turn(writer);
          place = log.append(record_of(20, thread));
        }
        log.wait_for(place);
        if (log.is_broken()) ++failures;
      }
    });
  }
  all.clear();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(read(files, first).size(), size_t{threads * each});
  // A write and at most a sync a record.
  EXPECT_LE(files.operations() - before, 2 * threads * each + 10);
}

}  // namespace
}  // namespace diptych
