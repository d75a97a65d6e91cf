// The log of a database file: what was committed since the file's header was written, one record a commit.
//
//   <database>-log   [record][record][record]......   of checkpoint 7, then bytes of checkpoints before
//   <database>       header 7 --> the state on which the records are to be done again, in order
//
// A commit appends its record and waits until it is on the disk. Whoever waits while nobody syncs, syncs for all that
// have appended by then; the others wait for that. A checkpoint writes a header with the state that all records led to,
// and from then on records are written from the start of the log again, over those of before, whose blocks it keeps:
// then a sync need not write what the file system knows of the file.
//
// A record has its place, the checkpoint that it goes on from, the checksum of the record before it, and the place up
// to which the log was known to be on the disk when it was written. The log ends where a record is not as it was
// written, or does not follow the one before: what is behind it was never finished, unless a later record knows that it
// was on the disk; then the log is damaged.
//
// docs/format.md has the fields. Thread safety: wait_for() by many threads at once and beside append(); the others by
// the one writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <semaphore>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"

namespace diptych {

// The state that records go on from: the sequence number of a header, and a checksum of what it says, so that the log
// of another database is none of this one.
struct Checkpoint {
  uint64_t sequence = 0;
  uint64_t checksum = 0;
  bool operator==(const Checkpoint&) const = default;
};

class CommitLog {
 public:
  // Beside the database file of the path. The log is made with its first record; to_read: there is no more to it than
  // read(). Errors: 58030.
  CommitLog(FileSystem& files, const std::string& database, bool to_read = false);
  static std::string path_of(const std::string& database) { return database + "-log"; }

  // The records behind the checkpoint, in order; the next one is appended behind them. Errors: XX001 where one is
  // damaged that was on the disk; 58030.
  std::vector<std::vector<std::byte>> read(const Checkpoint& checkpoint);
  // The checkpoint is on the disk with all that was appended up to the place `kept`: who waits for that is done; what
  // is behind it is given up for the failure that broke the log. Records go on from the checkpoint, from the start of
  // the log.
  void restart(const Checkpoint& checkpoint, int64_t kept);

  // After a checkpoint behind which nothing was appended: the file goes.
  void remove() noexcept;

  // Returns the place behind the record, for wait_for(). Errors: 53100, 58030; the log is broken then, as after a wait.
  int64_t append(std::span<const std::byte> record);
  // Returns when all up to the place is on the disk. Errors: 53100, 58030 where the disk may or may not have it. From
  // then on that is every wait's error, until restart(), and for what was given up even then.
  void wait_for(int64_t place);

  // The place behind the last record.
  int64_t end() const;
  // The place up to which it is on the disk; of a broken log that stays so until restart().
  int64_t durable() const;
  // Bytes of the records behind the checkpoint.
  int64_t bytes() const;
  // Whether an append or a wait has failed since the checkpoint: the disk may have what failed, so the next commit is
  // to make a checkpoint.
  bool is_broken() const;
  // Throws what broke it.
  [[noreturn]] void raise_failure() const;

 private:
  struct Waiter {
    explicit Waiter(int64_t until) : place(until) {}
    const int64_t place;
    std::binary_semaphore woken{0};
  };

  // What was given up: places behind begin, up to end.
  struct Lost {
    int64_t begin, end;
    std::exception_ptr failure;
  };

  void open();
  // With the lock. Errors: what it was given up for.
  bool is_durable(int64_t place) const;
  // Of the bytes of the log: those on the disk.
  int64_t durable_bytes() const;
  // Without the lock while the disk works.
  void sync(std::unique_lock<std::mutex>& lock);
  void wake();
  void break_off(std::exception_ptr failure);
  // Errors: XX001 where a record behind the place knows that the log was on the disk beyond it.
  void check_nothing_lost(std::span<const std::byte> log, int64_t place) const;

  FileSystem& files_;
  const std::string path_;
  std::unique_ptr<File> file_;  // null: nothing was ever logged
  int64_t file_bytes_ = 0;      // of the file, zeros at its end included
  Checkpoint checkpoint_;
  uint64_t last_ = 0;         // checksum of the last record; of the checkpoint, where there is none
  mutable std::mutex mutex_;  // guards what follows
  int64_t first_ = 0;         // place of the first record behind the checkpoint; places count on over checkpoints
  int64_t written_ = 0;       // place behind the last record
  int64_t durable_ = 0;       // up to here it is on the disk
  bool is_syncing_ = false;
  std::exception_ptr failure_;
  std::vector<Lost> lost_;      // by place
  std::list<Waiter*> waiters_;  // in the order in which they came
};

}  // namespace diptych
