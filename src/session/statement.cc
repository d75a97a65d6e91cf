#include "session/statement.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/scoped_timer.h"
#include "base/stack.h"
#include "bind/binder.h"
#include "io/data_file.h"
#include "plan/open_plan.h"
#include "session/commands.h"
#include "session/parameters.h"
#include "session/session_evaluator.h"
#include "tablet/memory_source.h"

namespace diptych {

namespace {

std::vector<ColumnDefinition> columns_of(const BoundStatement& statement) {
  const auto* query = std::get_if<LogicalOperatorPtr>(&statement.statement);
  return query ? output_columns(**query) : command_columns(statement);
}

bool reads(LogicalOperatorPtr& query, ScanOf what) {
  bool reads = false;
  run_at_depth(query->depth, [&] {
    for_each_operator(query, [&](const LogicalOperatorPtr& op) { reads = reads || op->scan_of == what; });
  });
  return reads;
}

// Files are opened anew in each run. A change that reads no table has its rows in its text, which hardly comes again.
bool is_lasting(LogicalOperatorPtr& query, bool is_change) {
  return !reads(query, ScanOf::File) && (!is_change || reads(query, ScanOf::Table));
}

// The query that the statement itself plans and runs; null: it is run as a command.
LogicalOperatorPtr* planned_query(BoundStatement& statement) {
  const bool is_planned =
      std::holds_alternative<LogicalOperatorPtr>(statement.statement) || row_change_of(statement).has_value();
  return is_planned ? query_of(statement) : nullptr;
}

bool are_same(const std::vector<ColumnDefinition>& left, const std::vector<ColumnDefinition>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const auto& a, const auto& b) { return a.name == b.name && a.type == b.type; });
}

}  // namespace

const char* name_of(Stage stage) {
  constexpr std::array<const char*, stage_count> names = {"parse", "bind", "plan", "optimize", "compile", "run"};
  return names[static_cast<size_t>(stage)];
}

// Forgets at its end what belongs to one run, however that went.
class Statement::RunEnd {
 public:
  explicit RunEnd(Statement& statement) : statement_(statement) {}
  ~RunEnd() {
    statement_.is_running_ = false;
    statement_.syntax_tree_.reset();  // that of a short text stays in the connection's cache
    statement_.bound_.reset();
    statement_.files_.clear();
    if (statement_.plan_) statement_.connection_.plan_cache().keep(std::move(statement_.plan_));
    statement_.writing_.reset();
  }

 private:
  Statement& statement_;
};

// A transaction fails with the first error of one of its statements.
class Statement::FailureGuard {
 public:
  explicit FailureGuard(Connection& connection) : connection_(connection) {}
  ~FailureGuard() {
    if (std::uncaught_exceptions() > before_) connection_.transaction().fail();
  }

 private:
  Connection& connection_;
  const int before_ = std::uncaught_exceptions();
};

Statement::Statement(Connection& connection, std::string text) : connection_(connection), text_(std::move(text)) {}

Statement::Statement(Connection& connection, LogicalOperatorPtr query, std::optional<PlanKey> key)
    : connection_(connection), given_key_(std::move(key)) {
  description_ = Description{true, true, output_columns(*query), {}, {}};
  bound_ = std::make_unique<BoundStatement>();
  bound_->statement = std::move(query);
  is_running_ = true;
}

Statement::~Statement() {
  if (plan_) connection_.plan_cache().keep(std::move(plan_));
}

bool Statement::is_empty() {
  const FailureGuard guard(connection_);
  return !read();
}

bool Statement::read() {
  if (!syntax_tree_) {
    const ScopedTimer timer(nanoseconds_[static_cast<size_t>(Stage::Parse)]);
    syntax_tree_ = connection_.parse_cache().parse(text_);
  }
  if (syntax_tree_ == nullptr) return false;
  if (connection_.transaction().state() == TransactionState::Failed && !may_follow_failure(*syntax_tree_))
    throw Error(SqlState::in_failed_sql_transaction,
                "current transaction is aborted, commands ignored until end of transaction block", -1,
                "ROLLBACK ends it.");
  // Of other changes after what is wrong with them, as in PostgreSQL.
  if (defines_tables(*syntax_tree_))
    for (const syntax::TableName& name : tables_changed_by(*syntax_tree_))
      connection_.transaction().check_may_define(connection_.target_of(name).is_temporary);
  return true;
}

