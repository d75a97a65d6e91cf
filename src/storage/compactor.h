// Says when tablets are written anew (compaction.h), and with them statistics (statistics_renewal.h): behind commits
// that deleted rows, on a thread of its own, or when somebody asks for it.
//
//   commit --note_deletes()--> thread: run after run, the best first; a checkpoint for every most_unpublished_bytes
//
// What was written anew counts from the next checkpoint on, as far as the disk is concerned. Before it a crash leaves
// the tablets of before, whose pages stay as they are.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "storage/compaction.h"
#include "storage/writer_turn.h"

namespace diptych {

class StoreState;

// Thread safety: all members may be called by many threads at once, stop() last.
class Compactor {
 public:
  // state: outlives it, and is complete once a member is called.
  Compactor(StoreState& state, bool in_background) : state_(state), is_in_background_(in_background) {}
  ~Compactor() { stop(); }

  // A commit has deleted rows.
  void note_deletes() noexcept;
  void set_in_background(bool in_background);
  // All that is worth it, and a checkpoint. Errors: 57014, 55P03 as StoreState::begin_writing(), 53100, 53200, 58030,
  // XX001.
  void run(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout);
  // Returns when the thread has ended.
  void stop() noexcept;

 private:
  struct Wait {
    const std::atomic<bool>* cancelled;
    std::chrono::milliseconds timeout;
  };
  class Alone;
  void work() noexcept;
  // False: something failed, and may fail again.
  bool work_once() noexcept;
  void compact_all(const Wait& wait);
  // False: there is nothing to do, or others have changed what was to be written anew.
  bool compact_one(const std::string& table, CompactedPart part, const Wait& wait);
  bool put(const CompactedRun& run, const Wait& wait);
  // Changes how the latest version of a table is stored, by the writer. False: it is not there any more, or `work` says
  // so.
  bool change(const TableState& table, const Wait& wait, const std::function<bool(TableState&)>& work);
  void renew_statistics(const std::string& table, const Wait& wait);
  void write_checkpoint(const Wait& wait);

  StoreState& state_;
  WriterTurn turn_;                // to compact
  int64_t unpublished_bytes_ = 0;  // written anew since the last checkpoint; of the one who compacts
  std::atomic<bool> stops_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable has_work_, stopping_;
  bool is_in_background_, is_asked_ = false;
  std::thread thread_;
};

}  // namespace diptych
