#include "session/statement.h"

#include <chrono>

#include "base/error.h"
#include "bind/binder.h"
#include "io/data_file.h"
#include "plan/optimizer.h"
#include "plan/planner.h"
#include "program/compiler.h"
#include "session/commands.h"
#include "session/parameters.h"
#include "session/session_evaluator.h"
#include "tablet/memory_source.h"

namespace diptych {

namespace {

// Adds the time until its end to a stage.
class StageTimer {
 public:
  explicit StageTimer(int64_t& nanoseconds) : nanoseconds_(nanoseconds) {}
  ~StageTimer() { nanoseconds_ += (std::chrono::steady_clock::now() - start_).count(); }

 private:
  int64_t& nanoseconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Since 2000-01-01, as SQL's timestamps count.
int64_t now_in_microseconds() {
  constexpr std::chrono::sys_days epoch = std::chrono::year{2000} / 1 / 1;
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now() - epoch).count();
}

std::vector<ColumnDefinition> output_columns(const BoundSelect& query) {
  std::vector<ColumnDefinition> columns;
  for (size_t i = 0; i < query.visible_outputs; ++i)
    columns.push_back({query.outputs[i].name, query.outputs[i].expression->type});
  return columns;
}

}  // namespace

const char* name_of(Stage stage) {
  constexpr std::array<const char*, stage_count> names = {"parse", "bind", "plan", "optimize", "compile", "run"};
  return names[static_cast<size_t>(stage)];
}

Statement::Statement(Connection& connection, std::string text) : connection_(connection), text_(std::move(text)) {}

Statement::Statement(Connection& connection, BoundSelect query) : connection_(connection) {
  columns_ = output_columns(query);
  bound_ = std::make_unique<BoundStatement>();
  bound_->statement = std::move(query);
}

Statement::~Statement() = default;

bool Statement::is_empty() {
  if (!syntax_tree_) {
    const StageTimer timer(nanoseconds_[static_cast<size_t>(Stage::Parse)]);
    syntax_tree_ = connection_.parse_cache().parse(text_);
  }
  return syntax_tree_ == nullptr;
}

const syntax::Statement& Statement::syntax_tree() {
  if (is_empty()) throw Error(SqlState::syntax_error, "there is no statement in this text");
  return *syntax_tree_;
}

const BoundStatement& Statement::bound() {
  if (!bound_ || bound_is_used_) {
    const syntax::Statement& tree = syntax_tree();
    const StageTimer timer(nanoseconds_[static_cast<size_t>(Stage::Bind)]);
    const auto snapshot = connection_.database().store().snapshot();
    const auto open_file = [this](const std::string& path, const FileOptions& options) {
      return open_file_source(connection_.database().files(), path, options);
    };
    bound_ = std::make_unique<BoundStatement>(bind(tree, BindContext{*snapshot, open_file, now_in_microseconds()}));
    bound_is_used_ = false;
    parameter_types_ = bound_->parameters;
    parameter_values_.resize(parameter_types_.size());
    if (auto* select = std::get_if<BoundSelect>(&bound_->statement))
      columns_ = output_columns(*select);
    else
      columns_ = command_columns(*bound_);
  }
  return *bound_;
}

BoundSelect& Statement::query() {
  bound();
  auto* select = std::get_if<BoundSelect>(&bound_->statement);
  check_invariant(select != nullptr, "only queries are planned");
  return *select;
}

const LogicalOperator& Statement::logical_plan() {
  if (!plan_) {
    BoundSelect& select = query();
    const StageTimer timer(nanoseconds_[static_cast<size_t>(Stage::Plan)]);
    SessionEvaluator evaluator(connection_);
    replace_parameters(select, parameter_types_, parameter_values_, evaluator);
    bound_is_used_ = true;
    plan_ = make_logical_plan(std::move(select), evaluator);
  }
  return *plan_;
}

const LogicalOperator& Statement::optimized_plan() {
  logical_plan();
  if (!plan_is_optimized_) {
    const StageTimer timer(nanoseconds_[static_cast<size_t>(Stage::Optimize)]);
    SessionEvaluator evaluator(connection_);
    plan_ = optimize(std::move(plan_), evaluator);
    plan_is_optimized_ = true;
  }
  return *plan_;
}

const Program& Statement::program() {
  if (!program_) {
    const LogicalOperator& plan = optimized_plan();
    const StageTimer timer(nanoseconds_[static_cast<size_t>(Stage::Compile)]);
    SessionEvaluator evaluator(connection_);
    program_ = compile(plan, evaluator);
  }
  return *program_;
}

std::shared_ptr<const TabletSource> Statement::run() {
  if (!is_query()) {
    if (bound_is_used_) bound();
    bound_is_used_ = true;
    CommandResult result = run_command(connection_, *bound_, parameter_values_);
    rows_changed_ = result.rows_changed;
    return result.rows ? result.rows : std::make_shared<MemorySource>(std::vector<ColumnDefinition>{});
  }
  program();
  const StageTimer timer(nanoseconds_[static_cast<size_t>(Stage::Run)]);
  return run_on_cpu(program_, connection_.execution_context());
}

std::shared_ptr<const TabletSource> Statement::run_profiled(ExecutionProfile& profile) {
  program();
  const StageTimer timer(nanoseconds_[static_cast<size_t>(Stage::Run)]);
  ExecutionContext context = connection_.execution_context();
  context.profile = &profile;
  return run_on_cpu(program_, context);
}

bool Statement::is_query() {
  if (!bound_) bound();
  return std::holds_alternative<BoundSelect>(bound_->statement);
}

const std::vector<ColumnDefinition>& Statement::columns() {
  if (!bound_) bound();
  return columns_;
}

const std::vector<Type>& Statement::parameter_types() {
  if (!bound_) bound();
  return parameter_types_;
}

void Statement::bind_parameter(size_t index, Value value) {
  if (index >= parameter_types().size())
    throw Error(SqlState::undefined_parameter, "there is no parameter $" + std::to_string(index + 1));
  parameter_values_[index] = std::move(value);
}

void Statement::reset() {
  plan_.reset();
  plan_is_optimized_ = false;
  program_.reset();
  rows_changed_ = -1;
  bound_is_used_ = true;  // bound again, against the tables as they are then
}

}  // namespace diptych