const syntax::Statement& Statement::syntax_tree() {
  if (!read()) throw Error(SqlState::syntax_error, "there is no statement in this text");
  return *syntax_tree_;
}

const BoundStatement& Statement::bound() {
  if (is_running_) return *bound_;
  begin_writing();
  bind_for_run();
  return *bound_;
}

void Statement::bind_for_run() {
  const auto catalog = this->catalog();
  if (bound_ && bound_version_ == catalog->version() && !bound_->reads_clock)
    take_tables(*bound_, *catalog);
  else
    bind_to(*catalog);
  is_running_ = true;
}

void Statement::begin_writing() {
  if (writing_) return;
  if (const auto changed = tables_changed_by(syntax_tree()); !changed.empty())
    writing_.emplace(connection_.begin_write(changed, changes_rows_alone(*syntax_tree_)));
}

std::shared_ptr<const CatalogSnapshot> Statement::catalog() {
  if (writing_) return writing_->catalog();
  const bool reads_none = syntax_tree_ != nullptr && is_about_session(*syntax_tree_);
  return reads_none ? connection_.database().store().snapshot() : connection_.transaction().catalog();
}

const Statement::Description& Statement::description() {
  const FailureGuard guard(connection_);
  if (!description_) {
    if (connection_.transaction().state() != TransactionState::None) syntax_tree();
    const auto catalog = this->catalog();
    const QueryPlan* known = connection_.plan_cache().find({text_, false, catalog->schema_version(), {}, {}});
    if (known != nullptr) return description_.emplace(description_of(*known));
    bind_to(*catalog);
    release_tables(*bound_);
  }
  return *description_;
}

Statement::Description Statement::description_of(const QueryPlan& plan) {
  return {!plan.change().has_value(), true, plan.columns(), {}, {}};
}

void Statement::bind_to(const CatalogSnapshot& catalog) {
  BoundStatement bound = bind_afresh(catalog, {});
  if (description_ && bound.parameters != description_->parameters)
    bound = bind_afresh(catalog, description_->parameters);
  const std::vector<ColumnDefinition> columns = columns_of(bound);
  if (!description_) {
    parameter_values_.resize(bound.parameters.size());
    const bool is_query = std::holds_alternative<LogicalOperatorPtr>(bound.statement);
    description_ = Description{is_query, planned_query(bound) != nullptr, columns, bound.parameters, {}};
  } else if (!are_same(columns, description_->columns)) {
    throw Error(SqlState::feature_not_supported, "cached plan must not change result type");
  }
  if (LogicalOperatorPtr* query = planned_query(bound))
    description_->of_plan = parameters_of_plan(*query, bound.parameters);
  bound_ = std::make_unique<BoundStatement>(std::move(bound));
  bound_version_ = catalog.version();
  bound_schema_version_ = catalog.schema_version();
}

BoundStatement Statement::bind_afresh(const CatalogSnapshot& catalog, std::vector<Type> parameters) {
  const syntax::Statement& tree = syntax_tree();
  const ScopedTimer timer(nanoseconds_[static_cast<size_t>(Stage::Bind)]);
  const auto open_file = [this](const std::string& path, const FileOptions& options) {
    for (const OpenFile& file : files_)
      if (file.path == path && file.options == options) return file.source;
    const ExecutionContext context = connection_.execution_context();
    files_.push_back(
        {path, options,
         open_file_source({connection_.database().files(), context.temp, context.cancelled}, path, options)});
    return files_.back().source;
  };
  return bind(tree, BindContext{catalog, open_file, connection_.transaction().now(), std::move(parameters)});
}

