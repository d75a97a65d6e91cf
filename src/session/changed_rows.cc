#include "session/changed_rows.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "base/scoped_timer.h"
#include "storage/row_decoder.h"
#include "tablet/builder.h"
#include "tablet/cells.h"
#include "tablet/memory_source.h"

namespace diptych {

namespace {

std::vector<size_t> columns_between(size_t first, size_t end) {
  std::vector<size_t> columns(end - first);
  std::iota(columns.begin(), columns.end(), first);
  return columns;
}

class PickedColumns final : public TabletSource {
 public:
  PickedColumns(std::shared_ptr<const TabletSource> rows, std::vector<size_t> picked)
      : rows_(std::move(rows)), picked_(std::move(picked)) {
    for (const size_t column : picked_) columns_.push_back(rows_->columns()[column]);
  }

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return rows_->tablet_count(); }
  int64_t row_count() const override { return rows_->row_count(); }
  int64_t rows_in(size_t tablet) const override { return rows_->rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return rows_->zone_map(tablet, picked_[column]); }
  const Dictionary* common_dictionary(size_t column) const override {
    return rows_->common_dictionary(picked_[column]);
  }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    std::vector<size_t> columns;
    for (const size_t column : wanted) columns.push_back(picked_[column]);
    return rows_->pin(tablet, columns);
  }
  bool pins_outlive_it() const override { return rows_->pins_outlive_it(); }
  int64_t encoded_bytes(size_t tablet, size_t column) const override {
    return rows_->encoded_bytes(tablet, picked_[column]);
  }

 private:
  const std::shared_ptr<const TabletSource> rows_;
  const std::vector<size_t> picked_;
  std::vector<ColumnDefinition> columns_;
};

// Makes the source of the rows that are kept.
class RowKeeper {
 public:
  RowKeeper(const std::vector<ColumnDefinition>& columns, MemoryBudget* budget)
      : kept_(std::make_shared<MemorySource>(columns)),
        memory_(std::make_shared<MemoryReservation>(budget, "rows to be changed")),
        builder_(columns, rows_of_a_tablet, std::vector<Dictionary*>(columns.size())) {}

  // Rows [first, end) of the batch.
  void add(const RowBatch& batch, int64_t first, int64_t end) {
    while (first < end) {
      first += builder_.append(batch, first, end - first);
      memory_->follow(static_cast<size_t>(kept_->bytes() + builder_.staged_bytes()));
      if (builder_.full()) kept_->add(builder_.finish());
    }
  }

  std::shared_ptr<const TabletSource> finish() {
    if (builder_.rows() > 0) kept_->add(builder_.finish());
    kept_->keep_alive(std::move(memory_));
    return std::move(kept_);
  }

 private:
  static constexpr int64_t rows_of_a_tablet = 65536;

  std::shared_ptr<MemorySource> kept_;
  std::shared_ptr<MemoryReservation> memory_;
  TabletBuilder builder_;
};

// One bit for each row of the table: in time that grows with the positions and hardly with how often they repeat.
void sort_by_bits(std::span<int64_t>& positions, int64_t last) {
  std::vector<uint64_t> bits(static_cast<size_t>(last) / 64 + 1);
  for (const int64_t position : positions) bits[static_cast<size_t>(position) / 64] |= uint64_t{1} << (position % 64);
  size_t count = 0;
  for (size_t word = 0; word < bits.size(); ++word)
    for (uint64_t left = bits[word]; left != 0; left &= left - 1)
      positions[count++] = static_cast<int64_t>(word * 64) + std::countr_zero(left);
  positions = positions.first(count);
}

// In order, and each once.
void sort_once(std::span<int64_t>& positions, const ExecutionContext& context) {
  constexpr int64_t least_part = 64;
  const int64_t last = *std::max_element(positions.begin(), positions.end());
  MemoryReservation reservation(context.budget, "positions of rows");
  if (last / least_part <= static_cast<int64_t>(positions.size()) && reservation.try_grow(last / 8 + 8))
    return sort_by_bits(positions, last);
  std::sort(positions.begin(), positions.end());
  const auto end = std::unique(positions.begin(), positions.end());
  positions = positions.first(static_cast<size_t>(end - positions.begin()));
}

void copy_integers(const ColumnView& view, std::span<int64_t> into) {
  const auto rows = static_cast<int64_t>(into.size());
  if (view.encoding == Encoding::Plain && view.physical == PhysicalType::Int64)  // as results have them
    std::copy_n(reinterpret_cast<const int64_t*>(view.data), rows, into.begin());
  else
    for (int64_t row = 0; row < rows; ++row)
      into[static_cast<size_t>(row)] = static_cast<int64_t>(integer_at(view, row));
}

// Without a branch for each, so that compilers make vector code of it.
bool is_ascending(std::span<const int64_t> values) {
  int64_t others = 0;
  for (size_t i = 1; i < values.size(); ++i) others += values[i - 1] >= values[i];
  return others == 0;
}

// What a batch of these rows looks at.
struct AppendedRows {
  AppendedRows(std::shared_ptr<const TabletSource> source, std::unique_ptr<PinnedTablet> tablet)
      : rows(std::move(source)), pinned(std::move(tablet)), decoded(pinned->views, pinned->rows) {}
  const std::shared_ptr<const TabletSource> rows;
  const std::unique_ptr<PinnedTablet> pinned;
  const DecodedRows decoded;
};

