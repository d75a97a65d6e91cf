#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/stack.h"
#include "base/suggestion.h"
#include "bind/file_options.h"
#include "bind/select_binder.h"
#include "sql/parser.h"

namespace diptych {

namespace {

// Views and WITH queries that name others twice double with every level: 20 levels would take any memory.
constexpr int64_t most_source_columns = 1'000'000;
constexpr int64_t columns_of_table = 20;  // what a table costs besides its columns

// Errors: 42P10 there are more names.
template <typename Column>
void rename_columns(std::vector<Column>& columns, const std::vector<std::string>& names, const std::string& what,
                    int position) {
  if (names.size() > columns.size()) {
    throw Error(SqlState::invalid_column_reference,
                what + " has " + std::to_string(columns.size()) + " columns available but " +
                    std::to_string(names.size()) + " columns specified",
                position);
  }
  for (size_t i = 0; i < names.size(); ++i) columns[i].name = names[i];
}

class SourceBinder {
 public:
  SourceBinder(const syntax::TableReference& reference, StatementState& state) : reference_(reference), state_(state) {}

  NamedSource run() {
    std::visit([&](const auto& source) { bind(source); }, reference_.source);
    const std::string& alias = reference_.alias.empty() ? name_ : reference_.alias;
    rename_source(reference_.column_aliases, "table \"" + alias + "\"", reference_.position);
    note_size();
    const bool has_own_name = std::holds_alternative<syntax::TableName>(reference_.source);
    state_.scope->note_table(has_own_name ? name_ : "", alias);
    return named_source(std::move(source_), alias, primary_key_, state_, reference_.position);
  }

 private:
  void bind(const syntax::TableName& table) {
    const CommonTables* named = table.is_of_catalog ? nullptr : state_.common_tables;
    for (const CommonTables* common = named; common; common = common->before)
      if (common->table.name == table.name) return bind(*common);
    if (const ViewDefinition* view = state_.catalog_of(table).find_view(table.name)) return bind_view(*view);
    const std::shared_ptr<const TableSnapshot> snapshot = find_table(table, state_);
    name_ = table.name;
    primary_key_ = snapshot->definition().primary_key;
    take_tablets(ScanOf::Table, table.name, snapshot);
    source_->is_temporary = snapshot->definition().is_temporary;
  }

  void bind(const syntax::TableJoin&) {}  // bind_join.cc

  void bind(const syntax::TableFile& file) { open(file.path, file_options(file.path, {}, reference_.position)); }

  // Bound wherever it is named, and each time anew.
  void bind(const CommonTables& common) {
    const CommonTables* around = std::exchange(state_.common_tables, common.before);
    Scope* scope = std::exchange(state_.scope, common.around);
    bind_query(*common.table.query);
    state_.common_tables = around;
    state_.scope = scope;
    name_ = common.table.name;
    rename_source(common.table.column_aliases, "WITH query \"" + name_ + "\"", common.table.position);
  }

  // Its text has places of its own: errors stand where the view is named.
  void bind_view(const ViewDefinition& view) {
    for (const ViewsInUse* other = state_.views; other; other = other->around)
      if (other->name == view.name)
        throw Error(SqlState::invalid_object_definition, "infinite recursion detected in view \"" + view.name + "\"",
                    reference_.position);
    const ViewsInUse inside{view.name, state_.views};
    const CommonTables* around = std::exchange(state_.common_tables, nullptr);
    Scope* scope = std::exchange(state_.scope, nullptr);
    state_.views = &inside;
    try {
      const auto statement = parse_statement(view.sql);
      state_.depth = std::max(state_.depth, statement->depth);
      bind_query(std::get<syntax::Select>(statement->node));
    } catch (const Error& error) {
      const std::string what = "view \"";
      const bool is_named = error.message().starts_with(what);  // the innermost view says where the error is
      throw Error(error.state(), (is_named ? "" : what + view.name + "\": ") + error.message(), reference_.position,
                  error.hint());
    }
    state_.views = inside.around;
    state_.common_tables = around;
    state_.scope = scope;
    put_at_reference();
    name_ = view.name;
    rename_source(view.columns, "view \"" + name_ + "\"", reference_.position);
  }

