// What a store and its transactions share: the current catalog, who may write, and where tablets go.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "storage/compactor.h"
#include "storage/file/commit_log.h"
#include "storage/store.h"
#include "storage/table_view.h"
#include "storage/tablet_storage.h"
#include "storage/writer_turn.h"

namespace diptych {

// How often a thread that waits looks whether it is to give up.
inline constexpr std::chrono::milliseconds cancel_check_interval{10};
// Errors: 57014 once *cancelled, which may be null, is true.
void check_cancelled(const std::atomic<bool>* cancelled);

// Errors: 55P03 where as much time as the timeout has passed since the start; 0: there is no limit.
void check_lock_timeout(std::chrono::steady_clock::time_point start, std::chrono::milliseconds timeout);

// A commit that is in the log, but perhaps not yet on the disk.
struct LoggedCommit {
  std::shared_ptr<const CatalogView> catalog;
  int64_t place = 0;
};

class StoreState {
 public:
  // log: null in memory.
  StoreState(TabletStorage storage, std::unique_ptr<CommitLog> log, const StoreOptions& options,
             std::shared_ptr<const CatalogView> catalog)
      : storage(std::move(storage)),
        tablet_rows(options.tablet_rows),
        log_(std::move(log)),
        checkpoint_(catalog),
        latest_(catalog),
        last_version_(catalog->version()),
        current_(std::move(catalog)),
        compactor_(*this, options.compacts_in_background) {}

  // Of the commits that are on the disk, the last.
  std::shared_ptr<const CatalogView> current() const;
  // What the writer goes on from: of the commits, the last. By the writer.
  const std::shared_ptr<const CatalogView>& latest() const { return latest_; }
  // Its place in the log. By the writer.
  int64_t latest_place() const;
  // The state that the file's header refers to.
  std::shared_ptr<const CatalogView> checkpoint() const;
  // Waits until no one writes. Errors: as Store::begin_write().
  void begin_writing(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout);
  void end_writing() noexcept;
  // A version that no catalog has had, nor one that a transaction showed and gave up. By the writer.
  uint64_t take_version() { return ++last_version_; }
  // Makes a catalog current, which goes on from latest(): durably in a file, with a header that refers to it; what of
  // the tables is not in the file is written. On an error the old one stays. By the writer.
  void commit(TableMap tables, ViewMap views, uint64_t schema_version);
  // Writes the header of a file whose header refers to another state than the latest one. By the writer.
  void write_checkpoint();
  // Whether a commit whose changes are a record of so many bytes goes into the log, and into no page. By the writer.
  bool may_log(size_t record_bytes) const;
  // Makes a catalog the latest one, which the record makes of the one before. By the writer.
  LoggedCommit log(std::span<const std::byte> record, TableMap tables, ViewMap views, uint64_t schema_version);
  // Makes a catalog the latest one that has the same rows in other tablets. By the writer.
  LoggedCommit put_tablets(TableMap tables);
  // Makes it current once it is on the disk. By whoever committed, who need not be the writer any more. Errors: 58030,
  // 53100; it is given up then, with those that went on from it.
  void wait_for(const LoggedCommit& commit);
  // Before the store ends: what is in the log goes into the file, and the log goes.
  void close() noexcept;

  Compactor& compactor() { return compactor_; }

  const TabletStorage storage;
  std::atomic<int64_t> tablet_rows;
  tbb::task_arena arena;  // for tasks of writers, so that waiting for them runs nothing else

 private:
  void set_current(std::shared_ptr<const CatalogView> catalog);
  void publish(TableMap tables, ViewMap views, CatalogVersions versions);
  // Errors: those of the log, where what the writer goes on from is not on the disk, and never will be.
  void check_latest() const;
  // Where the log is broken: commits that are not on the disk are given up, with those that went on from them. By the
  // writer, before it begins.
  void give_up_lost();
  // Of the commits that are on the disk, the last: who made it may not have made it current yet. By the writer.
  std::shared_ptr<const CatalogView> last_on_disk() const;

  const std::unique_ptr<CommitLog> log_;
  int commits_ = 0;  // since the store was opened, as far as they count; the writer's
  WriterTurn turn_;
  mutable std::mutex mutex_;
  std::shared_ptr<const CatalogView> checkpoint_;  // owns the pages that the header reaches
  std::shared_ptr<const CatalogView> latest_;      // the writer's
  uint64_t last_version_;                          // the writer's
  std::vector<LoggedCommit> logged_;               // those that may not be current yet; the writer's
  bool has_given_up_ = false;                      // in this turn: latest_ has not all of the log; the writer's
  std::shared_ptr<const CatalogView> current_;
  Compactor compactor_;  // the last one: its thread uses the others
};

// The turn to write, for as long as it lives.
class HeldTurn {
 public:
  // Errors: as StoreState::begin_writing().
  HeldTurn(StoreState& state, const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) : state_(state) {
    state_.begin_writing(cancelled, timeout);
  }
  HeldTurn(const HeldTurn&) = delete;
  HeldTurn& operator=(const HeldTurn&) = delete;
  ~HeldTurn() { state_.end_writing(); }

 private:
  StoreState& state_;
};

}  // namespace diptych
