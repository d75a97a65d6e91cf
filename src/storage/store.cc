#include "storage/store.h"

#include <chrono>

#include "base/error.h"
#include "base/file_system.h"
#include "storage/file/catalog_format.h"
#include "storage/store_state.h"
#include "storage/write_transaction.h"

namespace diptych {

namespace {

// How often a thread that waits to write looks whether it is to give up.
constexpr std::chrono::milliseconds cancel_check_interval{10};

}  // namespace

void check_cancelled(const std::atomic<bool>* cancelled) {
  if (cancelled && *cancelled) throw Error(SqlState::query_canceled, "canceling statement due to user request");
}

std::shared_ptr<const CatalogView> StoreState::current() const {
  std::lock_guard guard(mutex_);
  return current_;
}

void StoreState::set_current(std::shared_ptr<const CatalogView> catalog) {
  // The old catalog is destroyed after the lock is given up: that may free much.
  std::lock_guard guard(mutex_);
  current_.swap(catalog);
}

void StoreState::begin_writing(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  {
    std::unique_lock guard(mutex_);
    while (!writer_gone_.wait_for(guard, cancel_check_interval, [this] { return !is_writing_; })) {
      check_cancelled(cancelled);
      if (timeout.count() > 0 && std::chrono::steady_clock::now() - start >= timeout)
        throw Error(SqlState::lock_not_available, "canceling statement due to lock timeout", -1,
                    "Another connection changes tables; its transaction has not ended yet.");
    }
    is_writing_ = true;
  }
  if (!storage.file) return;
  // Before any page is taken: those of a state whose commit failed are free here, but the disk may still hold its
  // header.
  try {
    storage.file->settle();
  } catch (...) {
    end_writing();
    throw;
  }
}

void StoreState::end_writing() noexcept {
  if (storage.file && storage.file->settled()) storage.file->shrink();
  {
    std::lock_guard guard(mutex_);
    is_writing_ = false;
  }
  writer_gone_.notify_one();
}

void StoreState::commit(TableMap tables, ViewMap views, uint64_t schema_version) {
  const uint64_t version = take_version();
  if (!storage.file) {
    set_current(std::make_shared<CatalogView>(std::move(tables), std::move(views), version, schema_version, nullptr));
    return;
  }
  auto root = write_root(*storage.file, tables, views, storage.ids->next());
  auto catalog = std::make_shared<CatalogView>(std::move(tables), std::move(views), version, schema_version, root);
  storage.file->publish(root->reference());
  set_current(std::move(catalog));
}

namespace {

void check_options(const StoreOptions& options) {
  int64_t rows = options.tablet_rows;
  if (rows < 64 || rows > (1 << 20) || (rows & (rows - 1)) != 0) {
    throw Error(SqlState::invalid_parameter_value, "tablet_rows is a power of two from 64 to 1048576");
  }
}

class StoredDatabase final : public Store {
 public:
  explicit StoredDatabase(std::unique_ptr<StoreState> state) : state_(std::move(state)) {}

  std::shared_ptr<const CatalogSnapshot> snapshot() const override { return state_->current(); }

  std::unique_ptr<WriteTransaction> begin_write(const std::atomic<bool>* cancelled,
                                                std::chrono::milliseconds timeout) override {
    return std::make_unique<StoredTransaction>(*state_, cancelled, timeout);
  }

  void set_tablet_rows(int64_t rows) override {
    check_options({.tablet_rows = rows});
    state_->tablet_rows = rows;
  }

  void verify() const override {
    if (!state_->storage.file) return;
    auto catalog = state_->current();
    state_->storage.file->verify_headers();
    verify_catalog(*state_->storage.file, *catalog);
    for (const auto& [name, table] : catalog->tables()) table->verify();
  }

 private:
  std::unique_ptr<StoreState> state_;
};

}  // namespace

std::unique_ptr<Store> Store::open_file(FileSystem& files, MemoryBudget& budget, const std::string& path,
                                        const StoreOptions& options) {
  check_options(options);
  std::shared_ptr<DatabaseFile> file = DatabaseFile::open(files, path);
  auto buffer = std::make_shared<TabletBuffer>(budget, file);
  auto ids = std::make_shared<TabletIds>();
  auto catalog = read_catalog(*file, buffer, *ids);
  return std::make_unique<StoredDatabase>(
      std::make_unique<StoreState>(TabletStorage{budget, file, buffer, std::move(ids)}, options, std::move(catalog)));
}

std::unique_ptr<Store> Store::open_memory(MemoryBudget& budget, const StoreOptions& options) {
  check_options(options);
  return std::make_unique<StoredDatabase>(
      std::make_unique<StoreState>(TabletStorage{budget, nullptr, nullptr, std::make_shared<TabletIds>()}, options,
                                   std::make_shared<CatalogView>(TableMap{}, ViewMap{}, 0, 0, nullptr)));
}

}  // namespace diptych
