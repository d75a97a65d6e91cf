#include "session/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/in_quotes.h"
#include "base/scoped_timer.h"
#include "session/copy.h"
#include "session/parameters.h"
#include "session/session_evaluator.h"
#include "session/statement.h"
#include "tablet/values.h"

namespace diptych {

namespace {

const Type text_type{TypeId::Text};
const Type boolean_type{TypeId::Boolean};

std::shared_ptr<const TabletSource> text_rows(const std::vector<ColumnDefinition>& columns,
                                              const std::vector<Value>& cells) {
  const auto rows = static_cast<int64_t>(cells.size() / columns.size());
  return make_value_source(columns, cells, rows);
}

class CommandRunner {
 public:
  CommandRunner(Connection& connection, Writing* writing, const std::vector<Type>& types,
                const std::vector<Value>& parameters, const TextTimes& times)
      : connection_(connection), writing_(writing), types_(types), parameters_(parameters), times_(times) {}

  CommandResult operator()(LogicalOperatorPtr&) {
    throw Error(SqlState::internal_error, "invariant broken: a query is no command");
  }

  CommandResult operator()(BoundCreateTable& command) {
    if (command.exists) return {};
    std::shared_ptr<const TabletSource> rows;
    if (command.query) rows = run_query(std::move(command.query));
    create_table(command, rows);
    return {nullptr, rows ? rows->row_count() : -1};
  }

  CommandResult operator()(BoundDropTable& command) {
    for (const TableAddress& dropped : command.dropped) {
      WriteTransaction& writer = writer_of(dropped);
      command.drops_views ? writer.drop_view(dropped.name) : writer.drop_table(dropped.name);
    }
    return {};
  }

  CommandResult operator()(BoundCreateView& command) {
    writing_->writer_of(false).create_view(std::move(command.definition), command.replace);
    return {};
  }

  CommandResult operator()(BoundInsert&) {
    throw Error(SqlState::internal_error, "invariant broken: the rows of a query are no command");
  }

  CommandResult operator()(BoundChange& command) {
    check_invariant(command.query == nullptr, "the rows of a query are no command");
    return {nullptr, remove_all(command.table)};
  }

  CommandResult operator()(BoundCopyFrom& command) {
    const int64_t count = copy_from_file(connection_, writer_of(command.table), command);
    return {nullptr, count};
  }

  CommandResult operator()(BoundCopyTo& command) {
    const auto rows = run_query(std::move(command.query));
    return {nullptr, copy_to_file(connection_, command, *rows)};
  }

  CommandResult operator()(BoundExplain& command) {
    LogicalOperatorPtr* query = query_of(*command.statement);
    const std::optional<ExplainedChange> change = change_in(*command.statement);
    if (!query && !change)
      throw Error(SqlState::feature_not_supported, "EXPLAIN of a statement without a query is not supported");
    LogicalOperatorPtr inner = query ? with_values(std::move(*query)) : nullptr;
    std::vector<Value> cells;
    for (std::string& line : explain(connection_, std::move(inner), command, change, writing_, times_))
      cells.push_back(Value::text(std::move(line)));
    return {text_rows(explain_columns(), cells), -1};
  }

  CommandResult operator()(BoundSet& command) {
    connection_.set(command.name, command.value ? &*command.value : nullptr);
    return {};
  }

  CommandResult operator()(BoundShow& command) {
    if (command.name == "tables") return show_tables();
    if (command.name == "views") return show_views();
    if (command.name == "devices") return {text_rows(show_devices_columns(), device_cells(connection_)), -1};
    std::vector<Value> cells;
    if (command.name == "fallbacks") {
      for (const auto& [reason, count] : connection_.database().engines().fallbacks()) {
        cells.push_back(Value::text(reason));
        cells.push_back(Value::bigint(count));
      }
      return {text_rows(show_fallbacks_columns(), cells), -1};
    }
    if (command.name != "all") {
      cells.push_back(Value::text(connection_.settings().text_of(command.name)));
      return {text_rows({{command.name, text_type}}, cells), -1};
    }
    for (const SettingInfo& setting : setting_infos()) {
      cells.push_back(Value::text(setting.name));
      cells.push_back(Value::text(connection_.settings().text_of(setting.name)));
      cells.push_back(Value::text(setting.documentation));
    }
    return {text_rows(show_all_columns(), cells), -1};
  }

