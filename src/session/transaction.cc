#include "session/transaction.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace diptych {
namespace {

int64_t microseconds_since_2000() {
  constexpr std::chrono::sys_days epoch = std::chrono::year{2000} / 1 / 1;
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now() - epoch).count();
}

// What temporary tables may refuse they refuse before the others are on the disk.
void commit_all(const Writers& writers) {
  if (writers.temporary != nullptr) writers.temporary->preview();
  if (writers.permanent != nullptr) writers.permanent->commit();
  if (writers.temporary != nullptr) writers.temporary->commit();
}

std::shared_ptr<const WriteTransaction::Savepoint> savepoint_of(const std::shared_ptr<WriteTransaction>& writer) {
  return writer != nullptr ? writer->savepoint() : nullptr;
}

// savepoint: null: the writer began behind it.
void roll_back(std::shared_ptr<WriteTransaction>& writer, const WriteTransaction::Savepoint* savepoint) {
  if (savepoint != nullptr)
    writer->rollback_to(*savepoint);
  else
    writer.reset();
}

}  // namespace

bool WriteTargets::have(bool temporary) const {
  return std::ranges::any_of(tables, [&](const TableAddress& one) { return one.is_temporary == temporary; });
}

int64_t Transaction::now() const { return state_ == TransactionState::None ? microseconds_since_2000() : began_at_; }

void Transaction::begin(const TransactionModes& modes) {
  if (state_ == TransactionState::None) {
    state_ = TransactionState::Open;
    isolation_ = Isolation::ReadCommitted;
    is_read_only_ = has_queried_ = false;
    began_at_ = microseconds_since_2000();
  }
  set_modes(modes);
}

void Transaction::set_modes(const TransactionModes& modes) {
  if (state_ != TransactionState::Open) return;
  if (modes.isolation && *modes.isolation != isolation_ && (has_queried_ || !savepoints_.empty()))
    throw Error(SqlState::active_sql_transaction, "SET TRANSACTION ISOLATION LEVEL must be called before any query");
  if (modes.read_only == false && is_read_only_ && (has_queried_ || !savepoints_.empty()))
    throw Error(SqlState::active_sql_transaction, "transaction read-write mode must be set before any query");
  if (modes.isolation) isolation_ = *modes.isolation;
  if (modes.read_only) is_read_only_ = *modes.read_only;
}

void Transaction::commit() {
  if (state_ == TransactionState::Failed) return rollback();
  const Writers writers = std::move(writers_);
  end();
  commit_all(writers);
}

void Transaction::rollback() noexcept { end(); }

void Transaction::fail() noexcept {
  if (state_ != TransactionState::Open) return;
  if (savepoints_.empty()) end();
  state_ = TransactionState::Failed;
}

void Transaction::add_savepoint(const std::string& name) {
  check_is_one("SAVEPOINT");
  savepoints_.push_back(
      {name, is_read_only_, savepoint_of(writers_.permanent), savepoint_of(writers_.temporary), changed_});
}

void Transaction::release_savepoint(const std::string& name) {
  check_is_one("RELEASE SAVEPOINT");
  savepoints_.resize(find_savepoint(name));
}

void Transaction::rollback_to(const std::string& name) {
  check_is_one("ROLLBACK TO SAVEPOINT");
  const size_t found = find_savepoint(name);
  savepoints_.resize(found + 1);
  const Savepoint& savepoint = savepoints_.back();
  roll_back(writers_.permanent, savepoint.permanent.get());
  roll_back(writers_.temporary, savepoint.temporary.get());
  changed_ = savepoint.changed;
  is_read_only_ = savepoint.is_read_only;
  state_ = TransactionState::Open;
}

size_t Transaction::find_savepoint(const std::string& name) const {
  for (size_t i = savepoints_.size(); i > 0; --i)
    if (savepoints_[i - 1].name == name) return i - 1;
  throw Error(SqlState::invalid_savepoint, "savepoint \"" + name + "\" does not exist");
}

void Transaction::check_is_one(const char* command) const {
  if (state_ == TransactionState::None)
    throw Error(SqlState::no_active_sql_transaction, std::string(command) + " can only be used in transaction blocks");
}

void Transaction::end() noexcept {
  state_ = TransactionState::None;
  savepoints_.clear();
  snapshot_.reset();
  writers_ = {};
  changed_.clear();
  written_.clear();
}

std::shared_ptr<const CatalogSnapshot> Transaction::catalog() {
  if (state_ != TransactionState::Open) return with_temporary(store_.snapshot(), nullptr);
  has_queried_ = true;
  return with_temporary(permanent_catalog(), writers_.temporary.get());
}

std::shared_ptr<const CatalogSnapshot> Transaction::catalog_of(const Writers& writers) {
  return with_temporary(writers.permanent != nullptr ? writers.permanent->preview() : store_.snapshot(),
                        writers.temporary.get());
}

std::shared_ptr<const CatalogSnapshot> Transaction::permanent_catalog() {
  if (writers_.permanent != nullptr) {
    const auto preview = writers_.permanent->preview();
    if (!is_behind_) return preview;
    const uint64_t version = changed_versions_.number_of({preview->version(), snapshot_->version(), changed_.size()});
    const uint64_t schema_version =
        changed_schema_versions_.number_of({preview->schema_version(), snapshot_->schema_version(), changed_.size()});
    return std::make_shared<CatalogWithChanges>(preview, changed_, snapshot_, version, schema_version);
  }
  if (isolation_ == Isolation::ReadCommitted) return store_.snapshot();
  if (snapshot_ == nullptr) snapshot_ = store_.snapshot();
  return snapshot_;
}