  void put_at_reference() {
    const auto put = [&](LogicalOperatorPtr& op) {
      for (BoundAggregate& aggregate : op->aggregates) aggregate.position = reference_.position;
      for_each_expression(*op, [&](ExpressionPtr& root) { set_positions(*root, reference_.position); });
    };
    run_at_depth(state_.levels(), [&] { for_each_operator(source_, put); });
  }

  void bind(const syntax::TableQuery& query) {
    const syntax::Select& select = *query.query;
    const bool is_plain_values =
        !select.rows.empty() && select.with.empty() && select.order.empty() && !select.limit && !select.offset;
    if (is_plain_values) {
      source_ = bind_values(select.rows, state_);
      name_ = "*VALUES*";
    } else {
      bind_query(select);
    }
  }

  void bind_query(const syntax::Select& select) { source_ = bind_inner_select(select, state_, reference_.position); }

  void bind(const syntax::TableFunction& function) {
    const syntax::Call& call = std::get<syntax::Call>(function.call->node);
    if (call.distinct || call.filter || call.star) {
      throw Error(SqlState::wrong_object_type,
                  std::string(call.distinct ? "DISTINCT"
                              : call.filter ? "FILTER"
                                            : "*") +
                      " specified, but " + call.name + " is not an aggregate function",
                  reference_.position);
    }
    if (call.name == "generate_series") {
      bind_series(call);
    } else if (call.name == "read_csv" || call.name == "read_parquet") {
      const FileCall file = read_file_call(call, reference_.position);
      open(file.path, file.options);
      name_ = call.name;
    } else {
      throw Error(SqlState::undefined_function, "function " + call.name + " does not exist in FROM",
                  reference_.position, suggest(call.name, {"generate_series", "read_csv", "read_parquet"}));
    }
  }

  void bind_series(const syntax::Call& call) {
    const bool any_named = std::any_of(call.argument_names.begin(), call.argument_names.end(),
                                       [](const std::string& name) { return !name.empty(); });
    if (call.args.size() < 2 || call.args.size() > 3 || any_named) {
      throw Error(SqlState::undefined_function, "generate_series takes two or three arguments without names",
                  reference_.position);
    }
    const Scope around(state_.scope);
    ExpressionBinder binder(state_, around, "functions in FROM", nullptr);
    Type type{TypeId::Integer};
    std::vector<ExpressionPtr> args;
    for (const syntax::ExpressionPtr& arg : call.args) {
      args.push_back(binder.bind(*arg));
      const Type& given = args.back()->type;
      if (given.id == TypeId::BigInt) type = {TypeId::BigInt};
      if (given.id != TypeId::Null && !given.is_integer()) {
        throw Error(SqlState::feature_not_supported, "generate_series over " + given.name() + " is not supported yet",
                    args.back()->position);
      }
    }
    for (ExpressionPtr& arg : args)
      arg = coerce(std::move(arg), {TypeId::BigInt}, CastContext::Implicit, state_.parameters);
    name_ = "generate_series";
    // The alias of a function that gives one column names that column, too.
    const std::string& column = reference_.alias.empty() ? name_ : reference_.alias;
    source_ = make_scan(ScanOf::Series, name_, {{column, type, state_.new_column()}});
    source_->expressions = std::move(args);
  }

  void open(const std::string& path, const FileOptions& options) {
    check_invariant(static_cast<bool>(state_.context.open_file), "the context can open files");
    try {
      take_tablets(ScanOf::File, path, state_.context.open_file(path, options));
    } catch (const Error& error) {
      throw error.at(reference_.position);
    }
    const size_t slash = path.find_last_of('/');
    const std::string file = slash == path.npos ? path : path.substr(slash + 1);
    name_ = file.substr(0, file.find('.'));
  }

  void take_tablets(ScanOf of, const std::string& name, std::shared_ptr<const TabletSource> tablets) {
    std::vector<BoundColumn> columns;
    const size_t count = tablets->visibility_column().value_or(tablets->columns().size());
    for (const ColumnDefinition& column : std::span(tablets->columns()).first(count))
      columns.push_back({column.name, column.type, state_.new_column()});
    source_ = make_scan(of, name, std::move(columns));
    source_->source = std::move(tablets);
  }

  void rename_source(const std::vector<std::string>& names, const std::string& what, int position) {
    rename_columns(source_->columns, names, what, position);
  }

