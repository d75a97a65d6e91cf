// The transaction of a connection: from BEGIN to COMMIT or ROLLBACK; without one every statement is its own.
//
//   None --BEGIN--> Open --a statement fails--> Failed
//    ^               |                            |
//    '----COMMIT-----'-----------ROLLBACK---------'    COMMIT of what has failed rolls back, too
//                    ^------ROLLBACK TO a savepoint
//
// Statements see what others had committed when they began (READ COMMITTED), or when the first of them did (REPEATABLE
// READ, which is snapshot isolation), and what the transaction has changed. Readers wait for nobody. The first
// statement that changes something waits for others who do; from then on the transaction is the one writer, until it
// ends. Under REPEATABLE READ it changes only rows that nobody else has changed since its snapshot.
//
// Temporary tables are in a store of the connection's own, and are a part of the transaction as all others.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/visible_catalog.h"
#include "storage/store.h"

namespace diptych {

enum class TransactionState : uint8_t { None, Open, Failed };
enum class Isolation : uint8_t { ReadCommitted, RepeatableRead };

// What BEGIN and SET TRANSACTION say.
struct TransactionModes {
  std::optional<Isolation> isolation;
  std::optional<bool> read_only;
};

// The tables or views that a statement changes, or makes.
struct WriteTargets {
  std::vector<TableAddress> tables;
  bool are_rows = false;  // rows are changed, not what tables and views there are

  bool have(bool temporary) const;
};

// How long a statement waits for others who write.
struct WriterWait {
  const std::atomic<bool>* cancelled = nullptr;
  std::chrono::milliseconds timeout{};
};

// Of the tables that all connections see, and of temporary ones; null: none of them is changed.
struct Writers {
  std::shared_ptr<WriteTransaction> permanent, temporary;

  bool operator==(const Writers&) const = default;
};

// Thread safety: as its connection's.
class Transaction {
 public:
  explicit Transaction(Store& store) : store_(store) {}

  TransactionState state() const { return state_; }
  // What now() is: when the transaction began, in microseconds since 2000-01-01, as SQL's timestamps count; without
  // one, the time.
  int64_t now() const;
  // Of one that is open already the modes change, as in PostgreSQL. Errors: as set_modes().
  void begin(const TransactionModes& modes);
  // Without an open one nothing happens. Errors: 25001 behind its first query.
  void set_modes(const TransactionModes& modes);
  // Makes its changes durable and current. Without an open one nothing happens; one that has failed is rolled back.
  // Errors: those of WriteTransaction::commit(), which end it without a change.
  void commit();
  void rollback() noexcept;
  // A statement of it has ended with an error: what it has changed is given up at once, unless there is a savepoint.
  void fail() noexcept;

  // Of several of a name the last counts. Errors: 25P01 without a transaction; of the last two 3B001, too.
  void add_savepoint(const std::string& name);
  void release_savepoint(const std::string& name);
  // What came after it is given up, but not itself; a transaction that has failed is open again.
  void rollback_to(const std::string& name);

  // The tables that a statement sees which begins now.
  std::shared_ptr<const CatalogSnapshot> catalog();
  // What a statement sees that changes tables by the writers, as a transaction of its own.
  std::shared_ptr<const CatalogSnapshot> catalog_of(const Writers& writers);
  bool has_temporary(std::string_view name) const;
  // Row slots of tablets of temporary tables created from now on.
  void set_tablet_rows(int64_t rows);
  // Errors: 25006 the transaction is read only, or the database, unless the tables are temporary.
  void check_may_define(bool are_temporary) const;
  // Writers for changes that are a transaction of their own; waits for others who write.
  // Errors: 25006, 55P03, 57014.
  Writers begin_write(const WriteTargets& targets, const WriterWait& wait);
  // The same for changes that are a part of the open transaction. Errors: also 40001.
  const Writers& write(const WriteTargets& targets, const WriterWait& wait);
  // Tables and views that statements of the open transaction were to change.
  const std::vector<TableAddress>& tables_written() const { return written_; }
  // Whether they are what it will commit.
  bool are_writers(const Writers& writers) const { return writers_ == writers; }

 private:
  struct Savepoint {
    std::string name;
    bool is_read_only = false;
    std::shared_ptr<const WriteTransaction::Savepoint> permanent, temporary;  // null: it had no writer
    NameSet changed;
  };
  size_t find_savepoint(const std::string& name) const;
  void check_is_one(const char* command) const;
  void check_may_write_permanent() const;
  void end() noexcept;
  std::shared_ptr<WriteTransaction> begin_permanent(const WriterWait& wait);
  std::shared_ptr<WriteTransaction> begin_temporary(const WriterWait& wait);
  // Where others have committed since the snapshot: the writer will change rows that are as the snapshot has them.
  // Errors: 40001.
  void prepare_targets(const WriteTargets& targets, WriteTransaction& writer) const;
  // What an open transaction sees but for temporary tables.
  std::shared_ptr<const CatalogSnapshot> permanent_catalog();
  std::shared_ptr<const CatalogSnapshot> with_temporary(std::shared_ptr<const CatalogSnapshot> permanent,
                                                        WriteTransaction* temporary);

  Store& store_;
  TransactionState state_ = TransactionState::None;
  Isolation isolation_ = Isolation::ReadCommitted;
  bool is_read_only_ = false;
  bool has_queried_ = false;
  int64_t began_at_ = 0;
  std::shared_ptr<const CatalogSnapshot> snapshot_;  // REPEATABLE READ, after its first statement
  std::unique_ptr<Store> temporary_;                 // null: there have been no temporary tables
  Writers writers_;
  std::vector<TableAddress> written_;
  bool is_behind_ = false;  // others have committed between snapshot_ and what the writer goes on from
  NameSet changed_;         // where it is: tables and views that it sees as the writer has them
  VersionNumbers versions_, schema_versions_, changed_versions_, changed_schema_versions_;
  std::vector<Savepoint> savepoints_;
};

// The way in which one statement, or an appender, changes tables: as a part of the connection's transaction, or as a
// transaction of its own.
class Writing {
 public:
  // Errors: as Transaction::write().
  Writing(Transaction& transaction, const WriteTargets& targets, const WriterWait& wait);

  WriteTransaction& writer_of(bool is_temporary) const {
    return is_temporary ? *writers_.temporary : *writers_.permanent;
  }
  // The tables as the statement sees them, with what it has changed.
  std::shared_ptr<const CatalogSnapshot> catalog() const;
  // Of its own it is committed; else what a statement has to refuse is refused now. Errors: 25000 the transaction has
  // ended meanwhile; those of WriteTransaction::commit() and preview().
  void finish();
  // Without an error.
  bool is_finished() const { return is_finished_; }
  // The tables that are changed, where that is a transaction of its own.
  const std::vector<TableAddress>& own_tables() const { return own_tables_; }
  // What it has changed is not wanted: the connection's transaction fails, which can't give up a part of it.
  void abandon() noexcept;

 private:
  Transaction& transaction_;
  const bool is_own_;
  const std::vector<TableAddress> own_tables_;
  const Writers writers_;
  bool is_finished_ = false;
};

}  // namespace diptych
