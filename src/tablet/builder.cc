#include "tablet/builder.h"

#include <algorithm>

#include "base/error.h"
#include "tablet/encoding/staged_column.h"

namespace diptych {

TabletBuilder::TabletBuilder(std::span<const ColumnDefinition> columns, int64_t capacity,
                             std::vector<Dictionary*> dictionaries, int64_t heap_bytes)
    : capacity_(capacity) {
  check_invariant(dictionaries.size() == columns.size(), "a builder is given one dictionary or nullptr per column");
  for (size_t i = 0; i < columns.size(); ++i) {
    columns_.push_back(make_staged_column(columns[i].type.physical(), capacity, dictionaries[i], heap_bytes));
  }
}

TabletBuilder::~TabletBuilder() = default;
TabletBuilder::TabletBuilder(TabletBuilder&&) noexcept = default;
TabletBuilder& TabletBuilder::operator=(TabletBuilder&&) noexcept = default;

int64_t TabletBuilder::append(const RowBatch& batch, int64_t first_row, int64_t count) {
  check_invariant(batch.columns.size() == columns_.size(), "a batch has the columns of the tablet");
  int64_t taken = std::min(count, capacity_ - rows_);
  if (taken == 0) return 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    int64_t fit = columns_[i]->rows_that_fit(batch.columns[i], first_row, taken);
    if (fit < taken) heap_full_ = true;
    taken = fit;
  }
  if (taken == 0) return 0;
  if (rows_ == 0 && taken == capacity_) viewed_ = batch.owner;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (viewed_ != nullptr)
      columns_[i]->view(batch.columns[i], first_row, taken);
    else
      columns_[i]->append(batch.columns[i], first_row, taken);
  }
  rows_ += taken;
  return taken;
}

int64_t TabletBuilder::staged_bytes() const {
  int64_t total = 0;
  for (const auto& column : columns_) total += column->bytes();
  return total;
}

EncodedTablet TabletBuilder::finish(std::span<const UsualForm> forms) {
  EncodedTablet tablet;
  tablet.rows = rows_;
  for (size_t i = 0; i < columns_.size(); ++i)
    tablet.columns.push_back(columns_[i]->finish(forms.empty() ? UsualForm() : forms[i]));
  rows_ = 0;
  heap_full_ = false;
  viewed_.reset();
  return tablet;
}

}  // namespace diptych
