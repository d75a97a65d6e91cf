#include "session/transaction.h"

#include <utility>

#include "base/error.h"

namespace diptych {
namespace {

int64_t microseconds_since_2000() {
  constexpr std::chrono::sys_days epoch = std::chrono::year{2000} / 1 / 1;
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now() - epoch).count();
}

}  // namespace

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
  const std::shared_ptr<WriteTransaction> writer = std::move(writer_);
  end();
  if (writer != nullptr) writer->commit();
}

void Transaction::rollback() noexcept { end(); }

void Transaction::fail() noexcept {
  if (state_ != TransactionState::Open) return;
  if (savepoints_.empty()) end();
  state_ = TransactionState::Failed;
}

void Transaction::add_savepoint(const std::string& name) {
  check_is_one("SAVEPOINT");
  savepoints_.push_back({name, is_read_only_, writer_ != nullptr ? writer_->savepoint() : nullptr});
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
  if (savepoint.changes != nullptr)
    writer_->rollback_to(*savepoint.changes);
  else
    writer_.reset();
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
  writer_.reset();
}

std::shared_ptr<const CatalogSnapshot> Transaction::catalog() {
  if (state_ != TransactionState::Open) return store_.snapshot();
  has_queried_ = true;
  if (writer_ != nullptr) return writer_->preview();
  if (isolation_ == Isolation::ReadCommitted) return store_.snapshot();
  if (snapshot_ == nullptr) snapshot_ = store_.snapshot();
  return snapshot_;
}

void Transaction::check_may_write() const {
  if (store_.is_read_only())
    throw Error(SqlState::read_only_sql_transaction, "the database was opened to be read only");
  if (state_ == TransactionState::Open && is_read_only_)
    throw Error(SqlState::read_only_sql_transaction, "tables can't be changed in a read-only transaction");
}

std::shared_ptr<WriteTransaction> Transaction::writer(const WriterWait& wait) {
  check_may_write();
  has_queried_ = true;
  if (writer_ != nullptr) return writer_;
  std::shared_ptr<WriteTransaction> writer = store_.begin_write(wait.cancelled, wait.timeout);
  if (snapshot_ != nullptr && writer->preview()->contents_version() != snapshot_->contents_version())
    throw Error(SqlState::serialization_failure, "could not serialize access due to concurrent update", -1,
                "Others have committed since the transaction's first statement: begin it anew.");
  writer->wait_for_others();
  if (isolation_ == Isolation::RepeatableRead && snapshot_ == nullptr) snapshot_ = writer->preview();
  return writer_ = std::move(writer);
}

Writing::Writing(Transaction& transaction, Store& store, const WriterWait& wait)
    : transaction_(transaction),
      is_own_(transaction.state() == TransactionState::None),
      writer_(is_own_ ? store.begin_write(wait.cancelled, wait.timeout) : transaction.writer(wait)) {}

void Writing::abandon() noexcept {
  if (!is_own_ && transaction_.is_writer(*writer_)) transaction_.fail();
}

void Writing::finish() {
  if (is_own_) return writer_->commit();
  if (!transaction_.is_writer(*writer_)) throw Error(SqlState::invalid_transaction_state, "the transaction has ended");
  writer_->preview();
}

}  // namespace diptych
