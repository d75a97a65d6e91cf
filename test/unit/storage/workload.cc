#include "storage/workload.h"

namespace diptych::test {
namespace {

Workload single_rows() {
  Workload workload{"single_rows", {{{create("t")}}}};
  for (int64_t i = 0; i < 12; ++i) workload.transactions.push_back({{append("t", i, 1)}});
  return workload;
}

Workload growing_appends() {
  Workload workload{"growing_appends", {{{create("t")}}}};
  int64_t first = 0;
  for (int64_t count : {1, 2, 5, 20, 40, 63, 64, 65, 200}) {
    workload.transactions.push_back({{append("t", first, count)}});
    first += count;
  }
  return workload;
}

Workload shrinking_appends() {
  Workload workload{"shrinking_appends", {{{create("t")}}}};
  int64_t first = 0;
  for (int64_t count : {300, 100, 63, 30, 14, 6, 2, 1}) {
    workload.transactions.push_back({{append("t", first, count)}});
    first += count;
  }
  return workload;
}

Workload drop_and_recreate() {
  Workload workload{"drop_and_recreate", {}};
  for (int64_t i = 0; i < 4; ++i) {
    workload.transactions.push_back({{create("t")}});
    workload.transactions.push_back({{append("t", i * 1000, 150)}});
    workload.transactions.push_back({{drop("t")}});
  }
  return workload;
}

Workload drop_and_recreate_at_once() {
  Workload workload{"drop_and_recreate_at_once", {{{create("t"), append("t", 0, 100)}}}};
  for (int64_t i = 1; i < 5; ++i) {
    workload.transactions.push_back({{drop("t"), create("t"), append("t", i * 1000, 70 * i)}});
  }
  return workload;
}

Workload many_tables() {
  Workload workload{"many_tables", {}};
  for (int64_t i = 0; i < 10; ++i) {
    std::string name = "t" + std::to_string(i);
    workload.transactions.push_back({{create(name), append(name, i, 1 + i * 9)}});
  }
  return workload;
}

Workload two_tables_in_turn() {
  Workload workload{"two_tables_in_turn", {{{create("a"), create("b")}}}};
  for (int64_t i = 0; i < 6; ++i) {
    workload.transactions.push_back({{append(i % 2 ? "a" : "b", i * 50, 50)}});
  }
  return workload;
}

Workload several_tables_at_once() {
  Workload workload{"several_tables_at_once", {{{create("a"), create("b"), create("c")}}}};
  for (int64_t i = 0; i < 4; ++i) {
    workload.transactions.push_back(
        {{append("a", i * 10, 10), append("b", i * 100, 100), append("c", i, 1), append("a", 500 + i, 1)}});
  }
  return workload;
}

Workload given_up_in_between() {
  Workload workload{"given_up_in_between", {{{create("t")}}}};
  for (int64_t i = 0; i < 4; ++i) {
    workload.transactions.push_back({{append("t", 9000 + i, 130)}, false});
    workload.transactions.push_back({{append("t", i * 30, 30)}});
  }
  return workload;
}

Workload given_up_drops() {
  Workload workload{"given_up_drops", {{{create("t"), append("t", 0, 90)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    workload.transactions.push_back({{drop("t"), create("u"), append("u", 0, 200)}, false});
    workload.transactions.push_back({{append("t", 90 + i, 1)}});
  }
  return workload;
}

Workload growing_dictionary() {
  Workload workload{"growing_dictionary", {{{create("t")}}}};
  // Labels repeat every 37 rows: each append brings some that are new.
  for (int64_t i = 0; i < 10; ++i) workload.transactions.push_back({{append("t", i * 4, 4)}});
  return workload;
}

Workload keys_in_order() {
  Workload workload{"keys_in_order", {{{create("t", true)}}}};
  for (int64_t i = 0; i < 5; ++i) workload.transactions.push_back({{append("t", i * 45, 45)}});
  return workload;
}

Workload keys_in_disorder() {
  Workload workload{"keys_in_disorder", {{{create("t", true)}}}};
  for (int64_t i = 0; i < 6; ++i) workload.transactions.push_back({{append("t", (i * 5 % 6) * 40, 40)}});
  return workload;
}

Workload one_large_append() { return {"one_large_append", {{{create("t")}}, {{append("t", 0, 2000)}}}}; }

Workload large_behind_fragments() {
  return {
      "large_behind_fragments",
      {{{create("t"), append("t", 0, 40)}}, {{append("t", 40, 10)}}, {{append("t", 50, 2)}}, {{append("t", 52, 700)}}}};
}

Workload empty_tables() {
  return {"empty_tables",
          {{{create("a")}}, {{create("b")}}, {{drop("a")}}, {{create("a"), create("c")}}, {{drop("b"), drop("c")}}}};
}

Workload everything_dropped() {
  return {"everything_dropped",
          {{{create("a"), append("a", 0, 500)}},
           {{create("b"), append("b", 0, 500)}},
           {{drop("a")}},
           {{drop("b")}},
           {{create("c")}}}};
}

Workload many_appends_in_one() {
  Workload workload{"many_appends_in_one", {{{create("t")}}}};
  for (int64_t i = 0; i < 3; ++i) {
    Transaction transaction;
    for (int64_t j = 0; j < 20; ++j) transaction.changes.push_back(append("t", i * 200 + j * 10, 10));
    workload.transactions.push_back(transaction);
  }
  return workload;
}

Workload reusing_space() {
  Workload workload{"reusing_space", {}};
  for (int64_t i = 0; i < 5; ++i) {
    std::string name = "t" + std::to_string(i), old = "t" + std::to_string(i - 1);
    Transaction transaction{{create(name), append(name, i * 100, 64 * (i % 3 + 1))}};
    if (i > 0) transaction.changes.push_back(drop(old));
    workload.transactions.push_back(transaction);
    workload.transactions.push_back({{append(name, 5000, 1)}});
  }
  return workload;
}

Workload mixed() {
  return {"mixed",
          {{{create("a"), append("a", 0, 100)}},
           {{create("b", true), append("b", 0, 3)}},
           {{append("b", 3, 64)}, false},
           {{append("a", 100, 1), append("b", 3, 61)}},
           {{drop("a"), append("b", 64, 1)}},
           {{create("a")}},
           {{append("a", 7, 7)}},
           {{append("b", 65, 300), append("a", 14, 1)}}}};
}

Workload erased_here_and_there() {
  Workload workload{"erased_here_and_there", {{{create("t"), append("t", 0, 700)}}}};
  for (int64_t i = 0; i < 5; ++i) workload.transactions.push_back({{erase("t", i * 70, 60, i + 1)}});
  workload.transactions.push_back({{append("t", 1000, 30)}});
  workload.transactions.push_back({{erase("t", 0, 100, 3), erase("t", 10, 5), append("t", 2000, 1)}});
  return workload;
}

Workload erased_tablets() {
  return {"erased_tablets",
          {{{create("t"), append("t", 0, 400)}},
           {{erase("t", 64, 128)}},
           {{erase("t", 0, 64)}},
           {{append("t", 500, 3)}},
           {{erase("t", 0, 211)}},
           {{append("t", 600, 70)}}}};
}

Workload erased_and_written_anew() {
  Workload workload{"erased_and_written_anew", {{{create("t", true), append("t", 0, 200)}}}};
  // As an UPDATE does: the same keys come back behind the others.
  for (int64_t i = 0; i < 5; ++i)
    workload.transactions.push_back({{erase("t", 0, 20 + i), append("t", i * 1000 + 10000, 20 + i)}});
  return workload;
}

Workload erasing_given_up() {
  Workload workload{"erasing_given_up", {{{create("t"), append("t", 0, 300)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    workload.transactions.push_back({{erase("t", 5, 250, 2), append("t", 900, 100)}, false});
    workload.transactions.push_back({{erase("t", i * 30, 1)}});
  }
  return workload;
}

Workload truncated() {
  return {"truncated",
          {{{create("t", true), append("t", 0, 300)}},
           {{truncate("t"), append("t", 0, 10)}},
           {{truncate("t")}, false},
           {{append("t", 10, 100)}},
           {{truncate("t")}},
           {{append("t", 0, 65)}}}};
}

Workload back_to_savepoints() {
  Workload workload{"back_to_savepoints", {{{create("t"), append("t", 0, 100)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    workload.transactions.push_back(
        {{append("t", 200, 10), save(), append("t", 300, 200), erase("t", 0, 90), create("u"), go_back(),
          append("t", 400, 5), save(), drop("t"), go_back(), erase("t", 7, 3)}});
  }
  return workload;
}

// Tablets are written anew in the middle, with others of which little is gone between them.
Workload compacted_here_and_there() {
  Workload workload{"compacted_here_and_there", {{{create("t"), append("t", 0, 700)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    workload.transactions.push_back({{erase("t", i * 130, 100, 3), erase("t", 400, 1)}});
    workload.transactions.push_back(checkpoint());
    workload.transactions.push_back({{append("t", 1000 + i * 50, 50)}});
  }
  return workload;
}

Workload compacted_fragments() {
  Workload workload{"compacted_fragments", {{{create("t"), append("t", 0, 40)}}}};
  for (int64_t i = 0; i < 4; ++i) {
    workload.transactions.push_back({{append("t", 100 + i * 10, 9)}});
    workload.transactions.push_back({{erase("t", i, 12, 2)}});
    workload.transactions.push_back(checkpoint());
  }
  return workload;
}

Workload compacted_keys() {
  Workload workload{"compacted_keys", {{{create("t", true), append("t", 0, 300)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    workload.transactions.push_back({{erase("t", 10, 60, 2), append("t", i * 1000 + 10000, 30)}});
    workload.transactions.push_back(checkpoint());
  }
  return workload;
}

Workload compacted_to_nothing() {
  return {"compacted_to_nothing",
          {{{create("t"), append("t", 0, 300)}},
           {{erase("t", 0, 290)}},
           checkpoint(),
           {{erase("t", 0, 10)}},
           checkpoint(),
           {{append("t", 500, 70)}},
           {{erase("t", 0, 70, 2)}},
           checkpoint()}};
}

Workload compacted_in_runs() {
  return {"compacted_in_runs",
          {{{create("t"), append("t", 0, 3000)}},
           {{erase("t", 0, 3000, 2)}},
           checkpoint(),
           {{erase("t", 0, 1500, 4)}},
           checkpoint(),
           {{append("t", 5000, 1)}}}};
}

Workload compacted_tables_in_turn() {
  Workload workload{"compacted_tables_in_turn",
                    {{{create("a"), append("a", 0, 200), create("b"), append("b", 0, 90)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    workload.transactions.push_back({{erase("a", i, 100, 2), erase("b", 0, 20)}});
    workload.transactions.push_back({{append("b", 100 + i * 30, 30)}});
    workload.transactions.push_back(checkpoint());
  }
  return workload;
}

Workload compacted_after_what_was_given_up() {
  Workload workload{"compacted_after_what_was_given_up", {{{create("t"), append("t", 0, 300)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    workload.transactions.push_back({{erase("t", 5, 250, 2), append("t", 900, 100)}, false});
    workload.transactions.push_back({{erase("t", i * 30, 20)}});
    workload.transactions.push_back(checkpoint());
  }
  return workload;
}

Workload compacted_and_dropped() {
  return {"compacted_and_dropped",
          {{{create("t"), append("t", 0, 400)}},
           {{erase("t", 0, 400, 2)}},
           checkpoint(),
           {{drop("t")}},
           checkpoint(),
           {{create("t"), append("t", 0, 100)}},
           {{truncate("t"), append("t", 7, 100)}},
           {{erase("t", 0, 50)}},
           checkpoint()}};
}

Workload checkpoints() {
  Workload workload{"checkpoints", {checkpoint(), {{create("t")}}, checkpoint(), checkpoint()}};
  for (int64_t i = 0; i < 8; ++i) {
    workload.transactions.push_back({{append("t", i * 3, 3)}});
    if (i % 3 == 2) workload.transactions.push_back(checkpoint());
  }
  return workload;
}

// A commit in the log each, but for the first ones.
Workload logged_updates() {
  Workload workload{"logged_updates", {{{create("t", true), append("t", 0, 150)}}}};
  for (int64_t i = 0; i < 12; ++i)
    workload.transactions.push_back({{erase("t", i * 7, 3), append("t", 1000 + i * 3, 3)}});
  return workload;
}

Workload logged_erases() {
  Workload workload{"logged_erases", {{{create("t"), append("t", 0, 400)}}, {{create("u"), append("u", 0, 9)}}}};
  for (int64_t i = 0; i < 9; ++i) workload.transactions.push_back({{erase(i % 4 == 3 ? "u" : "t", i, 40, 4)}});
  return workload;
}

Workload logged_truncates() {
  Workload workload{"logged_truncates", {{{create("t"), append("t", 0, 100)}}}};
  for (int64_t i = 0; i < 4; ++i) {
    workload.transactions.push_back({{append("t", 200 + i * 70, 70)}});
    workload.transactions.push_back({{truncate("t"), append("t", 500 + i, 1)}});
    workload.transactions.push_back({{truncate("t")}});
  }
  return workload;
}

Workload logged_before_and_behind_tables() {
  Workload workload{"logged_before_and_behind_tables", {{{create("t"), append("t", 0, 10)}}}};
  for (int64_t i = 0; i < 3; ++i) {
    const std::string name = "t" + std::to_string(i);
    for (int64_t j = 0; j < 3; ++j)
      workload.transactions.push_back({{append("t", 100 + i * 10 + j, 1), erase("t", j, 1)}});
    workload.transactions.push_back({{create(name), append(name, 0, 5)}});
    workload.transactions.push_back({{append(name, 5, 5)}});
    if (i > 0) workload.transactions.push_back({{drop("t" + std::to_string(i - 1))}});
  }
  return workload;
}

Workload logged_savepoints() {
  Workload workload{"logged_savepoints", {{{create("t"), append("t", 0, 100)}}}};
  for (int64_t i = 0; i < 8; ++i)
    workload.transactions.push_back(
        {{append("t", 200 + i, 2), save(), erase("t", 0, 30, 2), append("t", 300, 9), go_back(), erase("t", i, 2)},
         i % 3 != 1});
  return workload;
}

// Those that the table has: where a transaction before has failed there are fewer rows.
std::vector<int64_t> rows_erased(const Change& change, size_t rows) {
  std::vector<int64_t> erased = change.numbers;
  std::erase_if(erased, [rows](int64_t row) { return row >= static_cast<int64_t>(rows); });
  return erased;
}

}  // namespace

std::vector<Workload> all_workloads() {
  return {single_rows(),
          growing_appends(),
          shrinking_appends(),
          drop_and_recreate(),
          drop_and_recreate_at_once(),
          many_tables(),
          two_tables_in_turn(),
          several_tables_at_once(),
          given_up_in_between(),
          given_up_drops(),
          growing_dictionary(),
          keys_in_order(),
          keys_in_disorder(),
          one_large_append(),
          large_behind_fragments(),
          empty_tables(),
          everything_dropped(),
          many_appends_in_one(),
          reusing_space(),
          mixed(),
          erased_here_and_there(),
          erased_tablets(),
          erased_and_written_anew(),
          erasing_given_up(),
          truncated(),
          back_to_savepoints(),
          compacted_here_and_there(),
          compacted_fragments(),
          compacted_keys(),
          compacted_to_nothing(),
          compacted_in_runs(),
          compacted_tables_in_turn(),
          compacted_after_what_was_given_up(),
          compacted_and_dropped(),
          checkpoints(),
          logged_updates(),
          logged_erases(),
          logged_truncates(),
          logged_before_and_behind_tables(),
          logged_savepoints()};
}

Contents contents_after(Contents before, const Transaction& transaction) {
  if (!transaction.commits) return before;
  Contents saved;
  for (const Change& change : transaction.changes) {
    if (change.kind == Change::Kind::Create) before[change.table] = {};
    if (change.kind == Change::Kind::Drop) before.erase(change.table);
    if (change.kind == Change::Kind::Append) {
      auto& numbers = before[change.table];
      numbers.insert(numbers.end(), change.numbers.begin(), change.numbers.end());
    }
    if (change.kind == Change::Kind::Erase) {
      auto& numbers = before[change.table];
      const std::vector<int64_t> rows = rows_erased(change, numbers.size());
      for (auto row = rows.rbegin(); row != rows.rend(); ++row) numbers.erase(numbers.begin() + *row);
    }
    if (change.kind == Change::Kind::Truncate) before[change.table] = {};
    if (change.kind == Change::Kind::Save) saved = before;
    if (change.kind == Change::Kind::GoBack) before = saved;
  }
  return before;
}

void run(Store& store, const Transaction& transaction) {
  if (transaction.is_checkpoint) return store.checkpoint();
  auto writer = store.begin_write();
  std::shared_ptr<const WriteTransaction::Savepoint> saved;
  for (const Change& change : transaction.changes) {
    if (change.kind == Change::Kind::Create) writer->create_table(mixed_table(change.table, change.with_key));
    if (change.kind == Change::Kind::Drop) writer->drop_table(change.table);
    if (change.kind == Change::Kind::Append) append_numbers(*writer, change.table, change.numbers);
    if (change.kind == Change::Kind::Erase) {
      const auto table = writer->preview()->find_table(change.table);
      const std::vector<int64_t> there = table ? positions_in(*table) : std::vector<int64_t>();
      std::vector<int64_t> positions;
      for (const int64_t row : rows_erased(change, there.size())) positions.push_back(there[static_cast<size_t>(row)]);
      writer->erase(change.table, positions);
    }
    if (change.kind == Change::Kind::Truncate) writer->truncate(change.table);
    if (change.kind == Change::Kind::Save) saved = writer->savepoint();
    if (change.kind == Change::Kind::GoBack) writer->rollback_to(*saved);
  }
  if (transaction.commits) writer->commit();
}

}  // namespace diptych::test
