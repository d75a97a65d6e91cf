// What a store and its transactions share: the current catalog, who may write, and where tablets go.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "storage/store.h"
#include "storage/table_view.h"
#include "storage/tablet_storage.h"

namespace diptych {

// Errors: 57014 once *cancelled, which may be null, is true.
void check_cancelled(const std::atomic<bool>* cancelled);

class StoreState {
 public:
  StoreState(TabletStorage storage, const StoreOptions& options, std::shared_ptr<const CatalogView> catalog)
      : storage(std::move(storage)),
        tablet_rows(options.tablet_rows),
        last_version_(catalog->version()),
        current_(std::move(catalog)) {}

  std::shared_ptr<const CatalogView> current() const;
  // Waits until no one writes. Errors: as Store::begin_write().
  void begin_writing(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout);
  void end_writing() noexcept;
  // A version that no catalog has had, nor one that a transaction showed and gave up. By the writer.
  uint64_t take_version() { return ++last_version_; }
  // Makes a catalog current: durably in a file, together with its root blob. On an error the old one stays. By the
  // writer.
  void commit(TableMap tables, ViewMap views, uint64_t schema_version);

  const TabletStorage storage;
  std::atomic<int64_t> tablet_rows;
  tbb::task_arena arena;  // for tasks of writers, so that waiting for them runs nothing else

 private:
  void set_current(std::shared_ptr<const CatalogView> catalog);

  mutable std::mutex mutex_;
  std::condition_variable writer_gone_;
  bool is_writing_ = false;
  uint64_t last_version_;  // the writer's
  std::shared_ptr<const CatalogView> current_;
};

}  // namespace diptych
