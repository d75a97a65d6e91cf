#include "storage/store.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/file_system.h"
#include "base/memory_budget.h"
#include "storage/change_record.h"
#include "storage/file/catalog_format.h"
#include "storage/group_commit.h"
#include "storage/store_state.h"
#include "storage/write_transaction.h"

namespace diptych {

namespace {

// A process that changes little has no log: two syncs a commit are less than what it takes to make one and to end it.
constexpr int commits_before_log = 3;
// Beyond them a commit writes a header, so that opening a file does little again, and fragments take little memory.
int64_t most_log_bytes(const MemoryBudget& budget) { return std::min(int64_t{16} << 20, budget.limit() / 16); }

Checkpoint checkpoint_of(const DatabaseFile& file) {
  return {.sequence = file.header().sequence, .checksum = file.header().root.checksum};
}

}  // namespace

void check_cancelled(const std::atomic<bool>* cancelled) {
  if (cancelled && *cancelled) throw Error(SqlState::query_canceled, "canceling statement due to user request");
}

void check_lock_timeout(std::chrono::steady_clock::time_point start, std::chrono::milliseconds timeout) {
  if (timeout.count() > 0 && std::chrono::steady_clock::now() - start >= timeout)
    throw Error(SqlState::lock_not_available, "canceling statement due to lock timeout", -1,
                "Another connection changes tables; its transaction has not ended yet.");
}

std::shared_ptr<const CatalogView> StoreState::current() const {
  std::lock_guard guard(mutex_);
  return current_;
}

std::shared_ptr<const CatalogView> StoreState::checkpoint() const {
  const std::lock_guard guard(mutex_);
  return checkpoint_;
}

void StoreState::set_current(std::shared_ptr<const CatalogView> catalog) {
  // The old catalog is destroyed after the lock is given up: that may free much.
  std::lock_guard guard(mutex_);
  current_.swap(catalog);
}

void StoreState::begin_writing(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) {
  turn_.begin(cancelled, timeout);
  if (!storage.writes_file()) return;
  try {
    give_up_lost();
    // Before any page is taken: those of a state whose commit failed are free here, but the disk may still hold its
    // header.
    storage.file->settle();
  } catch (...) {
    end_writing();
    throw;
  }
}

int64_t StoreState::latest_place() const {
  if (log_ == nullptr) return 0;
  return has_given_up_ ? log_->durable() : log_->end();
}

void StoreState::give_up_lost() {
  has_given_up_ = log_->is_broken();
  if (has_given_up_) latest_ = last_on_disk();
}

void StoreState::end_writing() noexcept {
  if (storage.writes_file() && storage.file->settled()) storage.file->shrink();
  turn_.end();
}

void StoreState::check_latest() const {
  if (log_ != nullptr && log_->is_broken() && latest_ != last_on_disk()) log_->raise_failure();
}

void StoreState::commit(TableMap tables, ViewMap views, uint64_t schema_version) {
  check_latest();
  const uint64_t version = take_version();
  const CatalogVersions versions{version, schema_version};
  if (!storage.writes_file()) {
    latest_ = std::make_shared<CatalogView>(std::move(tables), std::move(views), versions, nullptr);
    return set_current(latest_);
  }
  publish(std::move(tables), std::move(views), versions);
  ++commits_;
}

void StoreState::write_checkpoint() {
  check_latest();
  if (!storage.writes_file() || (latest_ == checkpoint() && !log_->is_broken())) return;
  publish(latest_->tables(), latest_->views(), {take_version(), latest_->schema_version()});
}

void StoreState::publish(TableMap tables, ViewMap views, CatalogVersions versions) {
  write_tables(storage, tables);
  auto root = write_root(*storage.file, tables, views, storage.ids->next());
  auto catalog = std::make_shared<CatalogView>(std::move(tables), std::move(views), versions, root);
  storage.file->publish(root->reference());
  latest_ = catalog;
  {
    const std::lock_guard guard(mutex_);
    checkpoint_ = catalog;
  }
  set_current(std::move(catalog));
  logged_.clear();
  log_->restart(checkpoint_of(*storage.file), latest_place());
}

bool StoreState::may_log(size_t record_bytes) const {
  return storage.writes_file() && commits_ >= commits_before_log &&
         storage.file->header().version == file_format_version && !log_->is_broken() &&
         log_->bytes() + static_cast<int64_t>(record_bytes) <= most_log_bytes(storage.budget);
}

LoggedCommit StoreState::log(std::span<const std::byte> record, TableMap tables, ViewMap views,
                             uint64_t schema_version) {
  const uint64_t version = take_version();
  auto catalog = std::make_shared<CatalogView>(std::move(tables), std::move(views),
                                               CatalogVersions{version, schema_version}, nullptr);
  const uint64_t current_version = current()->version();
  std::erase_if(logged_, [&](const LoggedCommit& one) { return one.catalog->version() <= current_version; });
  logged_.reserve(logged_.size() + 1);
  const int64_t place = log_->append(record);
  latest_ = catalog;
  logged_.push_back({catalog, place});
  return {std::move(catalog), place};
}

std::shared_ptr<const CatalogView> StoreState::last_on_disk() const {
  std::shared_ptr<const CatalogView> last = current();
  const int64_t durable = log_->durable();
  for (const LoggedCommit& commit : logged_)
    if (commit.place <= durable && commit.catalog->version() > last->version()) last = commit.catalog;
  return last;
}

LoggedCommit StoreState::put_tablets(TableMap tables) {
  const CatalogVersions versions{take_version(), latest_->schema_version()};
  latest_ = std::make_shared<CatalogView>(std::move(tables), latest_->views(), versions, nullptr);
  return {latest_, latest_place()};
}

void StoreState::wait_for(const LoggedCommit& commit) {
  if (log_ != nullptr) log_->wait_for(commit.place);
  std::shared_ptr<const CatalogView> catalog = commit.catalog;
  const std::lock_guard guard(mutex_);
  if (current_->version() < catalog->version()) current_.swap(catalog);
}

void StoreState::close() noexcept {
  compactor_.stop();
  if (!storage.writes_file()) return;
  try {
    give_up_lost();
    if (latest_ != checkpoint() || log_->is_broken()) {
      storage.file->settle();
      write_checkpoint();
    }
    log_->remove();
  } catch (const std::exception&) {
    // The log has it all.
  }
}

namespace {

void check_options(const StoreOptions& options) {
  int64_t rows = options.tablet_rows;
  if (rows < 64 || rows > (1 << 20) || (rows & (rows - 1)) != 0) {
    throw Error(SqlState::invalid_parameter_value, "tablet_rows is a power of two from 64 to 1048576");
  }
}

// What was committed since the file's header was written, as one commit that writes the next one.
void do_again(const std::vector<std::vector<std::byte>>& records, StoreState& state) {
  StoredTransaction transaction(state, nullptr, {});
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string what = CommitLog::path_of(state.storage.file->path()) + ", record " + std::to_string(i + 1);
    diptych::do_again(records[i], what, transaction, *state.latest());
  }
  transaction.commit();
}

class StoredDatabase final : public Store {
 public:
  explicit StoredDatabase(std::unique_ptr<StoreState> state) : state_(std::move(state)) {}
  ~StoredDatabase() override { state_->close(); }