  CommandResult operator()(BoundTransaction& command) {
    using What = syntax::Transaction::What;
    TransactionModes modes;
    modes.read_only = command.read_only;
    if (command.repeatable_read)
      modes.isolation = *command.repeatable_read ? Isolation::RepeatableRead : Isolation::ReadCommitted;
    Transaction& transaction = connection_.transaction();
    switch (command.what) {
      case What::Begin: transaction.begin(modes); break;
      case What::Set: transaction.set_modes(modes); break;
      case What::Commit: connection_.commit(); break;
      case What::Rollback: transaction.rollback(); break;
      case What::Savepoint: transaction.add_savepoint(command.savepoint); break;
      case What::Release: transaction.release_savepoint(command.savepoint); break;
      case What::RollbackTo: transaction.rollback_to(command.savepoint); break;
    }
    return {};
  }

  CommandResult operator()(BoundCheckpoint&) {
    connection_.checkpoint();
    return {};
  }

  CommandResult operator()(BoundDescribe& command) {
    const TableDefinition& table = command.definition;
    std::vector<Value> cells;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const TableColumn& column = table.columns[i];
      const bool is_key = std::count(table.primary_key.begin(), table.primary_key.end(), i) > 0;
      cells.push_back(Value::text(column.name));
      cells.push_back(Value::text(column.type.name()));
      cells.push_back(Value::boolean(!column.not_null));
      cells.push_back(Value::boolean(is_key));
      cells.push_back(column.default_sql.empty() ? Value::null(text_type) : Value::text(column.default_sql));
    }
    return {text_rows(describe_columns(), cells), -1};
  }

  static std::vector<ColumnDefinition> returned_columns(const LogicalOperatorPtr& query,
                                                        const std::optional<size_t>& first) {
    std::vector<ColumnDefinition> columns = first ? output_columns(*query) : std::vector<ColumnDefinition>();
    columns.erase(columns.begin(), columns.begin() + static_cast<ptrdiff_t>(first.value_or(0)));
    return columns;
  }

  static std::vector<ColumnDefinition> show_all_columns() {
    return {{"name", text_type}, {"setting", text_type}, {"description", text_type}};
  }

  static std::vector<ColumnDefinition> show_devices_columns() {
    return {{"device", text_type},    {"name", text_type},   {"memory", text_type},
            {"bandwidth", text_type}, {"driver", text_type}, {"unusable", text_type}};
  }

  static std::vector<ColumnDefinition> show_fallbacks_columns() {
    return {{"reason", text_type}, {"count", Type{TypeId::BigInt}}};
  }

  static std::vector<ColumnDefinition> show_views_columns() {
    return {{"name", text_type}, {"columns", text_type}, {"query", text_type}};
  }

  static std::vector<ColumnDefinition> explain_columns() { return {{"QUERY PLAN", text_type}}; }

  static std::vector<ColumnDefinition> describe_columns() {
    return {{"column_name", text_type},
            {"column_type", text_type},
            {"nullable", boolean_type},
            {"primary_key", boolean_type},
            {"column_default", text_type}};
  }

 private:
  WriteTransaction& writer_of(const TableAddress& table) const { return writing_->writer_of(table.is_temporary); }

  LogicalOperatorPtr with_values(LogicalOperatorPtr query) {
    SessionEvaluator evaluator(connection_);
    replace_parameters(query, typed_values(types_, parameters_, evaluator));
    return query;
  }

