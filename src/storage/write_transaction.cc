#include "storage/write_transaction.h"

#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"

namespace diptych {
namespace {

// A commit that changes more writes pages, once, where the log would have it twice.
constexpr int64_t most_record_bytes = int64_t{1} << 20;

// Refuses to go on with a transaction that has failed or ended. A member function that throws leaves the transaction
// unusable, unless it changes nothing before it throws.
class UsableGuard {
 public:
  explicit UsableGuard(bool& is_usable, bool errors_are_harmless = false) : is_usable_(is_usable) {
    if (!is_usable_) throw Error(SqlState::invalid_transaction_state, "the transaction has failed or ended");
    is_usable_ = errors_are_harmless;
  }
  void passed() { is_usable_ = true; }

 private:
  bool& is_usable_;
};

bool is_remembered(int64_t rows) { return rows <= static_cast<int64_t>(ErasedRows::most_numbers); }

// 0, 1, 2 ...
std::vector<int64_t> first_numbers(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  return numbers;
}

// What a change says of a key that is there twice; nothing: it is done.
std::optional<Error> duplicate_key(WorkingTable& table, const std::function<void(WorkingTable&)>& change) {
  try {
    change(table);
    return std::nullopt;
  } catch (const Error& error) {
    if (error.state() != SqlState::unique_violation) throw;
    return error;
  }
}

}  // namespace

StoredTransaction::StoredTransaction(StoreState& state, const std::atomic<bool>* cancelled,
                                     std::chrono::milliseconds timeout)
    : state_(state), turn_(std::in_place, state, cancelled, timeout), cancelled_(cancelled) {
  base_ = state_.latest();
  base_place_ = state_.latest_place();
  tables_ = base_->tables();
  views_ = base_->views();
  schema_version_ = base_->schema_version();
  is_recorded_ = state_.may_log(0);
}

// Whoever it was for has perhaps been told of what others had committed, by an error if by nothing else.
StoredTransaction::~StoredTransaction() {
  if (!base_) return;
  const LoggedCommit others{base_, base_place_};
  StoreState& state = state_;
  end();
  try {
    state.wait_for(others);
  } catch (const std::exception&) {
    // Those who committed are told.
  }
}

void StoredTransaction::end() noexcept {
  if (!base_) return;
  working_.clear();  // waits for tasks, frees pages
  preview_.reset();
  tables_.clear();
  seen_.clear();
  views_.clear();
  base_.reset();
  turn_.reset();
}

void StoredTransaction::check_is_free(const std::string& name) const {
  if (tables_.contains(name) || views_.contains(name))
    throw Error(SqlState::duplicate_table, "relation \"" + name + "\" already exists");
}

void StoredTransaction::create_table(TableDefinition definition) {
  UsableGuard guard(is_usable_, true);
  check_is_free(definition.name);
  std::string name = definition.name;
  TableState table = make_table(std::move(definition), state_.tablet_rows);
  table.contents_version = state_.take_version();
  table.erased.forget(table.contents_version);
  tables_[name] = std::make_shared<TableView>(std::move(table));
  note_new_schema();
}

void StoredTransaction::drop_table(std::string_view name) {
  UsableGuard guard(is_usable_, true);
  auto entry = tables_.find(name);
  if (entry == tables_.end()) {
    throw Error(SqlState::undefined_table, "table \"" + std::string(name) + "\" does not exist");
  }
  if (auto working = working_.find(name); working != working_.end()) working_.erase(working);
  if (const auto seen = seen_.find(name); seen != seen_.end()) seen_.erase(seen);
  tables_.erase(entry);
  note_new_schema();
}

void StoredTransaction::create_view(ViewDefinition definition, bool replace) {
  UsableGuard guard(is_usable_, true);
  if (!replace || !views_.contains(definition.name)) check_is_free(definition.name);
  views_[definition.name] = std::move(definition);
  note_new_schema();
}

void StoredTransaction::drop_view(std::string_view name) {
  UsableGuard guard(is_usable_, true);
  auto entry = views_.find(name);
  if (entry == views_.end()) {
    throw Error(SqlState::undefined_table, "view \"" + std::string(name) + "\" does not exist");
  }
  views_.erase(entry);
  note_new_schema();
}

StoredTransaction::Working& StoredTransaction::open_for_append(std::string_view name) {
  if (auto working = working_.find(name); working != working_.end()) return working->second;
  auto entry = tables_.find(name);
  if (entry == tables_.end()) {
    throw Error(SqlState::undefined_table, "table \"" + std::string(name) + "\" does not exist");
  }
  Working& working = working_[entry->first];
  working.latest = std::make_unique<WorkingTable>(state_, entry->second->state());
  if (const auto seen = seen_.find(name); seen != seen_.end())
    working.seen = std::make_unique<WorkingTable>(state_, seen->second.view->state());
  return working;
}

void StoredTransaction::append(std::string_view table, const RowBatch& batch) {
  UsableGuard guard(is_usable_);
  Working& working = open_for_append(table);
  if (batch.rows == 0) return guard.passed();
  change_both(working, [&](WorkingTable& table) { table.append(batch); });
  if (is_recorded_ && is_recorded(ChangeRecord::bytes_of(batch))) record_.append(table, batch);
  is_changed_ = true;
  preview_.reset();
  guard.passed();
}

void StoredTransaction::change_both(Working& working, const std::function<void(WorkingTable&)>& change) {
  if (working.seen == nullptr) return change(*working.latest);
  std::optional<Error> latest = duplicate_key(*working.latest, change), seen = duplicate_key(*working.seen, change);
  if (!latest && !seen) return;
  const auto finish = [](WorkingTable& table) { table.finish(); };
  if (!latest) latest = duplicate_key(*working.latest, finish);
  if (!seen) seen = duplicate_key(*working.seen, finish);
  if (latest && seen) throw *latest;
  throw Error(SqlState::serialization_failure, "could not serialize access due to concurrent update", -1,
              "Others have given or taken a key since the transaction's first statement: begin it anew.");
}

void StoredTransaction::erase(std::string_view table, std::span<const int64_t> positions) {
  UsableGuard guard(is_usable_);
  Working& working = open_for_append(table);
  if (positions.empty()) return guard.passed();
  erase_both(table, working, positions);
  has_erased_ = is_changed_ = true;
  preview_.reset();
  guard.passed();
}

void StoredTransaction::erase_both(std::string_view table, Working& working, std::span<const int64_t> positions) {
  change_both(working, [](WorkingTable& each) { each.finish(); });
  std::vector<int64_t> latest;
  if (working.seen != nullptr) {
    OlderRows& rows = seen_.find(table)->second.rows;
    const std::vector<int64_t> numbers = working.seen->state().directory.live_rows_before(positions);
    latest = working.latest->state().directory.positions_of(rows.in_latest(numbers));
    working.seen->erase(positions, {}, cancelled_);
    rows.erase(numbers);
    positions = latest;
  }
  const bool is_in_record = is_recorded(2 * static_cast<int64_t>(positions.size()));
  std::vector<int64_t> numbers;
  if (is_in_record || is_remembered(static_cast<int64_t>(positions.size())))
    numbers = working.latest->state().directory.live_rows_before(positions);
  if (is_in_record) record_.erase(table, numbers);
  working.latest->erase(positions, std::move(numbers), cancelled_);
}

bool StoredTransaction::see_as_of(const TableSnapshot& older) {
  UsableGuard guard(is_usable_, true);
  const std::string& name = older.definition().name;
  const auto entry = tables_.find(name);
  if (entry == tables_.end()) return false;
  const TableView& latest = *entry->second;
  auto gone = latest.state().erased.gone_since(older.contents_version(), older.live_rows());
  if (!gone) return false;
  auto view = std::make_shared<TableView>(static_cast<const TableView&>(older).state());
  seen_.insert_or_assign(
      name, SeenTable{std::move(view), OlderRows(std::move(*gone), older.live_rows(), latest.live_rows())});
  preview_.reset();
  return true;
}

void StoredTransaction::truncate(std::string_view name) {
  if (seen_.contains(name)) {
    const auto view = preview()->find_table(name);
    const TabletDirectory& directory = static_cast<const TableView&>(*view).state().directory;
    return erase(name, directory.positions_of(first_numbers(directory.live_rows())));
  }
  UsableGuard guard(is_usable_, true);
  const auto entry = tables_.find(name);
  if (entry == tables_.end())
    throw Error(SqlState::undefined_table, "table \"" + std::string(name) + "\" does not exist");
  auto working = working_.find(name);
  const TableState& before = working != working_.end() ? working->second.latest->state() : entry->second->state();
  TableState emptied = make_table(before.definition, before.tablet_rows);
  emptied.contents_version = state_.take_version();
  emptied.erased = before.erased;
  const int64_t rows = before.directory.live_rows();
  if (rows > 0) emptied.erased.add(emptied.contents_version, first_numbers(is_remembered(rows) ? rows : 0));
  if (working != working_.end()) working_.erase(working);
  entry->second = std::make_shared<TableView>(std::move(emptied));
  note_change();
  if (is_recorded(0)) record_.truncate(name);
}

TableMap StoredTransaction::collect() {
  for (auto& [name, working] : working_) {
    change_both(working, [](WorkingTable& table) { table.finish(); });
    if (auto latest = working.latest->take_changes()) tables_[name] = std::move(latest);
    if (working.seen == nullptr) continue;
    if (auto seen = working.seen->take_changes()) seen_.find(name)->second.view = std::move(seen);
  }
  return tables_;
}

bool StoredTransaction::is_recorded(int64_t bytes) {
  if (is_recorded_ && static_cast<int64_t>(record_.bytes().size()) + bytes > most_record_bytes) stop_recording();
  return is_recorded_;
}

void StoredTransaction::stop_recording() {
  is_recorded_ = false;
  record_.cut(0);
}

std::shared_ptr<const CatalogSnapshot> StoredTransaction::preview() {
  UsableGuard guard(is_usable_);
  const bool is_another = is_changed_ || !seen_.empty();
  if (is_another && preview_ == nullptr) {
    TableMap tables = collect();
    for (const auto& [name, seen] : seen_) tables[name] = seen.view;
    const CatalogVersions versions{state_.take_version(), schema_version_};
    preview_ = std::make_shared<CatalogView>(std::move(tables), views_, versions, nullptr);
  }
  guard.passed();
  return is_another ? preview_ : base_;
}

void StoredTransaction::wait_for_others() {
  UsableGuard guard(is_usable_);
  state_.wait_for({base_, base_place_});
  guard.passed();
}

std::shared_ptr<const WriteTransaction::Savepoint> StoredTransaction::savepoint() {
  preview();
  auto state = std::make_shared<State>();
  state->tables = tables_;
  state->seen = seen_;
  state->views = views_;
  state->schema_version = schema_version_;
  state->is_changed = is_changed_;
  state->is_recorded = is_recorded_;
  state->record_bytes = record_.bytes().size();
  return state;
}

void StoredTransaction::rollback_to(const Savepoint& savepoint) {
  if (!base_) throw Error(SqlState::invalid_transaction_state, "the transaction has ended");
  const auto& state = static_cast<const State&>(savepoint);
  working_.clear();
  preview_.reset();
  tables_ = state.tables;
  seen_ = state.seen;
  views_ = state.views;
  schema_version_ = state.schema_version;
  is_changed_ = state.is_changed;
  // What was recorded then is not there any more where recording has ended since.
  is_recorded_ = is_recorded_ && state.is_recorded;
  record_.cut(is_recorded_ ? state.record_bytes : 0);
  is_usable_ = true;
}

void StoredTransaction::commit() {
  StoreState& state = state_;
  state.wait_for(commit_to_log());
  if (has_erased_) state.compactor().note_deletes();
}

LoggedCommit StoredTransaction::commit_to_log() {
  UsableGuard guard(is_usable_);
  LoggedCommit commit{base_, base_place_};
  if (is_changed_) {
    TableMap tables = collect();
    if (is_recorded_ && state_.may_log(record_.bytes().size())) {
      commit = state_.log(record_.bytes(), std::move(tables), views_, schema_version_);
    } else {
      state_.commit(std::move(tables), views_, schema_version_);
      commit = {state_.latest(), state_.latest_place()};
    }
  }
  end();
  return commit;
}

void StoredTransaction::note_change() {
  schema_version_ = state_.take_version();
  is_changed_ = true;
  preview_.reset();
}

void StoredTransaction::note_new_schema() {
  note_change();
  stop_recording();
}

}  // namespace diptych
