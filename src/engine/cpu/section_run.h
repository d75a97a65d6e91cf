// Runs one parallel section: morsels of the cursor's tablets from a shared queue, on as many threads as the context
// allows.
//
//   tablets  |0      |1      |2 skipped|3      |      skipped: its zone map rules every row out
//   morsels  |0 |1   |2 |3   |         |4 |5   |      ranges of a tablet's rows
//   threads   A  B    A  A              B  A          whoever is free takes the next
//
// Of few morsels one thread begins alone, and calls the others when its first blocks show that there is work for them.
//
// A thread that gets no memory for a tablet, or for the rows of a result, stops and leaves its morsels to those that
// have theirs. What all of them have left is done by one thread, when the others no longer hold a tablet and what sinks
// have collected is in files: only if that gets none, the section fails.
//
// What sinks have collected belongs to threads; results are put in order of the morsels they come from.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cost/transport.h"
#include "engine/cpu/join/built_indexes.h"
#include "engine/cpu/row_writer.h"
#include "engine/cpu/step.h"
#include "engine/cpu/thread_sinks.h"
#include "engine/run/context.h"
#include "engine/run/tablet_queue.h"
#include "engine/run/zone_test.h"

namespace diptych::cpu {

class SectionRun {
 public:
  // first_order: rows with equal sort keys that other sections have appended before come first, if it is larger than
  // their numbers.
  SectionRun(const Program& program, const Section& section, const TabletSource& source, const NeededTablets& needed,
             const ExecutionContext& context, const Memory& memory, const RowIndexes& indexes, int64_t first_order = 0);

  // threads[i] belongs to thread slot i; there are context.threads of them. `wanted`: rows of Result sinks after
  // which to stop, -1: all; sinks of a row set without keys that has a limit stop there. queue: where tablets are taken
  // from that others take, too; null: all are to be done.
  void run(std::vector<ThreadSinks>& threads, int64_t wanted, TabletQueue* queue = nullptr);
  // After run(), or when it has failed: what it has made is thrown away, and its rows will be counted again.
  void take_back_progress();
  // The rows that Result sinks have written, in order; or those that Append sinks have, of a row set without keys.
  std::vector<MorselPiece> take_results() { return take_rows(to_result); }
  std::vector<MorselPiece> take_rows(int32_t row_set);
  // Of the source, that the rows of a piece come from.
  size_t tablet_of(const MorselPiece& piece) const { return morsels_[piece.morsel].tablet; }
  SectionProfile profile() const;

 private:
  struct Morsel {
    size_t tablet;
    int64_t first_row, rows;
    int64_t order;  // rows of the source before it
  };
  // What a thread works on.
  struct TabletInHands {
    Frame frame;
    std::shared_ptr<const PinnedTablet> pinned;
    size_t tablet = SIZE_MAX;  // that is pinned
  };
  // Numbers of morsels, from the first to before the second.
  using MorselRange = std::pair<size_t, size_t>;
  // The number of a row set that stands for the result.
  static constexpr int32_t to_result = -1;
  // Where a thread writes rows, by row set.
  using Writers = std::map<int32_t, std::unique_ptr<RowWriter>>;
  void find_limit(int64_t wanted);
  void find_morsels(const NeededTablets& needed, int64_t first_order);
  void open_writers(Writers& writers, Frame& frame);
  std::vector<PhysicalType> forms_of(int32_t row_set) const;
  // The next morsels that nobody has taken; an empty range: there are none left.
  MorselRange take_morsels();
  bool has_morsels() const { return queue_ != nullptr ? !queue_->left().is_empty() : next_.load() < morsels_.size(); }
  void run_morsels(std::vector<ThreadSinks>& threads);
  // Takes morsels until there are none left, or so many. has_others: without memory, it leaves what it has taken to
  // them.
  void work(int thread, ThreadSinks& sinks, size_t most_morsels, bool has_others);
  // False: there is no memory, nothing of the morsel is done, and others are to do it.
  bool try_morsel(TabletInHands& hands, const ThreadSinks& sinks, Writers& writers, const Morsel& morsel,
                  bool has_others);
  // Where there is no memory for it, and nobody to leave it to, the thread's sinks move to files what they have.
  void begin_tablet(TabletInHands& hands, const ThreadSinks& sinks, size_t tablet, bool has_others);
  void run_morsel(Frame& frame, const Morsel& morsel);
  // Of the thread that works alone, once it has done so many rows more: whether the others are worth waking.
  void call_others_if_long(int64_t rows);
  // Whether what the morsel has written so far is all that is wanted, whatever comes before.
  bool has_enough(const Frame& frame) const;
  void finish_rows(Writers& writers, size_t morsel);
  void count_written(int64_t rows, size_t morsel);
  void count_rows_in(const Morsel& morsel);

  const Program& program_;
  const Section& section_;
  const TabletSource& source_;
  const ExecutionContext& context_;
  const RowIndexes& indexes_;
  std::vector<Morsel> morsels_;
  const bool keeps_tablets_;                               // for those who refer to their strings
  const bool can_begin_again_;                             // with a morsel: what is made of it can be taken back
  int64_t rows_announced_ = 0;                             // to the progress
  std::map<int32_t, std::shared_ptr<ChunkStore>> stores_;  // by row set: of what the writers finish
  std::vector<Writers> writers_;                           // by thread
  TabletQueue* queue_ = nullptr;
  // Set while one thread works that may call others.
  struct Alone {
    std::function<void()> call_others;
    std::chrono::steady_clock::time_point since;  // its first block
    int64_t rows = 0;                             // done
  };
  std::optional<Alone> alone_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> stopped_{false};  // enough rows, or an error on another thread
  std::atomic<int64_t> rows_out_{0};
  int64_t wanted_ = -1;            // rows of one sink after which to stop; -1: all
  int32_t limited_ = to_result;    // that sink's row set
  std::mutex mutex_;               // guards what follows
  std::vector<MorselRange> left_;  // by threads that have stopped
  std::vector<int64_t> written_;   // rows by morsel, -1: not finished
  size_t finished_prefix_ = 0;     // all morsels before are finished...
  int64_t prefix_rows_ = 0;        // ...and wrote so many rows
  SectionProfile profile_;
};

}  // namespace diptych::cpu