  // rows: null: it is empty.
  void create_table(const BoundCreateTable& command, const std::shared_ptr<const TabletSource>& rows) {
    const TableAddress table{command.definition.name, command.definition.is_temporary};
    if (command.replaces) writer_of(table).drop_table(table.name);
    writer_of(table).create_table(command.definition);
    if (rows)
      append_rows(writer_of(table), table.name, rows, 0, rows->columns().size(), connection_.execution_context());
  }

  // Says how many there were.
  int64_t remove_all(const TableAddress& table) {
    WriteTransaction& writer = writer_of(table);
    const int64_t count = writer.preview()->find_table(table.name)->live_rows();
    writer.truncate(table.name);
    return count;
  }

  // Nothing: it changes no table.
  std::optional<ExplainedChange> change_in(BoundStatement& statement) {
    if (auto* create = std::get_if<BoundCreateTable>(&statement.statement)) {
      if (!create->query) return std::nullopt;
      const auto make = [this, create](const std::shared_ptr<const TabletSource>& rows, ChangeTimes& times) {
        const ScopedTimer timer(times.store_nanoseconds);
        create_table(*create, rows);
        return rows->row_count();
      };
      const std::string& name = create->definition.name;
      return ExplainedChange{"create", "Create table " + name, name, make};
    }
    const std::optional<RowChange> change = row_change_of(statement);
    if (!change) return removal_in(statement);
    const auto make = [this, change = *change](std::shared_ptr<const TabletSource> rows, ChangeTimes& times) {
      return change_rows(writer_of(change.table), change, rows, connection_.execution_context(), times);
    };
    const std::string& name = change->table.name;
    if (!change->erases) return ExplainedChange{"insert", "Insert into " + name, name, make};
    if (!change->stores) return ExplainedChange{"delete", "Delete from " + name, name, make};
    std::vector<std::string> columns;
    for (size_t i = 0; i < change->unchanged.size(); ++i)
      if (!change->unchanged[i]) columns.push_back(output_columns(**query_of(statement))[i + 1].name);
    return ExplainedChange{"update", fmt::format("Update {} [{}]", name, fmt::join(columns, ", ")), name, make};
  }

  // Of all rows.
  std::optional<ExplainedChange> removal_in(const BoundStatement& statement) {
    const auto* change = std::get_if<BoundChange>(&statement.statement);
    if (!change) return std::nullopt;
    const auto make = [this, change](const std::shared_ptr<const TabletSource>&, ChangeTimes& times) {
      const ScopedTimer timer(times.erase_nanoseconds);
      return remove_all(change->table);
    };
    const auto catalog = writing_ != nullptr ? writing_->catalog() : connection_.transaction().catalog();
    const std::string& name = change->table.name;
    return ExplainedChange{"delete", "Delete all rows of " + name, name, make,
                           find_table(*catalog, change->table)->live_rows()};
  }

  std::shared_ptr<const TabletSource> run_query(LogicalOperatorPtr query) {
    return Statement(connection_, with_values(std::move(query))).run();
  }

  CommandResult show_tables() {
    std::vector<Value> cells;
    for (const std::string& name : connection_.transaction().catalog()->table_names())
      cells.push_back(Value::text(name));
    return {text_rows({{"name", text_type}}, cells), -1};
  }

  CommandResult show_views() {
    const auto catalog = connection_.transaction().catalog();
    std::vector<Value> cells;
    for (const std::string& name : catalog->view_names()) {
      const ViewDefinition& view = *catalog->find_view(name);
      std::string columns;
      for (const std::string& column : view.columns) columns += (columns.empty() ? "" : ", ") + in_quotes(column, '"');
      for (const std::string& text : {name, columns, view.sql}) cells.push_back(Value::text(text));
    }
    return {text_rows(show_views_columns(), cells), -1};
  }

  Connection& connection_;
  Writing* writing_;
  const std::vector<Type>& types_;
  const std::vector<Value>& parameters_;
  const TextTimes& times_;
};

}  // namespace