  std::unique_ptr<Store> open_temporary() const override {
    return in_memory(state_->storage.budget, state_->storage.ids, {.tablet_rows = state_->tablet_rows});
  }

  static std::unique_ptr<Store> in_memory(MemoryBudget& budget, std::shared_ptr<TabletIds> ids,
                                          const StoreOptions& options) {
    return std::make_unique<StoredDatabase>(
        std::make_unique<StoreState>(TabletStorage{budget, nullptr, nullptr, std::move(ids)}, nullptr, options,
                                     std::make_shared<CatalogView>(TableMap{}, ViewMap{}, CatalogVersions{}, nullptr)));
  }

  bool is_read_only() const override { return state_->storage.is_read_only; }
  std::shared_ptr<const CatalogSnapshot> snapshot() const override { return state_->current(); }

  std::unique_ptr<WriteTransaction> begin_write(const std::atomic<bool>* cancelled,
                                                std::chrono::milliseconds timeout) override {
    check_may_write();
    return std::make_unique<StoredTransaction>(*state_, cancelled, timeout);
  }

  bool commit_in_group(uint64_t schema_version, const std::function<void(WriteTransaction&)>& change,
                       const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) override {
    check_may_write();
    return group_.commit(schema_version, change, cancelled, timeout);
  }

  void set_tablet_rows(int64_t rows) override {
    check_options({.tablet_rows = rows});
    state_->tablet_rows = rows;
  }

  void set_compacts_in_background(bool compacts) override { state_->compactor().set_in_background(compacts); }

  void checkpoint(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) override {
    check_may_write();
    state_->compactor().run(cancelled, timeout);
  }

  void verify() const override {
    if (!state_->storage.file) return;
    auto catalog = state_->current();
    state_->storage.file->verify_headers();
    verify_catalog(*state_->storage.file, *state_->checkpoint());
    for (const auto& [name, table] : catalog->tables()) table->verify();
  }

 private:
  void check_may_write() const {
    if (is_read_only()) throw Error(SqlState::read_only_sql_transaction, "the database was opened to be read only");
  }

  std::unique_ptr<StoreState> state_;
  GroupCommit group_{*state_};
};

}  // namespace

std::unique_ptr<Store> Store::open_file(FileSystem& files, MemoryBudget& budget, const std::string& path,
                                        const StoreOptions& options) {
  check_options(options);
  const bool is_read_only = options.is_read_only;
  std::shared_ptr<DatabaseFile> file =
      is_read_only ? DatabaseFile::open_to_read(files, path) : DatabaseFile::open(files, path);
  auto buffer = std::make_shared<TabletBuffer>(budget, file);
  auto ids = std::make_shared<TabletIds>();
  auto catalog = read_catalog(*file, buffer, *ids);
  auto log = std::make_unique<CommitLog>(files, path, is_read_only);
  // There is nothing to change in an empty database: the log is of another one that was here.
  if (catalog->tables().empty() && !is_read_only) log->remove();
  const auto records = log->read(checkpoint_of(*file));
  auto state = std::make_unique<StoreState>(TabletStorage{budget, file, buffer, std::move(ids), is_read_only},
                                            std::move(log), options, std::move(catalog));
  if (!records.empty()) do_again(records, *state);
  return std::make_unique<StoredDatabase>(std::move(state));
}

std::unique_ptr<Store> Store::open_memory(MemoryBudget& budget, const StoreOptions& options) {
  check_options(options);
  return StoredDatabase::in_memory(budget, std::make_shared<TabletIds>(), options);
}

}  // namespace diptych
