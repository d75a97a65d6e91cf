// The storage of one database: a file, or memory. Opens it, hands out snapshots, commits changes.
//
// Thread safety: all members of Store may be called by many threads; a WriteTransaction belongs to one thread at a
// time, and begin_write() waits until the previous one has ended.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "storage/catalog.h"
#include "tablet/row_batch.h"

namespace diptych {

class FileSystem;
class MemoryBudget;

struct StoreOptions {
  // Row slots of a tablet: a power of two from 64 to 1,048,576. For a file it counts when the file is created; later
  // the file's own value holds for tables that exist, and this one for tables created from now on.
  int64_t tablet_rows = 65536;
  // Whether a thread writes tablets anew that have lost many rows, after commits that deleted some.
  bool compacts_in_background = true;
  // The file is only read, beside other processes that do so, and nothing can be changed.
  bool is_read_only = false;
};

class WriteTransaction {
 public:
  virtual ~WriteTransaction() = default;  // without commit(): nothing has happened
  // What it has changed up to some moment.
  class Savepoint {
   public:
    virtual ~Savepoint() = default;
  };
  // After an error of append(), preview() or commit() the transaction can only be given up, or go back to a savepoint:
  // every other call is 25000.
  // Errors: 42P07 duplicate_table.
  virtual void create_table(TableDefinition definition) = 0;
  // Errors: 42P01 undefined_table.
  virtual void drop_table(std::string_view name) = 0;
  // replace: takes the place of a view of the name. Errors: 42P07 duplicate_table, also where a table has the name.
  virtual void create_view(ViewDefinition definition, bool replace) = 0;
  // Errors: 42P01 undefined_table.
  virtual void drop_view(std::string_view name) = 0;
  // Appends rows to a table that exists in this transaction; the batch has the table's columns in order, already of
  // their types. Encoding and writing go on in the background on several threads; memory in flight is bounded by the
  // budget. Errors: 23502 a NULL in a NOT NULL column, 23505 a key that is there already (at the latest in commit()),
  // 53100, 53200, 58030.
  virtual void append(std::string_view table, const RowBatch& batch) = 0;
  // Rows at positions of the table as preview() has it go, which are in ascending order and each given once; those
  // behind them move up. Errors: 42P01, 57014, those of append().
  virtual void erase(std::string_view table, std::span<const int64_t> positions) = 0;
  // All rows go. Errors: 42P01.
  virtual void truncate(std::string_view table) = 0;
  // From now on preview() has the table as an older snapshot had it, with what the transaction changes, which happens
  // to the latest version, too; erase() raises 40001 for rows that are not there any more. Only before the transaction
  // has changed the table. False: it is not known any more what has become of the rows; then nothing has happened.
  virtual bool see_as_of(const TableSnapshot& older) = 0;
  // What this transaction would make current: for statements that read their own writes. While nothing is changed that
  // is the current snapshot, which stays current until this transaction ends. Errors: those that append() may put off.
  virtual std::shared_ptr<const CatalogSnapshot> preview() = 0;
  // Returns when all that preview() has from others is on the disk, before somebody is told of it who may go on without
  // a commit(). Errors: 53100, 58030 where it never will be: the transaction can only be given up then.
  virtual void wait_for_others() = 0;
  // Where rollback_to() leads back. Errors: as preview().
  virtual std::shared_ptr<const Savepoint> savepoint() = 0;
  // What was changed since is given up. It also makes a transaction usable again that has failed. Errors: 25000 it has
  // ended.
  virtual void rollback_to(const Savepoint& savepoint) = 0;
  // Makes everything durable and current, or throws and leaves everything as it was. The next writer may then begin.
  virtual void commit() = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // Opens or creates the database file; one that is only read must be there. Errors: 58030, 58P01, XX001 data_corrupted
  // with the place, 55006 in use by another process. The file system, the budget and the path's directory must outlive
  // the store.
  static std::unique_ptr<Store> open_file(FileSystem& files, MemoryBudget& budget, const std::string& path,
                                          const StoreOptions& options);
  static std::unique_ptr<Store> open_memory(MemoryBudget& budget, const StoreOptions& options);

  // In memory, for the temporary tables of a connection: their tablets have other ids than those of this store, which
  // outlives it.
  virtual std::unique_ptr<Store> open_temporary() const = 0;

  virtual bool is_read_only() const = 0;
  virtual std::shared_ptr<const CatalogSnapshot> snapshot() const = 0;
  // Waits until no one else writes. Errors: 25006 in one that is only read; 57014 once *cancelled, which may be null
  // and outlives the transaction, is true while it waits; 55P03 when it has waited for so long; 0: there is no limit.
  virtual std::unique_ptr<WriteTransaction> begin_write(const std::atomic<bool>* cancelled = nullptr,
                                                        std::chrono::milliseconds timeout = {}) = 0;
  // Makes a change as a transaction of its own, perhaps by another thread and in one commit with changes of others. It
  // may be called again where that failed, and appends rows to tables of the catalog, and nothing else. False: what
  // tables there are is not as in that schema_version; nothing has happened then. Errors: as begin_write(), those of
  // the change and of WriteTransaction::commit().
  virtual bool commit_in_group(uint64_t schema_version, const std::function<void(WriteTransaction&)>& change,
                               const std::atomic<bool>* cancelled = nullptr,
                               std::chrono::milliseconds timeout = {}) = 0;
  // Row slots of tablets of tables created from now on.
  virtual void set_tablet_rows(int64_t rows) = 0;
  // See StoreOptions.
  virtual void set_compacts_in_background(bool compacts) = 0;
  // Writes tablets anew that have lost many rows, and in a file a header, so that its log is empty and the space of
  // what is no longer needed is free. Waits until no one else writes. Errors: as begin_write(), 53100, 53200, 58030,
  // XX001; nothing is lost then.
  virtual void checkpoint(const std::atomic<bool>* cancelled = nullptr, std::chrono::milliseconds timeout = {}) = 0;
  // Reads and checks every page of the file against its checksum. Errors: XX001 with the place.
  virtual void verify() const = 0;
};

}  // namespace diptych