  void note_size() {
    state_.source_size += columns_of_table + static_cast<int64_t>(source_->columns.size());
    if (state_.source_size > most_source_columns)
      throw Error(SqlState::statement_too_complex, "the statement reads too many tables", reference_.position,
                  "Views and WITH queries count as often as they are named.");
  }

  const syntax::TableReference& reference_;
  StatementState& state_;
  LogicalOperatorPtr source_;
  std::string name_;                 // its own, without an alias
  std::vector<size_t> primary_key_;  // of a table; empty: none
};

// What an alias names is one table whose columns are those that could be seen; the names inside are hidden.
NamedSource bind_bracketed_join(const syntax::TableReference& reference, StatementState& state) {
  NamedSource result = bind_join(std::get<syntax::TableJoin>(reference.source), state);
  if (reference.alias.empty()) return result;
  ScopeTable table{reference.alias, result.scope.columns(), reference.position};
  rename_columns(table.columns, reference.column_aliases, "join expression \"" + reference.alias + "\"",
                 reference.position);
  state.scope->note_table("", reference.alias);
  result.scope = Scope(std::move(table), result.scope.around());
  return result;
}

}  // namespace

std::vector<std::string> relation_names(const CatalogSnapshot& catalog) {
  std::vector<std::string> names = catalog.table_names();
  for (std::string& view : catalog.view_names()) names.push_back(std::move(view));
  return names;
}

std::shared_ptr<const TableSnapshot> find_table(const syntax::TableName& name, const StatementState& state) {
  const CatalogSnapshot& catalog = state.catalog_of(name);
  if (catalog.find_view(name.name))
    throw Error(SqlState::wrong_object_type, "\"" + name.name + "\" is a view, not a table", name.position);
  std::shared_ptr<const TableSnapshot> table = catalog.find_table(name.name);
  if (!table) {
    throw Error(SqlState::undefined_table, "relation \"" + name.name + "\" does not exist", name.position,
                suggest(name.name, relation_names(catalog)));
  }
  return table;
}

LogicalOperatorPtr bind_values(const std::vector<syntax::Expressions>& rows, StatementState& state) {
  const Scope around(state.scope);
  ExpressionBinder binder(state, around, "VALUES", nullptr);
  const size_t width = rows.front().size();
  std::vector<ExpressionPtr> cells;
  cells.reserve(rows.size() * width);
  for (const syntax::Expressions& row : rows) {
    if (row.size() != width) {
      throw Error(SqlState::syntax_error, "VALUES lists must all be the same length", row.front()->position);
    }
    for (const syntax::ExpressionPtr& cell : row) cells.push_back(binder.bind(*cell));
  }
  std::vector<BoundColumn> columns;
  for (size_t i = 0; i < width; ++i) {
    std::vector<ExpressionPtr*> of_column;
    for (size_t cell = i; cell < cells.size(); cell += width) of_column.push_back(&cells[cell]);
    columns.push_back(
        {"column" + std::to_string(i + 1), unify_types(of_column, "VALUES", state.parameters), state.new_column()});
  }
  LogicalOperatorPtr scan = make_scan(ScanOf::Values, "VALUES", std::move(columns));
  scan->expressions = std::move(cells);
  return scan;
}

NamedSource named_source(LogicalOperatorPtr source, const std::string& name, const std::vector<size_t>& primary_key,
                         const StatementState& state, int position) {
  ScopeTable table{name, {}, position};
  SourceTable of_source{name, {}, {}};
  for (const BoundColumn& column : source->columns) {
    table.columns.push_back({column.name, column.id, column.type, column.type});
    of_source.columns.push_back(column.id);
  }
  for (const size_t column : primary_key) of_source.primary_key.push_back(of_source.columns[column]);
  NamedSource result;
  result.tables.push_back(std::move(of_source));
  result.scope = Scope(std::move(table), state.scope);
  result.source = std::move(source);
  return result;
}

NamedSource bind_source(const syntax::TableReference& reference, StatementState& state) {
  if (std::holds_alternative<syntax::TableJoin>(reference.source)) return bind_bracketed_join(reference, state);
  return SourceBinder(reference, state).run();
}

}  // namespace diptych
