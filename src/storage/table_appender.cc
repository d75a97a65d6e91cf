#include "storage/table_appender.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "storage/row_decoder.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

std::vector<ColumnView> views_of(const EncodedTablet& tablet) {
  std::vector<ColumnView> views;
  for (const EncodedColumn& column : tablet.columns) views.push_back(column.view());
  return views;
}

}  // namespace

TableAppender::TableAppender(const TabletStorage& storage, tbb::task_arena& arena, TableState& state)
    : storage_(storage),
      arena_(arena),
      state_(state),
      columns_(state.column_definitions()),
      statistics_(columns_.size(), state.statistics),
      statistics_are_whole_(state.statistics != nullptr && state.rows_in_statistics >= state.directory.rows()),
      kept_(state.directory.size()) {}

TableAppender::~TableAppender() {
  arena_.execute([this] { tasks_.wait(); });
}

void TableAppender::append(const RowBatch& batch) {
  check_not_null(batch);
  stage(batch, 0, batch.rows);
  rows_added_ += batch.rows;
}

void TableAppender::check_not_null(const RowBatch& batch) const {
  check_invariant(batch.columns.size() == columns_.size(), "a batch has the columns of its table");
  for (size_t i = 0; i < columns_.size(); ++i) {
    const BatchColumn& column = batch.columns[i];
    if (!state_.definition.columns[i].not_null || !column.validity) continue;
    if (count_ones(column.validity, column.validity_offset, batch.rows) == batch.rows) continue;
    throw Error(SqlState::not_null_violation, "null value in column \"" + columns_[i].name + "\" of table \"" +
                                                  state_.definition.name + "\" violates its NOT NULL constraint");
  }
}

void TableAppender::stage(const RowBatch& batch, int64_t first, int64_t count) {
  for (const int64_t end = first + count; first < end;) {
    if (!current_) current_ = make_staging();
    note_had(batch);
    first += current_->builder.append(batch, first, end - first);
    reserve(current_->memory, current_->builder.staged_bytes());
    if (current_->builder.full()) flush_full();
  }
}

std::unique_ptr<TableAppender::Staging> TableAppender::make_staging() {
  {
    std::lock_guard guard(idle_mutex_);
    if (!idle_.empty()) {
      auto staging = std::move(idle_.back());
      idle_.pop_back();
      return staging;
    }
  }
  return std::make_unique<Staging>(Staging{TabletBuilder(columns_, state_.tablet_rows, state_.dictionaries->all()),
                                           MemoryReservation(storage_.budget, "rows being written"),
                                           {}});
}

void TableAppender::note_had(const RowBatch& batch) {
  std::vector<bool>& had = current_->had;
  if (batch.had == nullptr)
    had.clear();
  else if (current_->builder.rows() == 0)
    had = *batch.had;
  else
    for (size_t i = 0; i < had.size(); ++i) had[i] = had[i] && (*batch.had)[i];
}

// Makes the reservation at least so large.
void TableAppender::reserve(MemoryReservation& memory, int64_t bytes) {
  int64_t more = bytes - memory.bytes();
  if (more <= 0) return;
  if (storage_.budget.try_reserve(more)) {
    memory.adopt(more);
    return;
  }
  wait();  // tablets in flight give their memory back, and so do builders that wait for work
  idle_.clear();
  memory.grow(more);
}

void TableAppender::flush_full() {
  size_t fragments = slots_.empty() ? count_fragments(state_.tablet_rows) : 0;
  if (fragments > 0) {
    put_behind_fragments(fragments);
  } else {
    dispatch(false);
  }
}

// The trailing tablets of the directory that are to be rewritten with so many new rows behind them.
size_t TableAppender::count_fragments(int64_t new_rows) const {
  size_t kept = kept_;
  while (kept > 0) {
    const auto [tablet, mask, first_row] = state_.directory[kept - 1];
    const int64_t rows = mask != nullptr ? mask->live_rows() : tablet->rows();
    if (tablet->rows() >= state_.tablet_rows || rows >= 2 * new_rows) break;
    new_rows += rows;
    --kept;
  }
  return kept_ - kept;
}

void TableAppender::put_behind_fragments(size_t fragments) {
  const EncodedTablet staged = current_->builder.finish();
  const std::vector<bool> staged_had = current_->had, all(columns_.size(), true);
  const auto restage = [&](RowBatch batch, const std::vector<bool>& had) {
    batch.had = had.empty() ? nullptr : &had;
    stage(batch, 0, batch.rows);
  };
  size_t first = kept_ - fragments;
  kept_ = first;
  for (size_t tablet = first; tablet < first + fragments; ++tablet)
    storage_.view_live_rows(state_, tablet, [&](const RowBatch& batch) { restage(batch, all); });
  const std::vector<ColumnView> views = views_of(staged);
  const DecodedRows decoded(views, staged.rows);
  restage(decoded.batch(), staged_had);
}

