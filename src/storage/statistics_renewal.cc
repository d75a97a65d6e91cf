#include "storage/statistics_renewal.h"

#include "storage/store_state.h"
#include "tablet/builder.h"

namespace diptych {

// A quarter of the rows: estimates are wrong by no more than that.
bool is_out_of_date(const TableState& table) {
  const int64_t live = table.directory.live_rows();
  return live > 0 && table.rows_in_statistics - live > live / 3;
}

void StatisticsRenewal::add(const TabletStorage& storage, const TableState& table, const std::atomic<bool>* cancelled) {
  // No strings of a dictionary: it would grow by those that it has not.
  TabletBuilder builder(columns_, table.tablet_rows, std::vector<Dictionary*>(columns_.size()));
  MemoryReservation memory(storage.budget, "rows of new statistics");
  const auto flush = [&] {
    const EncodedTablet tablet = builder.finish();
    statistics_.add(tablet, rows_);
    rows_ += tablet.rows;
  };
  for (size_t tablet = 0; tablet < table.directory.size(); ++tablet) {
    check_cancelled(cancelled);
    if (!added_.insert(table.directory[tablet].tablet->id()).second) continue;
    storage.view_live_rows(table, tablet, [&](const RowBatch& batch) {
      for (int64_t first = 0; first < batch.rows;) {
        first += builder.append(batch, first, batch.rows - first);
        memory.follow(static_cast<size_t>(builder.staged_bytes()));
        if (builder.full()) flush();
      }
    });
  }
  if (builder.rows() > 0) flush();
}

void StatisticsRenewal::put(TableState& table) {
  table.statistics = statistics_.finish();
  table.rows_in_statistics = rows_;
  table.statistics_blob = nullptr;
  table.blob = nullptr;
}

}  // namespace diptych
