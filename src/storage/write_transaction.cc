#include "storage/write_transaction.h"

#include <optional>
#include <utility>

#include "base/error.h"
#include "storage/row_eraser.h"

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

}  // namespace

StoredTransaction::StoredTransaction(StoreState& state, const std::atomic<bool>* cancelled,
                                     std::chrono::milliseconds timeout)
    : state_(state), cancelled_(cancelled) {
  state_.begin_writing(cancelled, timeout);
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
  } catch (const Error&) {
    // Those who committed are told.
  }
}

void StoredTransaction::end() noexcept {
  if (!base_) return;
  working_.clear();  // waits for tasks, frees pages
  preview_.reset();
  tables_.clear();
  views_.clear();
  base_.reset();
  state_.end_writing();
}

void StoredTransaction::check_is_free(const std::string& name) const {
  if (tables_.contains(name) || views_.contains(name))
    throw Error(SqlState::duplicate_table, "relation \"" + name + "\" already exists");
}

void StoredTransaction::create_table(TableDefinition definition) {
  UsableGuard guard(is_usable_, true);
  check_is_free(definition.name);
  std::string name = definition.name;
  tables_[name] = empty_table(std::move(definition), state_.tablet_rows);
  note_new_schema();
}

std::shared_ptr<const TableView> StoredTransaction::empty_table(TableDefinition definition, int64_t tablet_rows) {
  TableState table = make_table(std::move(definition), tablet_rows);
  table.contents_version = state_.take_version();
  return std::make_shared<TableView>(std::move(table));
}

void StoredTransaction::drop_table(std::string_view name) {
  UsableGuard guard(is_usable_, true);
  auto entry = tables_.find(name);
  if (entry == tables_.end()) {
    throw Error(SqlState::undefined_table, "table \"" + std::string(name) + "\" does not exist");
  }
  if (auto working = working_.find(name); working != working_.end()) working_.erase(working);
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
  Working& working = working_.try_emplace(entry->first, entry->second->state()).first->second;
  start_appending(working);
  return working;
}

void StoredTransaction::start_appending(Working& working) const {
  working.appender = std::make_unique<TableAppender>(state_.storage, state_.arena, working.state);
  if (!working.state.definition.primary_key.empty())
    working.keys = std::make_unique<KeyChecker>(state_.storage, working.state);
}

void StoredTransaction::append(std::string_view table, const RowBatch& batch) {
  UsableGuard guard(is_usable_);
  Working& working = open_for_append(table);
  if (batch.rows == 0) return guard.passed();
  working.appender->append(batch);
  if (working.keys && working.keys->add(batch)) {
    working.appender->finish();
    working.keys->check();
  }
  if (is_recorded_ && is_recorded(ChangeRecord::bytes_of(batch))) record_.append(table, batch);
  working.is_changed = is_changed_ = true;
  preview_.reset();
  guard.passed();
}

void StoredTransaction::erase(std::string_view table, std::span<const int64_t> positions) {
  UsableGuard guard(is_usable_);
  Working& working = open_for_append(table);
  if (positions.empty()) return guard.passed();
  working.appender->finish();
  if (working.keys) working.keys->check();
  if (is_recorded(2 * static_cast<int64_t>(positions.size())))
    record_.erase(table, working.state.directory.live_rows_before(positions));
  erase_rows(state_.storage, working.state, positions, cancelled_);
  has_erased_ = true;
  start_appending(working);
  working.is_changed = is_changed_ = true;
  preview_.reset();
  guard.passed();
}

void StoredTransaction::truncate(std::string_view name) {
  UsableGuard guard(is_usable_, true);
  const auto entry = tables_.find(name);
  if (entry == tables_.end())
    throw Error(SqlState::undefined_table, "table \"" + std::string(name) + "\" does not exist");
  const TableState& before = entry->second->state();
  auto emptied = empty_table(before.definition, before.tablet_rows);
  if (const auto working = working_.find(name); working != working_.end()) working_.erase(working);
  entry->second = std::move(emptied);
  note_change();
  if (is_recorded(0)) record_.truncate(name);
}

TableMap StoredTransaction::collect() {
  for (auto& [name, working] : working_) {
    working.appender->finish();
    if (working.keys) working.keys->check();
    if (!std::exchange(working.is_changed, false)) continue;
    working.state.contents_version = state_.take_version();
    tables_[name] = std::make_shared<TableView>(working.state);
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
  if (is_changed_ && preview_ == nullptr) {
    const uint64_t version = state_.take_version();
    preview_ =
        std::make_shared<CatalogView>(collect(), views_, CatalogVersions{version, schema_version_}, nullptr);
  }
  guard.passed();
  return is_changed_ ? preview_ : base_;
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
  views_ = state.views;
  schema_version_ = state.schema_version;
  is_changed_ = state.is_changed;
  // What was recorded then is not there any more where recording has ended since.
  is_recorded_ = is_recorded_ && state.is_recorded;
  record_.cut(is_recorded_ ? state.record_bytes : 0);
  is_usable_ = true;
}

void StoredTransaction::commit() {
  UsableGuard guard(is_usable_);
  if (!is_changed_) {
    const LoggedCommit others{base_, base_place_};
    end();
    return state_.wait_for(others);
  }
  TableMap tables = collect();
  StoreState& state = state_;
  std::optional<LoggedCommit> logged;
  if (is_recorded_ && state.may_log(record_.bytes().size()))
    logged = state.log(record_.bytes(), std::move(tables), views_, schema_version_);
  else
    state.commit(std::move(tables), views_, schema_version_);
  // The next writer begins while a commit in the log waits for the disk.
  end();
  if (logged) state.wait_for(*logged);
  if (has_erased_) state.compactor().note_deletes();
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