std::shared_ptr<const CatalogSnapshot> Transaction::with_temporary(std::shared_ptr<const CatalogSnapshot> permanent,
                                                                   WriteTransaction* temporary) {
  if (temporary_ == nullptr) return permanent;
  auto tables = temporary != nullptr ? temporary->preview() : temporary_->snapshot();
  const uint64_t version = versions_.number_of({permanent->version(), tables->version(), 0});
  const uint64_t schema_version =
      schema_versions_.number_of({permanent->schema_version(), tables->schema_version(), 0});
  return std::make_shared<CatalogWithTemporary>(std::move(tables), std::move(permanent), version, schema_version);
}

bool Transaction::has_temporary(std::string_view name) const {
  if (temporary_ == nullptr) return false;
  const auto tables = writers_.temporary != nullptr ? writers_.temporary->preview() : temporary_->snapshot();
  return tables->find_table(name) != nullptr;
}

void Transaction::set_tablet_rows(int64_t rows) {
  if (temporary_ != nullptr) temporary_->set_tablet_rows(rows);
}

void Transaction::check_may_define(bool are_temporary) const {
  if (!are_temporary || (state_ == TransactionState::Open && is_read_only_)) check_may_write_permanent();
}

void Transaction::check_may_write_permanent() const {
  if (state_ == TransactionState::Open && is_read_only_)
    throw Error(SqlState::read_only_sql_transaction, "tables can't be changed in a read-only transaction");
  if (store_.is_read_only())
    throw Error(SqlState::read_only_sql_transaction, "the database was opened to be read only");
}

Writers Transaction::begin_write(const WriteTargets& targets, const WriterWait& wait) {
  Writers writers;
  if (targets.have(false)) writers.permanent = begin_permanent(wait);
  if (targets.have(true)) writers.temporary = begin_temporary(wait);
  return writers;
}

const Writers& Transaction::write(const WriteTargets& targets, const WriterWait& wait) {
  has_queried_ = true;
  if (targets.have(false)) {
    check_may_write_permanent();
    std::shared_ptr<WriteTransaction> writer = writers_.permanent;
    if (writer == nullptr) {
      writer = begin_permanent(wait);
      const auto latest = writer->preview();
      is_behind_ = snapshot_ != nullptr && snapshot_->version() != latest->version();
    }
    if (is_behind_) prepare_targets(targets, *writer);
    if (writers_.permanent == nullptr) writer->wait_for_others();
    if (isolation_ == Isolation::RepeatableRead && snapshot_ == nullptr) snapshot_ = writer->preview();
    for (const TableAddress& target : targets.tables)
      if (is_behind_ && !target.is_temporary) changed_.insert(target.name);
    writers_.permanent = std::move(writer);
  }
  if (!targets.are_rows) check_may_define(!targets.have(false));
  if (targets.have(true) && writers_.temporary == nullptr) writers_.temporary = begin_temporary(wait);
  for (const TableAddress& target : targets.tables)
    if (std::ranges::find(written_, target) == written_.end()) written_.push_back(target);
  return writers_;
}

std::shared_ptr<WriteTransaction> Transaction::begin_permanent(const WriterWait& wait) {
  check_may_write_permanent();
  return store_.begin_write(wait.cancelled, wait.timeout);
}

std::shared_ptr<WriteTransaction> Transaction::begin_temporary(const WriterWait& wait) {
  if (temporary_ == nullptr) temporary_ = store_.open_temporary();
  return temporary_->begin_write(wait.cancelled, wait.timeout);
}

void Transaction::prepare_targets(const WriteTargets& targets, WriteTransaction& writer) const {
  const auto latest = writer.preview();
  for (const auto& [name, is_temporary] : targets.tables) {
    if (is_temporary || changed_.contains(name)) continue;
    const auto before = snapshot_->find_table(name), now = latest->find_table(name);
    const ViewDefinition *view_before = snapshot_->find_view(name), *view_now = latest->find_view(name);
    const bool is_same_table = before && now ? before->contents_version() == now->contents_version() : before == now;
    const bool is_same_view = view_before && view_now ? *view_before == *view_now : view_before == view_now;
    if (is_same_table && is_same_view) continue;
    if (targets.are_rows && before && now && writer.see_as_of(*before)) continue;
    throw Error(SqlState::serialization_failure, "could not serialize access due to concurrent update", -1,
                "Others have changed \"" + name + "\" since the transaction's first statement: begin it anew.");
  }
}

Writing::Writing(Transaction& transaction, const WriteTargets& targets, const WriterWait& wait)
    : transaction_(transaction),
      is_own_(transaction.state() == TransactionState::None),
      own_tables_(is_own_ ? targets.tables : std::vector<TableAddress>()),
      writers_(is_own_ ? transaction.begin_write(targets, wait) : transaction.write(targets, wait)) {}

std::shared_ptr<const CatalogSnapshot> Writing::catalog() const {
  return is_own_ ? transaction_.catalog_of(writers_) : transaction_.catalog();
}

void Writing::abandon() noexcept {
  if (!is_own_ && transaction_.are_writers(writers_)) transaction_.fail();
}

void Writing::finish() {
  if (is_own_) {
    commit_all(writers_);
  } else {
    if (!transaction_.are_writers(writers_))
      throw Error(SqlState::invalid_transaction_state, "the transaction has ended");
    if (writers_.permanent != nullptr) writers_.permanent->preview();
    if (writers_.temporary != nullptr) writers_.temporary->preview();
  }
  is_finished_ = true;
}

}  // namespace diptych
