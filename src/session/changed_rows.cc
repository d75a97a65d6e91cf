#include "session/changed_rows.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

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

class LastColumns final : public TabletSource {
 public:
  LastColumns(std::shared_ptr<const TabletSource> rows, size_t first)
      : rows_(std::move(rows)),
        first_(first),
        columns_(rows_->columns().begin() + static_cast<ptrdiff_t>(first), rows_->columns().end()) {}

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return rows_->tablet_count(); }
  int64_t row_count() const override { return rows_->row_count(); }
  int64_t rows_in(size_t tablet) const override { return rows_->rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return rows_->zone_map(tablet, first_ + column); }
  const Dictionary* common_dictionary(size_t column) const override {
    return rows_->common_dictionary(first_ + column);
  }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    std::vector<size_t> columns(wanted.begin(), wanted.end());
    for (size_t& column : columns) column += first_;
    return rows_->pin(tablet, columns);
  }
  bool pins_outlive_it() const override { return rows_->pins_outlive_it(); }
  int64_t encoded_bytes(size_t tablet, size_t column) const override {
    return rows_->encoded_bytes(tablet, first_ + column);
  }

 private:
  const std::shared_ptr<const TabletSource> rows_;
  const size_t first_;
  const std::vector<ColumnDefinition> columns_;
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
void sort_by_bits(std::vector<int64_t>& positions, int64_t last) {
  std::vector<uint64_t> bits(static_cast<size_t>(last) / 64 + 1);
  for (const int64_t position : positions) bits[static_cast<size_t>(position) / 64] |= uint64_t{1} << (position % 64);
  positions.clear();
  for (size_t word = 0; word < bits.size(); ++word)
    for (uint64_t left = bits[word]; left != 0; left &= left - 1)
      positions.push_back(static_cast<int64_t>(word * 64) + std::countr_zero(left));
}

// Erases the rows at the positions, says how many they are, and leaves one row for each where more than that is asked
// of them.
int64_t erase_rows(WriteTransaction& transaction, const RowChange& change, std::shared_ptr<const TabletSource>& rows,
                   const ExecutionContext& context) {
  MemoryReservation reservation(context.budget, "positions of rows");
  const std::vector<int64_t> positions = positions_of(*rows, reservation, context);
  const auto count = static_cast<int64_t>(positions.size());
  const bool is_asked_for = change.stores || change.returned;
  if (is_asked_for && count < rows->row_count()) rows = first_of_each(*rows, positions.back(), context);
  transaction.erase(change.table.name, positions);
  return count;
}

}  // namespace

std::optional<RowChange> row_change_of(const BoundStatement& statement) {
  if (const auto* insert = std::get_if<BoundInsert>(&statement.statement))
    return RowChange{insert->table, false, true, insert->returned};
  const auto* change = std::get_if<BoundChange>(&statement.statement);
  if (change == nullptr || change->query == nullptr) return std::nullopt;
  return RowChange{change->table, true, change->is_update, change->returned};
}

int64_t change_rows(WriteTransaction& transaction, const RowChange& change, std::shared_ptr<const TabletSource>& rows,
                    const ExecutionContext& context) {
  const int64_t count = change.erases ? erase_rows(transaction, change, rows, context) : rows->row_count();
  if (change.stores) {
    const size_t first = change.erases ? 1 : 0, end = change.returned.value_or(rows->columns().size());
    append_rows(transaction, change.table.name, *rows, first, end - first, context);
  }
  rows = change.returned ? columns_from(rows, *change.returned) : nullptr;
  return count;
}

void append_rows(WriteTransaction& transaction, const std::string& table, const TabletSource& rows, size_t first_column,
                 size_t count, const ExecutionContext& context) {
  const std::vector<size_t> wanted = columns_between(first_column, first_column + count);
  for (size_t tablet = 0; tablet < rows.tablet_count(); ++tablet) {
    check_cancelled(context);
    const auto pinned = rows.pin(tablet, wanted);
    transaction.append(table, DecodedRows(pinned->views, pinned->rows).batch());
  }
}

std::vector<int64_t> positions_of(const TabletSource& rows, MemoryReservation& reservation,
                                  const ExecutionContext& context) {
  std::vector<int64_t> positions;
  reservation.grow(rows.row_count() * static_cast<int64_t>(sizeof(int64_t)));
  positions.reserve(static_cast<size_t>(rows.row_count()));
  constexpr size_t first = 0;
  for (size_t tablet = 0; tablet < rows.tablet_count(); ++tablet) {
    check_cancelled(context);
    const auto pinned = rows.pin(tablet, {&first, 1});
    const ColumnView& view = pinned->views[0];
    if (view.encoding == Encoding::Plain && view.physical == PhysicalType::Int64) {  // as results have them
      const auto* values = reinterpret_cast<const int64_t*>(view.data);
      positions.insert(positions.end(), values, values + pinned->rows);
      continue;
    }
    for (int64_t row = 0; row < pinned->rows; ++row) positions.push_back(static_cast<int64_t>(integer_at(view, row)));
  }
  // Threads write their rows in the order of the table, mostly, and each row once.
  if (std::adjacent_find(positions.begin(), positions.end(), std::greater_equal()) == positions.end()) return positions;
  if (!std::is_sorted(positions.begin(), positions.end())) {
    constexpr int64_t least_part = 64;
    const int64_t last = *std::max_element(positions.begin(), positions.end());
    if (last / least_part <= rows.row_count() && reservation.try_grow(last / 8 + 8))
      sort_by_bits(positions, last);
    else
      std::sort(positions.begin(), positions.end());
  }
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
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

std::shared_ptr<const TabletSource> columns_from(std::shared_ptr<const TabletSource> rows, size_t first) {
  return std::make_shared<LastColumns>(std::move(rows), first);
}

}  // namespace diptych