// Rows of the table before the tablet that comes next.
int64_t TableAppender::next_position() const {
  if (!slots_.empty()) return slots_.back().first_position + slots_.back().rows;
  return rows_of_kept();
}

int64_t TableAppender::rows_of_kept() const {
  return kept_ < state_.directory.size() ? state_.directory[kept_].first_row : state_.directory.rows();
}

// Hands the staged rows to a task; when all threads have one, or these are the last rows, this thread does it itself.
void TableAppender::dispatch(bool is_last) {
  std::shared_ptr<Staging> staging = std::move(current_);
  const int64_t first_position = next_position();
  Slot& slot = slots_.emplace_back();
  slot.id = storage_.ids->take();
  slot.first_position = first_position;
  slot.rows = staging->builder.rows();
  // The encoded tablet and its block are at most about as large as the rows. The builder keeps its buffers for the next
  // rows.
  int64_t staged_bytes = staging->memory.bytes();
  if (!statistics_are_whole_) staging->had.clear();
  reserve(staging->memory, 3 * staged_bytes);
  auto work = [this, staging, staged_bytes, is_last, &slot] {
    {
      MemoryReservation encoded(storage_.budget, "tablet being written");
      staging->memory.give(encoded, staging->memory.bytes() - staged_bytes);
      encode(*staging, encoded, is_last, slot);
    }
    --in_flight_;
    std::lock_guard guard(idle_mutex_);
    idle_.push_back(std::make_unique<Staging>(std::move(*staging)));
  };
  if (++in_flight_ > arena_.max_concurrency() || is_last) {
    work();
  } else {
    arena_.execute([&] { tasks_.run(work); });
  }
}

void TableAppender::encode(Staging& staging, MemoryReservation& encoded, bool is_last, Slot& slot) noexcept {
  try {
    EncodedTablet tablet = staging.builder.finish(is_last ? forms_of_first() : std::vector<UsualForm>());
    statistics_.add(tablet, slot.first_position, staging.had);
    const auto store = slot.rows < state_.tablet_rows ? &TabletStorage::store_fragment : &TabletStorage::store;
    slot.tablet = (storage_.*store)(slot.id, std::move(tablet), state_.definition.primary_key, &encoded);
  } catch (...) {
    slot.error = std::current_exception();  // rethrown by wait() on the thread of the statement
  }
}

// A few rows behind many are stored as the first tablet is: a kernel for a table is one for the table with a row more.
std::vector<UsualForm> TableAppender::forms_of_first() const {
  const bool has_before = state_.directory.size() > 0;
  if (!has_before && slots_.front().tablet == nullptr) return {};
  const auto& first = has_before ? state_.directory[0].tablet : slots_.front().tablet;
  std::vector<UsualForm> forms;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const StoredForm stored = first->form(i, nullptr);
    const bool has_codes = stored.encoding != Encoding::Plain && stored.encoding != Encoding::Heap;
    forms.push_back({has_codes, stored.width, has_codes ? stored.factor : 0});
  }
  return forms;
}

void TableAppender::wait() {
  arena_.execute([this] { tasks_.wait(); });
  for (const Slot& slot : slots_) {
    if (slot.error) std::rethrow_exception(slot.error);
  }
}

void TableAppender::finish() {
  wait();
  if (current_ && current_->builder.rows() > 0) {
    size_t fragments = slots_.empty() ? count_fragments(current_->builder.rows()) : 0;
    if (fragments > 0) put_behind_fragments(fragments);
    // By this thread: nothing is left to do meanwhile, and waking another takes longer than encoding a few rows.
    if (current_ && current_->builder.rows() > 0) dispatch(true);
    wait();
  }
  if (!slots_.empty()) take_slots();
}

void TableAppender::take_slots() {
  std::vector<MaskedTablet> tablets;
  for (Slot& slot : slots_) tablets.push_back({std::move(slot.tablet), nullptr});
  slots_.clear();
  state_.directory.replace_tail(kept_, std::move(tablets), state_.tablet_rows);
  auto statistics = statistics_.finish();
  if (statistics != state_.statistics) state_.statistics_blob = nullptr;
  state_.statistics = std::move(statistics);
  state_.rows_in_statistics += std::exchange(rows_added_, 0);
  state_.blob = nullptr;
  kept_ = state_.directory.size();
}

}  // namespace diptych
