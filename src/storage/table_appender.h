// The rows that a transaction adds to one table, on their way into tablets.
//
//   append(batch) --copy--> staging builder --full--> task: encode, serialize, write --> slot i
//   finish():     the rest becomes a fragment; trailing fragments that are not at least twice as large are rewritten
//   with it
//
//   directory before   [full][full][frag 40][frag 10][frag 3]      2 rows appended
//   directory after    [full][full][frag 40][frag 15]              10 < 2 * (2 + 3), 40 >= 2 * 15
//
// So n inserts of one row write O(n log n) bytes, and a table has at most log2(tablet rows) fragments. When the new
// rows fill a tablet, all trailing fragments are put in front of them first, so that rows keep their order and no
// fragment stays in the middle.
//
// Tasks run on the arena given; at most as many tablets are in flight as it has threads, and each counts in the budget.
// Thread safety: one thread at a time.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "storage/tablet_storage.h"
#include "tablet/builder.h"
#include "tablet/statistics/statistics_builder.h"

namespace diptych {

class TableAppender {
 public:
  // state: the transaction's version of the table, which finish() brings up to date.
  TableAppender(const TabletStorage& storage, tbb::task_arena& arena, TableState& state);
  TableAppender(const TableAppender&) = delete;
  TableAppender& operator=(const TableAppender&) = delete;
  ~TableAppender();

  // The batch has the columns of the table. Errors: 23502, 53100, 53200, 58030, 54000.
  void append(const RowBatch& batch);
  // Puts all rows so far into the state's directory; more may be appended afterwards. Errors: as append().
  void finish();

 private:
  // A builder with the memory that its buffers hold.
  struct Staging {
    TabletBuilder builder;
    MemoryReservation memory;
    std::vector<bool> had;  // by column: the table's statistics know all values of the rows; none: of no column
  };
  struct Slot {
    uint64_t id = 0;
    int64_t first_position = 0, rows = 0;
    TabletHandle tablet;
    std::exception_ptr error;
  };

  void check_not_null(const RowBatch& batch) const;
  void stage(const RowBatch& batch, int64_t first, int64_t count);
  std::unique_ptr<Staging> make_staging();
  void note_had(const RowBatch& batch);
  void reserve(MemoryReservation& memory, int64_t bytes);
  void flush_full();
  void dispatch(bool is_last);
  // encoded: has the memory of what is encoded.
  void encode(Staging& staging, MemoryReservation& encoded, bool is_last, Slot& slot) noexcept;
  std::vector<UsualForm> forms_of_first() const;
  void wait();
  size_t count_fragments(int64_t new_rows) const;
  void put_behind_fragments(size_t fragments);
  int64_t next_position() const;
  int64_t rows_of_kept() const;
  void take_slots();

  const TabletStorage& storage_;
  tbb::task_arena& arena_;
  TableState& state_;
  std::vector<ColumnDefinition> columns_;
  std::unique_ptr<Staging> current_;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<Staging>> idle_;  // builders that have learnt the table's strings
  tbb::task_group tasks_;
  std::atomic<int> in_flight_{0};
  StatisticsBuilder statistics_;
  const bool statistics_are_whole_;  // of all rows
  std::deque<Slot> slots_;
  size_t kept_ = 0;         // tablets of the directory that stay as they are
  int64_t rows_added_ = 0;  // since finish()
};

}  // namespace diptych