// Erases the rows at the positions, says how many they are, and leaves one row for each where more than that is asked
// of them.
int64_t erase_rows(WriteTransaction& transaction, const RowChange& change, std::shared_ptr<const TabletSource>& rows,
                   const ExecutionContext& context) {
  const Positions found = positions_of(*rows, context);
  const std::span<const int64_t> positions = found.values;
  const auto count = static_cast<int64_t>(positions.size());
  const bool is_asked_for = change.stores || change.returned;
  if (is_asked_for && count < rows->row_count()) rows = first_of_each(*rows, positions.back(), context);
  transaction.erase(change.table.name, positions);
  return count;
}

}  // namespace

std::optional<RowChange> row_change_of(const BoundStatement& statement) {
  if (const auto* insert = std::get_if<BoundInsert>(&statement.statement))
    return RowChange{insert->table, false, true, {}, insert->returned};
  const auto* change = std::get_if<BoundChange>(&statement.statement);
  if (change == nullptr || change->query == nullptr) return std::nullopt;
  return RowChange{change->table, true, change->is_update, change->unchanged, change->returned};
}

int64_t change_rows(WriteTransaction& transaction, const RowChange& change, std::shared_ptr<const TabletSource>& rows,
                    const ExecutionContext& context, ChangeTimes& times) {
  int64_t count = rows->row_count();
  if (change.erases) {
    const ScopedTimer timer(times.erase_nanoseconds);
    count = erase_rows(transaction, change, rows, context);
  }
  if (change.stores) {
    const ScopedTimer timer(times.store_nanoseconds);
    const size_t first = change.erases ? 1 : 0, end = change.returned.value_or(rows->columns().size());
    append_rows(transaction, change.table.name, rows, first, end - first, context, change.unchanged);
  }
  if (!change.returned) {
    rows = nullptr;
  } else {
    std::vector<size_t> returned = columns_between(*change.returned, rows->columns().size());
    rows = pick_columns(std::move(rows), std::move(returned));
  }
  return count;
}

void append_rows(WriteTransaction& transaction, const std::string& table,
                 const std::shared_ptr<const TabletSource>& rows, size_t first_column, size_t count,
                 const ExecutionContext& context, const std::vector<bool>& unchanged) {
  const std::vector<size_t> wanted = columns_between(first_column, first_column + count);
  for (size_t tablet = 0; tablet < rows->tablet_count(); ++tablet) {
    check_cancelled(context);
    const auto appended = std::make_shared<const AppendedRows>(rows, rows->pin(tablet, wanted));
    RowBatch batch = appended->decoded.batch();
    batch.had = unchanged.empty() ? nullptr : &unchanged;
    batch.owner = appended;
    transaction.append(table, batch);
  }
}

Positions positions_of(const TabletSource& rows, const ExecutionContext& context) {
  const Memory memory(context.pool, context.budget);
  const auto count = static_cast<size_t>(rows.row_count());
  Positions positions;
  positions.memory = memory.allocate(count * sizeof(int64_t), "positions of rows");
  positions.values = {reinterpret_cast<int64_t*>(positions.memory.data()), count};
  constexpr size_t first = 0;
  // Threads write their rows in the order of the table, mostly, and each row once.
  bool is_in_order = true;
  size_t done = 0;
  for (size_t tablet = 0; tablet < rows.tablet_count(); ++tablet) {
    check_cancelled(context);
    const auto pinned = rows.pin(tablet, {&first, 1});
    const size_t last = std::max<size_t>(done, 1) - 1;
    copy_integers(pinned->views[0], positions.values.subspan(done, static_cast<size_t>(pinned->rows)));
    done += static_cast<size_t>(pinned->rows);
    is_in_order = is_in_order && is_ascending(positions.values.first(done).subspan(last));
  }
  if (!is_in_order) sort_once(positions.values, context);
  return positions;
}

std::shared_ptr<const TabletSource> first_of_each(const TabletSource& rows, int64_t last,
                                                  const ExecutionContext& context) {
  MemoryReservation bits(context.budget, "positions of rows");
  bits.grow(last / 8 + 1);
  std::vector<bool> is_known(static_cast<size_t>(last) + 1);
  RowKeeper keeper(rows.columns(), context.budget);
  const std::vector<size_t> all = columns_between(0, rows.columns().size());
  for (size_t tablet = 0; tablet < rows.tablet_count(); ++tablet) {
    check_cancelled(context);
    const auto pinned = rows.pin(tablet, all);
    const DecodedRows decoded(pinned->views, pinned->rows);
    int64_t first = 0;  // that is neither added nor repeated
    for (int64_t row = 0; row < pinned->rows; ++row) {
      const auto position = static_cast<size_t>(integer_at(pinned->views[0], row));
      if (!is_known[position]) {
        is_known[position] = true;
        continue;
      }
      keeper.add(decoded.batch(), first, row);
      first = row + 1;
    }
    keeper.add(decoded.batch(), first, pinned->rows);
  }
  return keeper.finish();
}

std::shared_ptr<const TabletSource> pick_columns(std::shared_ptr<const TabletSource> rows, std::vector<size_t> picked) {
  return std::make_shared<PickedColumns>(std::move(rows), std::move(picked));
}

}  // namespace diptych