std::vector<ColumnDefinition> command_columns(const BoundStatement& statement) {
  if (std::holds_alternative<BoundExplain>(statement.statement)) return CommandRunner::explain_columns();
  if (std::holds_alternative<BoundDescribe>(statement.statement)) return CommandRunner::describe_columns();
  if (const auto* insert = std::get_if<BoundInsert>(&statement.statement))
    return CommandRunner::returned_columns(insert->query, insert->returned);
  if (const auto* change = std::get_if<BoundChange>(&statement.statement))
    return CommandRunner::returned_columns(change->query, change->returned);
  const auto* show = std::get_if<BoundShow>(&statement.statement);
  if (!show) return {};
  if (show->name == "all") return CommandRunner::show_all_columns();
  if (show->name == "devices") return CommandRunner::show_devices_columns();
  if (show->name == "views") return CommandRunner::show_views_columns();
  if (show->name == "fallbacks") return CommandRunner::show_fallbacks_columns();
  return {{show->name == "tables" ? "name" : show->name, text_type}};
}

namespace {

// The statement that EXPLAIN ANALYZE runs, or the statement itself.
const syntax::Statement& what_runs(const syntax::Statement& statement) {
  const auto* explain = std::get_if<syntax::Explain>(&statement.node);
  return explain && explain->analyze && !explain->kernel ? *explain->statement : statement;
}

}  // namespace

std::vector<syntax::TableName> tables_changed_by(const syntax::Statement& whole) {
  const syntax::Statement& statement = what_runs(whole);
  if (const auto* copy = std::get_if<syntax::Copy>(&statement.node); copy && copy->is_from) return {copy->table};
  if (const auto* insert = std::get_if<syntax::Insert>(&statement.node)) return {insert->table};
  if (const auto* change = std::get_if<syntax::Change>(&statement.node)) return {change->table};
  if (const auto* table = std::get_if<syntax::CreateTable>(&statement.node)) return {table->table};
  if (const auto* view = std::get_if<syntax::CreateView>(&statement.node)) return {view->view};
  if (const auto* drop = std::get_if<syntax::DropTable>(&statement.node)) return drop->tables;
  return {};
}

bool defines_tables(const syntax::Statement& whole) {
  const syntax::Statement& statement = what_runs(whole);
  const auto* table = std::get_if<syntax::CreateTable>(&statement.node);
  const auto* change = std::get_if<syntax::Change>(&statement.node);
  return (table && !table->query) || (change && !change->query) ||
         std::holds_alternative<syntax::CreateView>(statement.node) ||
         std::holds_alternative<syntax::DropTable>(statement.node);
}

bool changes_rows_alone(const syntax::Statement& whole) {
  const syntax::Statement& statement = what_runs(whole);
  const auto* change = std::get_if<syntax::Change>(&statement.node);
  return (change && change->query) || std::holds_alternative<syntax::Insert>(statement.node) ||
         std::holds_alternative<syntax::Copy>(statement.node);
}

bool stores_rows_of_no_table(const syntax::Statement& statement) {
  const auto* insert = std::get_if<syntax::Insert>(&statement.node);
  if (insert == nullptr) return false;
  const syntax::Select* query = insert->query.get();
  return query == nullptr || (query->from.empty() && query->with.empty());
}

bool may_follow_failure(const syntax::Statement& statement) {
  using What = syntax::Transaction::What;
  const auto* command = std::get_if<syntax::Transaction>(&statement.node);
  return command &&
         (command->what == What::Commit || command->what == What::Rollback || command->what == What::RollbackTo);
}

bool is_about_session(const syntax::Statement& statement) {
  return std::holds_alternative<syntax::Set>(statement.node) || std::holds_alternative<syntax::Show>(statement.node) ||
         std::holds_alternative<syntax::Transaction>(statement.node) ||
         std::holds_alternative<syntax::Checkpoint>(statement.node);
}

CommandResult run_command(Connection& connection, Writing* writing, BoundStatement& statement,
                          const std::vector<Value>& parameters, const TextTimes& times) {
  return std::visit(CommandRunner(connection, writing, statement.parameters, parameters, times), statement.statement);
}

}  // namespace diptych
