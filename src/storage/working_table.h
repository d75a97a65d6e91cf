// A transaction's own version of a table, while it changes.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "storage/key_checker.h"
#include "storage/store_state.h"
#include "storage/table_appender.h"

namespace diptych {

// Thread safety: one thread at a time.
class WorkingTable {
 public:
  // store: outlives it.
  WorkingTable(StoreState& store, TableState state);
  WorkingTable(const WorkingTable&) = delete;
  WorkingTable& operator=(const WorkingTable&) = delete;

  // Errors: as WriteTransaction::append().
  void append(const RowBatch& batch);
  // Puts all rows into the state's directory, and checks their keys. Errors: as append().
  void finish();
  // Rows that finish() has put there. numbers: theirs as ErasedRows has them; empty: they are not to be remembered.
  // Errors: as erase_rows().
  void erase(std::span<const int64_t> positions, std::vector<int64_t> numbers, const std::atomic<bool>* cancelled);
  // As finish() leaves it.
  const TableState& state() const { return state_; }
  // What has changed since the last call, as a view with a contents version of its own; null: nothing.
  std::shared_ptr<const TableView> take_changes();

 private:
  void start_appending();

  StoreState& store_;
  TableState state_;
  std::unique_ptr<TableAppender> appender_;
  std::unique_ptr<KeyChecker> keys_;  // null: no primary key
  bool is_changed_ = false;
};

}  // namespace diptych
