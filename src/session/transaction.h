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
// ends.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/store.h"

namespace diptych {

enum class TransactionState : uint8_t { None, Open, Failed };
enum class Isolation : uint8_t { ReadCommitted, RepeatableRead };

// What BEGIN and SET TRANSACTION say.
struct TransactionModes {
  std::optional<Isolation> isolation;
  std::optional<bool> read_only;
};

// How long a statement waits for others who write.
struct WriterWait {
  const std::atomic<bool>* cancelled = nullptr;
  std::chrono::milliseconds timeout{};
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
  // Errors: 25006.
  void check_may_write() const;
  // Of an open transaction: the first call waits for others who write. Errors: 25006, 40001, 55P03, 57014.
  std::shared_ptr<WriteTransaction> writer(const WriterWait& wait);
  // Whether what it gave writer() is still what it will commit.
  bool is_writer(const WriteTransaction& writer) const { return writer_.get() == &writer; }

 private:
  struct Savepoint {
    std::string name;
    bool is_read_only = false;
    std::shared_ptr<const WriteTransaction::Savepoint> changes;  // null: it had no writer
  };
  size_t find_savepoint(const std::string& name) const;
  void check_is_one(const char* command) const;
  void end() noexcept;

  Store& store_;
  TransactionState state_ = TransactionState::None;
  Isolation isolation_ = Isolation::ReadCommitted;
  bool is_read_only_ = false;
  bool has_queried_ = false;
  int64_t began_at_ = 0;
  std::shared_ptr<const CatalogSnapshot> snapshot_;  // REPEATABLE READ, after its first statement
  std::shared_ptr<WriteTransaction> writer_;
  std::vector<Savepoint> savepoints_;
};

// The way in which one statement, or an appender, changes tables: as a part of the connection's transaction, or as a
// transaction of its own.
class Writing {
 public:
  // Errors: as Transaction::writer().
  Writing(Transaction& transaction, Store& store, const WriterWait& wait);

  WriteTransaction& operator*() const { return *writer_; }
  WriteTransaction* operator->() const { return writer_.get(); }
  // Of its own it is committed; else what a statement has to refuse is refused now. Errors: 25000 the transaction has
  // ended meanwhile; those of WriteTransaction::commit() and preview().
  void finish();
  // What it has changed is not wanted: the connection's transaction fails, which can't give up a part of it.
  void abandon() noexcept;

 private:
  Transaction& transaction_;
  const bool is_own_;
  std::shared_ptr<WriteTransaction> writer_;
};

}  // namespace diptych