const LogicalOperator& Statement::logical_plan() {
  if (!plan_) {
    bound();
    const ScopedTimer timer(nanoseconds_[static_cast<size_t>(Stage::Plan)]);
    LogicalOperatorPtr* query = planned_query(*bound_);
    check_invariant(query != nullptr && *query != nullptr, "only queries are planned, and once a run");
    SessionEvaluator evaluator(connection_);
    std::vector<Value> values = typed_values(bound_->parameters, parameter_values(), evaluator);
    std::optional<RowChange> change = row_change_of(*bound_);
    const bool is_kept = !bound_->reads_clock && is_lasting(*query, change.has_value());
    auto key = is_kept ? plan_key(bound_schema_version_, description_->of_plan) : std::nullopt;
    put_values(*query, values, description_->of_plan);
    std::vector<ColumnDefinition> columns = columns_of(*bound_);
    LogicalOperatorPtr plan = std::move(*query);
    open_plan(plan, evaluator);
    plan_ = std::make_unique<QueryPlan>(std::move(key), std::move(change), std::move(columns), std::move(plan),
                                        std::move(values));
  }
  return plan_->plan();
}

const LogicalOperator& Statement::optimized_plan() {
  if (!plan_ && !reuse_plan()) logical_plan();
  if (!plan_->is_optimized()) {
    const ScopedTimer timer(nanoseconds_[static_cast<size_t>(Stage::Optimize)]);
    SessionEvaluator evaluator(connection_);
    plan_->optimize_with(evaluator);
  }
  return plan_->plan();
}

const Program& Statement::program() {
  optimized_plan();
  if (plan_->program() == nullptr) {
    const ScopedTimer timer(nanoseconds_[static_cast<size_t>(Stage::Compile)]);
    SessionEvaluator evaluator(connection_);
    plan_->compile_with(evaluator);
  }
  return *plan_->program();
}

std::shared_ptr<const TabletSource> Statement::run() {
  const FailureGuard guard(connection_);
  const RunEnd end(*this);
  if (std::exchange(was_run_, true)) nanoseconds_ = {};
  rows_changed_ = -1;
  reused_ = Reused::Nothing;
  std::optional<std::shared_ptr<const TabletSource>> rows = insert_in_group();
  if (!rows) {
    if (!reuse_plan()) bound();
    if (is_query()) return run_query(nullptr);
    rows = description_->is_planned ? run_change() : run_as_command();
    if (writing_) connection_.finish(*writing_);
  }
  return *rows ? *rows : std::make_shared<MemorySource>(std::vector<ColumnDefinition>{});
}

std::shared_ptr<const TabletSource> Statement::rows_of_change() {
  if (!plan_) {
    logical_plan();
    std::optional<PickedValues> values = picked_values(plan_->plan());
    if (values && !plan_->change()->returned)
      return pick_columns(std::move(values->source), std::move(values->columns));
  }
  return run_query(nullptr);
}

std::optional<std::shared_ptr<const TabletSource>> Statement::insert_in_group() {
  const bool may_insert = !text_.empty() && (!description_ || !description_->is_query);
  if (!may_insert || connection_.transaction().state() != TransactionState::None) return std::nullopt;
  if (!stores_rows_of_no_table(syntax_tree())) return std::nullopt;
  const std::vector<syntax::TableName> tables = tables_changed_by(*syntax_tree_);
  connection_.check_may_write(tables);
  if (connection_.target_of(tables.front()).is_temporary) return std::nullopt;
  const uint64_t schema_version = connection_.database().store().snapshot()->schema_version();
  bind_for_run();
  const std::shared_ptr<const TabletSource> made = rows_of_change();
  const RowChange change = *plan_->change();
  connection_.plan_cache().keep(std::move(plan_));
  const ExecutionContext context = connection_.execution_context();
  std::shared_ptr<const TabletSource> rows;
  const auto store = [&](WriteTransaction& transaction) {
    rows = made;
    ChangeTimes times;
    rows_changed_ = change_rows(transaction, change, rows, context, times);
  };
  if (connection_.commit_in_group(change.table.name, schema_version, store)) return rows;
  bound_.reset();  // its query is planned
  is_running_ = false;
  return std::nullopt;
}

std::shared_ptr<const TabletSource> Statement::run_change() {
  std::shared_ptr<const TabletSource> rows = rows_of_change();
  const RowChange change = *plan_->change();
  connection_.plan_cache().keep(std::move(plan_));  // without the tables as they were before the change
  ChangeTimes times;
  rows_changed_ =
      change_rows(writing_->writer_of(change.table.is_temporary), change, rows, connection_.execution_context(), times);
  return rows;
}

