#include "session/connection.h"

#include <exception>

#include "base/error.h"
#include "base/exit_hold.h"

namespace diptych {

namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

// The database's settings are whatever another connection has made them. Kernels may still be compiled when the process
// ends.
Connection::Connection(Database& database) : database_(database), transaction_(database.store()) {
  ExitHold::note_thread();
  settings_.memory_limit = database.budget().limit();
  settings_.device_memory_limit = database.engines().device_memory_limit();
}

void Connection::set(std::string_view name, const std::string* value) {
  settings_.set(name, value);
  // These are the database's.
  if (name == "memory_limit") database_.budget().set_limit(settings_.memory_limit);
  if (name == "temp_directory") database_.temp().set_directory(settings_.temp_directory);
  if (name == "temp_limit") database_.temp().set_limit(settings_.temp_limit);
  if (name == "device_memory_limit") database_.engines().set_device_memory_limit(settings_.device_memory_limit);
  if (name == "compaction") database_.store().set_compacts_in_background(settings_.compaction == "background");
  if (name == "tablet_rows") {
    database_.store().set_tablet_rows(settings_.tablet_rows);
    transaction_.set_tablet_rows(settings_.tablet_rows);
  }
}

ExecutionContext Connection::execution_context() {
  ExecutionContext context;
  context.threads = static_cast<int>(settings_.threads);
  context.budget = &database_.budget();
  context.pool = &database_.pool();
  context.temp = &database_.temp();
  choice_ = {settings_.device, settings_.residency, settings_.gpu_engine, settings_.fallback, settings_.share_tablets};
  context.devices = &database_.engines();
  context.choice = &choice_;
  context.row_place = settings_.row_place == "file"   ? RowPlace::File
                      : settings_.row_place == "host" ? RowPlace::Host
                                                      : RowPlace::Made;
  context.cancelled = &cancelled_;
  context.progress = &progress_;
  return context;
}

TableAddress Connection::target_of(const syntax::TableName& name) const {
  const bool is_temporary = name.schema == syntax::Schema::None ? transaction_.has_temporary(name.name)
                                                                : name.schema == syntax::Schema::Temporary;
  return {name.name, is_temporary};
}

Writing Connection::begin_write(const std::vector<syntax::TableName>& tables, bool are_rows) {
  check_has_no_appender();
  WriteTargets targets{{}, are_rows};
  for (const syntax::TableName& name : tables) targets.tables.push_back(target_of(name));
  return {transaction_, targets, {&cancelled_, std::chrono::milliseconds(settings_.lock_timeout)}};
}

void Connection::check_may_write(const std::vector<syntax::TableName>& tables) const {
  check_has_no_appender();
  for (const syntax::TableName& name : tables) transaction_.check_may_define(target_of(name).is_temporary);
}

bool Connection::commit_in_group(const std::string& table, uint64_t schema_version,
                                 const std::function<void(WriteTransaction&)>& change) {
  const std::chrono::milliseconds timeout(settings_.lock_timeout);
  if (!database_.store().commit_in_group(schema_version, change, &cancelled_, timeout)) return false;
  const TableAddress changed{table, false};
  note_changes({&changed, 1});
  return true;
}

void Connection::checkpoint() {
  check_has_no_appender();
  if (transaction_.state() != TransactionState::None)
    throw Error(SqlState::active_sql_transaction, "CHECKPOINT cannot run inside a transaction block");
  database_.store().checkpoint(&cancelled_, std::chrono::milliseconds(settings_.lock_timeout));
}

void Connection::commit() {
  check_has_no_appender();
  const std::vector<TableAddress> changed = transaction_.tables_written();
  transaction_.commit();
  note_changes(changed);
}

void Connection::finish(Writing& writing) {
  if (writing.is_finished()) return;
  writing.finish();
  note_changes(writing.own_tables());
}

void Connection::note_changes(std::span<const TableAddress> tables) noexcept {
  Engines& engines = database_.engines();
  if (tables.empty() || !engines.uses_devices()) return;
  try {
    const auto catalog = transaction_.catalog();
    for (const TableAddress& table : tables)
      if (const auto changed = find_table(*catalog, table)) engines.follow(changed);
  } catch (const std::exception&) {
    // Whoever reads the table next finds memory for it, or says so.
  }
}

void Connection::check_has_no_appender() const {
  if (has_appender_)
    throw Error(SqlState::object_in_use, "an appender of this connection is open", -1,
                "Finish or abandon it before the connection writes in another way.");
}

void Connection::start_statement() {
  cancelled_ = false;
  progress_.rows_done = 0;
  progress_.rows_total = 0;
  started_ns_ = now_ns();
}

double Connection::seconds_elapsed() const { return static_cast<double>(now_ns() - started_ns_) * 1e-9; }

}  // namespace diptych
