// One user of a database: its settings, and the statement it runs at the moment.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/settings.h"
#include "engine/engine.h"
#include "session/database.h"
#include "session/plan_cache.h"
#include "session/transaction.h"
#include "sql/parse_cache.h"

namespace diptych {

class Statement;

// Thread safety: for one thread at a time, but for interrupt() and progress(), which any thread may call.
class Connection {
 public:
  explicit Connection(Database& database);

  Database& database() { return database_; }
  Settings& settings() { return settings_; }

  // Sets or, without a value, resets a setting. Errors: 42704, 22023.
  void set(std::string_view name, const std::string* value);
  ParseCache& parse_cache() { return parse_cache_; }
  PlanCache& plan_cache() { return plan_cache_; }
  // What a statement may use, by the settings.
  ExecutionContext execution_context();
  Transaction& transaction() { return transaction_; }
  // Which table or view a name means that is to be changed; it need not exist.
  TableAddress target_of(const syntax::TableName& name) const;
  // Waits for the writers of other connections. tables: those that are to be changed, their rows or themselves. Errors:
  // 55006 when an appender of this connection is open, which would be waited for without end; 25006, 40001, 55P03,
  // 57014.
  Writing begin_write(const std::vector<syntax::TableName>& tables, bool are_rows);
  // Of what begin_write() refuses, what it would not wait for. Errors: 25006, 55006.
  void check_may_write(const std::vector<syntax::TableName>& tables) const;
  // Of a statement that is a transaction of its own, and a change of a table that is not temporary: as
  // Store::commit_in_group(), and tells devices.
  bool commit_in_group(const std::string& table, uint64_t schema_version,
                       const std::function<void(WriteTransaction&)>& change);
  // As Store::checkpoint(). Errors: 25001 in a transaction; 55006 as begin_write().
  void checkpoint();
  // Of a statement whose changes are made, if it was not called before: as Writing::finish(), and tells devices of
  // tables that this has committed. Errors: as there.
  void finish(Writing& writing);
  // Ends the transaction. Errors: 55006 when an appender of this connection is open; as Transaction::commit().
  void commit();
  // Whether an appender of this connection is open. Any thread.
  void set_has_appender(bool has_appender) { has_appender_ = has_appender; }

  // Ends the running statement with 57014 at its next block boundary.
  void interrupt() { cancelled_ = true; }
  const Progress& progress() const { return progress_; }
  // Seconds since the running or last statement started.
  double seconds_elapsed() const;
  // Called when a statement starts: forgets an older interrupt and counts progress from zero.
  void start_statement();

 private:
  void check_has_no_appender() const;
  // Tells devices of tables that a commit has changed. That is done, so this has no errors.
  void note_changes(std::span<const TableAddress> tables) noexcept;

  Database& database_;
  Settings settings_;
  ParseCache parse_cache_;
  PlanCache plan_cache_;
  Transaction transaction_;
  PlacementChoice choice_;
  std::atomic<bool> has_appender_{false};
  std::atomic<bool> cancelled_{false};
  Progress progress_;
  std::atomic<int64_t> started_ns_{0};
};

}  // namespace diptych
