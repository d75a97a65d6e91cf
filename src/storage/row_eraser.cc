#include "storage/row_eraser.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "storage/row_decoder.h"
#include "tablet/builder.h"

namespace diptych {
namespace {

class RowEraser {
 public:
  RowEraser(const TabletStorage& storage, const TableState& state, const std::atomic<bool>* cancelled)
      : storage_(storage),
        state_(state),
        cancelled_(cancelled),
        columns_(state.column_definitions()),
        builder_(columns_, state.tablet_rows, state.dictionaries->all()),
        memory_(storage.budget, "rows being written"),
        all_(columns_.size()) {
    std::iota(all_.begin(), all_.end(), 0);
  }

  // The tablets that stand from `first` on.
  std::vector<TabletHandle> run(size_t first, std::span<const int64_t> positions) {
    for (size_t tablet = first; tablet < state_.directory.size(); ++tablet) {
      const auto [handle, first_row] = state_.directory[tablet];
      const auto end = std::lower_bound(positions.begin(), positions.end(), first_row + handle->rows());
      const auto count = static_cast<size_t>(end - positions.begin());
      if (count == 0) {
        flush();
        tablets_.push_back(handle);
        continue;
      }
      keep_others(tablet, first_row, handle->rows(), positions.first(count));
      positions = positions.subspan(count);
    }
    flush();
    return std::move(tablets_);
  }

 private:
  void keep_others(size_t tablet, int64_t first_row, int64_t rows, std::span<const int64_t> erased) {
    if (cancelled_ && *cancelled_) throw Error(SqlState::query_canceled, "canceling statement due to user request");
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
    tablets_.push_back(storage_.store(storage_.ids->take(), builder_.finish(), state_.definition.primary_key));
  }

  const TabletStorage& storage_;
  const TableState& state_;
  const std::atomic<bool>* const cancelled_;
  const std::vector<ColumnDefinition> columns_;
  TabletBuilder builder_;
  MemoryReservation memory_;
  std::vector<size_t> all_;
  std::vector<TabletHandle> tablets_;
};

}  // namespace

void erase_rows(const TabletStorage& storage, TableState& state, std::span<const int64_t> positions,
                const std::atomic<bool>* cancelled) {
  check_invariant(positions.front() >= 0 && positions.back() < state.directory.rows(), "rows that go are there");
  size_t first = 0;
  while (positions.front() >= state.directory[first].first_row + state.directory[first].tablet->rows()) ++first;
  state.directory.replace_tail(first, RowEraser(storage, state, cancelled).run(first, positions), state.tablet_rows);
  state.rows_in_statistics = std::min(state.rows_in_statistics, state.directory.rows());
  state.blob = nullptr;
}

}  // namespace diptych
