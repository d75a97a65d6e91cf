#include "storage/working_table.h"

#include <utility>

#include "storage/row_eraser.h"

namespace diptych {

WorkingTable::WorkingTable(StoreState& store, TableState state) : store_(store), state_(std::move(state)) {
  start_appending();
}

void WorkingTable::start_appending() {
  appender_ = std::make_unique<TableAppender>(store_.storage, store_.arena, state_);
  if (!state_.definition.primary_key.empty()) keys_ = std::make_unique<KeyChecker>(store_.storage, state_);
}

void WorkingTable::append(const RowBatch& batch) {
  appender_->append(batch);
  if (keys_ && keys_->add(batch)) finish();
  is_changed_ = true;
}

void WorkingTable::finish() {
  appender_->finish();
  if (keys_) keys_->check();
}

void WorkingTable::erase(std::span<const int64_t> positions, std::vector<int64_t> numbers,
                         const std::atomic<bool>* cancelled) {
  state_.erased.add(store_.take_version(), std::move(numbers));
  erase_rows(store_.storage, state_, positions, cancelled);
  start_appending();
  is_changed_ = true;
}

std::shared_ptr<const TableView> WorkingTable::take_changes() {
  finish();
  if (!std::exchange(is_changed_, false)) return nullptr;
  state_.contents_version = store_.take_version();
  return std::make_shared<TableView>(state_);
}

}  // namespace diptych
