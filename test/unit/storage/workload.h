// Scripted workloads for the crash and fault tests: transactions over tables of mixed rows, and what tables hold after
// each.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "storage/test_rows.h"

namespace diptych::test {

struct Change {
  enum class Kind { Create, Drop, Append, Erase, Truncate, Save, GoBack };
  Kind kind;
  std::string table;
  std::vector<int64_t> numbers;  // Append; Erase: how many rows are before each
  bool with_key = false;         // Create
};

struct Transaction {
  std::vector<Change> changes;
  bool commits = true;         // false: given up at the end
  bool is_checkpoint = false;  // none, but a checkpoint
};

struct Workload {
  std::string name;
  std::vector<Transaction> transactions;
};
inline void PrintTo(const Workload& workload, std::ostream* out) { *out << workload.name; }

inline Change create(std::string table, bool with_key = false) {
  return {Change::Kind::Create, std::move(table), {}, with_key};
}
inline Change drop(std::string table) { return {Change::Kind::Drop, std::move(table), {}}; }
inline Change append(std::string table, int64_t first, int64_t count) {
  return {Change::Kind::Append, std::move(table), range(first, count)};
}

// Of so many positions from `first` on, each `step`th.
inline Change erase(std::string table, int64_t first, int64_t count, int64_t step = 1) {
  Change change{Change::Kind::Erase, std::move(table), {}};
  for (int64_t i = 0; i < count; i += step) change.numbers.push_back(first + i);
  return change;
}
inline Change truncate(std::string table) { return {Change::Kind::Truncate, std::move(table), {}}; }
// A savepoint, in place of the one before; and back to it.
inline Change save() { return {Change::Kind::Save, "", {}}; }
inline Change go_back() { return {Change::Kind::GoBack, "", {}}; }

inline Transaction checkpoint() { return {{}, true, true}; }

// The 40 workloads; with tablets of 64 rows.
std::vector<Workload> all_workloads();

// What the tables hold once the transaction is committed. Meaningful for transactions without errors only.
Contents contents_after(Contents before, const Transaction& transaction);

// Runs the transaction's changes and commits or gives up.
void run(Store& store, const Transaction& transaction);

}  // namespace diptych::test
