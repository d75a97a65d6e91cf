#include "storage/row_eraser.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "storage/row_decoder.h"
#include "storage/store_state.h"
#include "tablet/builder.h"

namespace diptych {
namespace {

// Neighbours that one task writes anew: what is left of them is put together.
constexpr size_t most_task_tablets = 8;

// Tablets [first, end), which lose the rows at the positions; none: they stay.
struct Task {
  size_t first = 0, end = 0;
  std::span<const int64_t> positions;
};

std::vector<Task> make_tasks(const TabletDirectory& directory, size_t first, std::span<const int64_t> positions) {
  std::vector<Task> tasks;
  for (size_t tablet = first; tablet < directory.size(); ++tablet) {
    const auto [handle, first_row] = directory[tablet];
    const auto end = std::lower_bound(positions.begin(), positions.end(), first_row + handle->rows());
    const auto count = static_cast<size_t>(end - positions.begin());
    const bool goes_on = !tasks.empty() && tasks.back().positions.empty() == (count == 0) &&
                         (count == 0 || tablet - tasks.back().first < most_task_tablets);
    if (!goes_on) tasks.push_back({tablet, tablet, positions.first(0)});
    tasks.back().end = tablet + 1;
    tasks.back().positions = {tasks.back().positions.data(), tasks.back().positions.size() + count};
    positions = positions.subspan(count);
  }
  return tasks;
}

// Writes the tablets of one task.
class TabletWriter {
 public:
  TabletWriter(const TabletStorage& storage, const TableState& state, std::mutex& ids,
               const std::atomic<bool>* cancelled)
      : storage_(storage),
        state_(state),
        ids_(ids),
        cancelled_(cancelled),
        columns_(state.column_definitions()),
        builder_(columns_, state.tablet_rows, state.dictionaries->all()),
        memory_(storage.budget, "rows being written"),
        all_(columns_.size()) {
    std::iota(all_.begin(), all_.end(), 0);
  }

  std::vector<TabletHandle> run(const Task& task) {
    std::span<const int64_t> positions = task.positions;
    for (size_t tablet = task.first; tablet < task.end; ++tablet) {
      check_cancelled(cancelled_);
      const auto [handle, first_row] = state_.directory[tablet];
      const auto end = std::lower_bound(positions.begin(), positions.end(), first_row + handle->rows());
      const auto count = static_cast<size_t>(end - positions.begin());
      keep_others(tablet, first_row, handle->rows(), positions.first(count));
      positions = positions.subspan(count);
    }
    flush();
    return std::move(tablets_);
  }

 private:
  void keep_others(size_t tablet, int64_t first_row, int64_t rows, std::span<const int64_t> erased) {
    if (static_cast<int64_t>(erased.size()) == rows) return;
    storage_.view(state_, tablet, all_, [&](std::span<const ColumnView> views) {
      const DecodedRows decoded(views, rows);
      int64_t next = 0;
      for (const int64_t position : erased) {
        add(decoded.batch(), next, position - first_row - next);
        next = position - first_row + 1;
      }
      add(decoded.batch(), next, rows - next);
    });
  }

  void add(const RowBatch& batch, int64_t first, int64_t count) {
    while (count > 0) {
      const int64_t taken = builder_.append(batch, first, count);
      first += taken;
      count -= taken;
      memory_.follow(static_cast<size_t>(builder_.staged_bytes()));
      if (builder_.full()) flush();
    }
  }

  void flush() {
    if (builder_.rows() == 0) return;
    uint64_t id = 0;
    {
      const std::lock_guard guard(ids_);
      id = storage_.ids->take();
    }
    tablets_.push_back(storage_.store(id, builder_.finish(), state_.definition.primary_key));
  }

  const TabletStorage& storage_;
  const TableState& state_;
  std::mutex& ids_;  // held while one is taken
  const std::atomic<bool>* const cancelled_;
  const std::vector<ColumnDefinition> columns_;
  TabletBuilder builder_;
  MemoryReservation memory_;
  std::vector<size_t> all_;
  std::vector<TabletHandle> tablets_;
};

}  // namespace

void erase_rows(const TabletStorage& storage, tbb::task_arena& arena, TableState& state,
                std::span<const int64_t> positions, const std::atomic<bool>* cancelled) {
  check_invariant(positions.front() >= 0 && positions.back() < state.directory.rows(), "rows that go are there");
  size_t first = 0;
  while (positions.front() >= state.directory[first].first_row + state.directory[first].tablet->rows()) ++first;
  const std::vector<Task> tasks = make_tasks(state.directory, first, positions);
  std::vector<std::vector<TabletHandle>> made(tasks.size());
  std::mutex ids;
  const auto write = [&](size_t i) {
    if (!tasks[i].positions.empty()) made[i] = TabletWriter(storage, state, ids, cancelled).run(tasks[i]);
  };
  try {
    arena.execute([&] { tbb::parallel_for(size_t{0}, tasks.size(), write); });
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory) throw;
    // One after the other needs least.
    made.assign(tasks.size(), {});
    for (size_t i = 0; i < tasks.size(); ++i) write(i);
  }
  std::vector<TabletHandle> tail;
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (size_t tablet = tasks[i].first; tasks[i].positions.empty() && tablet < tasks[i].end; ++tablet)
      tail.push_back(state.directory[tablet].tablet);
    std::move(made[i].begin(), made[i].end(), std::back_inserter(tail));
  }
  state.directory.replace_tail(first, std::move(tail), state.tablet_rows);
  state.rows_in_statistics = std::min(state.rows_in_statistics, state.directory.rows());
  state.blob = nullptr;
}

}  // namespace diptych
