// PRIMARY KEY: no two rows of a table have the same key.
//
// Keys that come in ascending order behind all that are there are unique without looking: only the greatest key is
// remembered. From the first row that does not, keys are collected in a set, and check() looks for them in the tablets
// before: those whose zone maps exclude the set's range are skipped, of the others the key columns are read.
//
//   stored tablets   [1..1000] [1001..2000] [2001..3000]
//   new keys         3001 3002 3003                          ascending: nothing is read
//   new keys         1500 9000                               the set {1500, 9000} is looked for in the 2nd and 3rd
//   tablet
//
// That is for keys of one integer column of at most 64 bits; other keys always go to the set, as bytes.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/integer_set.h"
#include "base/value.h"
#include "storage/tablet_storage.h"
#include "tablet/row_batch.h"

namespace diptych {

class KeyChecker {
 public:
  // state: the transaction's version of the table, which has a primary key.
  KeyChecker(const TabletStorage& storage, const TableState& state);

  // Takes the keys of rows that are appended. True: the set has become large, and check() is due. Errors: 23505, 53200.
  bool add(const RowBatch& batch);
  // Looks for the keys of the set in the rows before them, all of which must be in the state's directory, and empties
  // the set. Errors: 23505 naming table and key, 58030, XX001.
  void check();

 private:
  void add_integers(const BatchColumn& column, int64_t rows);
  void add_bytes(const RowBatch& batch);
  void insert_integer(int64_t key);
  void begin_set(int64_t row);
  bool may_overlap(const StoredTablet& tablet) const;
  // mask: of the rows; null: all are there.
  void check_rows(std::span<const ColumnView> views, int64_t rows, const VisibilityMask* mask) const;
  [[noreturn]] void fail(const std::vector<Value>& key) const;
  std::vector<Value> key_values(std::span<const ColumnView> views, int64_t row) const;

  const TabletStorage& storage_;
  const TableState& state_;
  std::vector<size_t> key_;  // columns
  bool is_integer_;
  size_t most_keys_;                 // in the set before check() is due
  int64_t rows_ = 0;                 // of the table, with all rows added and without those that were deleted
  std::optional<int64_t> greatest_;  // integer key of the table
  int64_t set_begin_ = -1;           // rows before that whose key is the first of the set; -1: there is no set
  int64_t set_low_ = std::numeric_limits<int64_t>::max(), set_high_ = std::numeric_limits<int64_t>::min();
  IntegerSet integers_;
  std::unordered_set<std::string> bytes_;
  MemoryReservation memory_;
};

}  // namespace diptych