std::shared_ptr<const TabletSource> Statement::run_as_command() {
  const std::vector<bool> all(parameter_values_.size(), true);
  std::optional<PlanKey> key = bound_->reads_clock ? std::nullopt : plan_key(bound_schema_version_, all);
  if (key) key->is_explained = true;
  CommandResult result = run_command(connection_, writing_ ? &*writing_ : nullptr, *bound_, parameter_values(),
                                     {nanoseconds(Stage::Parse), nanoseconds(Stage::Bind), std::move(key)});
  rows_changed_ = result.rows_changed;
  return result.rows;
}

std::shared_ptr<const TabletSource> Statement::run_profiled(ExecutionProfile& profile) {
  const FailureGuard guard(connection_);
  const RunEnd end(*this);
  return run_query(&profile);
}

std::shared_ptr<const TabletSource> Statement::run_query(ExecutionProfile* profile) {
  program();
  const ScopedTimer timer(nanoseconds_[static_cast<size_t>(Stage::Run)]);
  ExecutionContext context = connection_.execution_context();
  context.profile = profile;
  context.preparation = &plan_->preparation();
  reused_ = plan_->reused();
  return run_program(plan_->program(), context);
}

std::optional<PlanKey> Statement::plan_key(uint64_t schema_version, const std::vector<bool>& of_plan) const {
  if (given_key_) return given_key_;
  if (text_.empty() || text_.size() > PlanCache::most_key_bytes) return std::nullopt;
  PlanKey key{text_, false, schema_version, {}, {}};
  if (description_) key.parameter_types = description_->parameters;
  for (size_t i = 0; i < parameter_values_.size(); ++i) {
    const std::optional<Value>& value = parameter_values_[i];
    if (!value) return std::nullopt;
    key.parameter_values.push_back(of_plan[i] || value->is_null() ? value : std::nullopt);
  }
  return key.bytes() <= PlanCache::most_key_bytes ? std::optional(std::move(key)) : std::nullopt;
}

bool Statement::reuse_plan() {
  const bool is_begun = is_running_ && !given_key_;
  if (is_begun || (description_ && !description_->is_planned)) return false;
  if (connection_.transaction().state() != TransactionState::None && !text_.empty()) syntax_tree();
  if (!description_ || !description_->is_query) begin_writing();
  const ScopedTimer timer(nanoseconds_[static_cast<size_t>(Stage::Bind)]);
  const auto catalog = this->catalog();
  const std::optional<PlanKey> key =
      plan_key(catalog->schema_version(), description_ ? description_->of_plan : std::vector<bool>());
  if (!key || key->schema_version != catalog->schema_version()) return false;
  std::unique_ptr<QueryPlan> plan = take_plan(*key);
  if (plan == nullptr) return false;
  if (!description_) description_ = description_of(*plan);
  if (!are_same(plan->columns(), description_->columns)) {
    connection_.plan_cache().keep(std::move(plan));
    return false;
  }
  if (!plan->take_tables(*catalog)) return false;
  plan_ = std::move(plan);
  return true;
}

std::unique_ptr<QueryPlan> Statement::take_plan(const PlanKey& key) {
  PlanCache& cache = connection_.plan_cache();
  if (cache.find(key) == nullptr) return nullptr;
  SessionEvaluator evaluator(connection_);
  const std::vector<Value> values =
      given_key_ ? std::vector<Value>() : typed_values(key.parameter_types, parameter_values(), evaluator);
  return cache.take(key, [&](QueryPlan& plan) { return plan.take_values(values, evaluator); });
}

bool Statement::is_query() { return description().is_query; }

const std::vector<ColumnDefinition>& Statement::columns() { return description().columns; }

const std::vector<Type>& Statement::parameter_types() { return description().parameters; }

void Statement::bind_parameter(size_t index, Value value) {
  if (index >= parameter_types().size())
    throw Error(SqlState::undefined_parameter, "there is no parameter $" + std::to_string(index + 1));
  parameter_values_[index] = std::move(value);
}

std::vector<Value> Statement::parameter_values() const {
  std::vector<Value> values;
  for (const std::optional<Value>& value : parameter_values_) {
    if (!value)
      throw Error(SqlState::undefined_parameter,
                  "there is no value for parameter $" + std::to_string(values.size() + 1));
    values.push_back(*value);
  }
  return values;
}

}  // namespace diptych
