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

class SourceBinder {
 public:
  SourceBinder(const syntax::TableReference& reference, StatementState& state) : reference_(reference), state_(state) {}

  NamedSource run() {
    std::visit([&](const auto& source) { bind(source); }, reference_.source);
    if (!reference_.alias.empty()) result_.name = reference_.alias;
    rename_columns(reference_.column_aliases, "table", reference_.position);
    return std::move(result_);
  }

 private:
  void bind(const syntax::TableName& table) {
    const CommonTables* named = table.has_schema ? nullptr : state_.common_tables;
    for (const CommonTables* common = named; common; common = common->before)
      if (common->table.name == table.name) return bind(*common);
    if (const ViewDefinition* view = state_.context.catalog.find_view(table.name)) return bind_view(*view);
    const std::shared_ptr<const TableSnapshot> snapshot = find_table(table, state_);
    result_.name = table.name;
    result_.primary_key = snapshot->definition().primary_key;
    take_tablets(table.name, snapshot);
    result_.source.is_table = true;
  }

  void bind(const syntax::TableFile& file) { open(file.path, file_options(file.path, {}, reference_.position)); }

  // Bound wherever it is named, and each time anew.
  void bind(const CommonTables& common) {
    const CommonTables* around = std::exchange(state_.common_tables, common.before);
    bind_query(*common.table.query);
    state_.common_tables = around;
    result_.name = common.table.name;
    rename_columns(common.table.column_aliases, "WITH query", common.table.position);
  }

  // Its text has places of its own: errors stand where the view is named.
  void bind_view(const ViewDefinition& view) {
    for (const ViewsInUse* other = state_.views; other; other = other->around)
      if (other->name == view.name)
        throw Error(SqlState::invalid_object_definition, "infinite recursion detected in view \"" + view.name + "\"",
                    reference_.position);
    const ViewsInUse inside{view.name, state_.views};
    const CommonTables* around = std::exchange(state_.common_tables, nullptr);
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
    put_at_reference(*result_.source.query);
    result_.name = view.name;
    rename_columns(view.columns, "view", reference_.position);
  }

  void put_at_reference(BoundSelect& query) const {
    for (BoundSelect* one = &query; one; one = one->source.query.get())
      for (BoundAggregate& aggregate : one->aggregates) aggregate.position = reference_.position;
    run_at_depth(state_.levels(), [&] {
      for_each_expression(query, [&](ExpressionPtr& root) { set_positions(*root, reference_.position); });
    });
  }

  void bind(const syntax::TableQuery& query) {
    const syntax::Select& select = *query.query;
    const bool is_plain_values =
        !select.rows.empty() && select.with.empty() && select.order.empty() && !select.limit && !select.offset;
    if (is_plain_values) {
      result_.source = bind_values(select.rows, state_);
      result_.name = "*VALUES*";
    } else {
      bind_query(select);
    }
  }

  void bind_query(const syntax::Select& select) {
    BoundSource& source = result_.source;
    source.kind = BoundSource::Kind::Query;
    source.query = std::make_unique<BoundSelect>(bind_inner_select(select, state_, reference_.position));
    source.columns = output_columns(*source.query);
  }

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
      result_.name = call.name;
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
    const Scope nothing;
    ExpressionBinder binder(state_, nothing, "functions in FROM", nullptr);
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
    BoundSource& source = result_.source;
    source.kind = BoundSource::Kind::Series;
    source.name = result_.name = "generate_series";
    // The alias of a function that gives one column names that column, too.
    source.columns = {{reference_.alias.empty() ? "generate_series" : reference_.alias, type}};
    source.series_start = std::move(args[0]);
    source.series_stop = std::move(args[1]);
    if (args.size() == 3) source.series_step = std::move(args[2]);
  }

  void open(const std::string& path, const FileOptions& options) {
    check_invariant(static_cast<bool>(state_.context.open_file), "the context can open files");
    try {
      take_tablets(path, state_.context.open_file(path, options));
    } catch (const Error& error) {
      throw error.at(reference_.position);
    }
    const size_t slash = path.find_last_of('/');
    const std::string file = slash == path.npos ? path : path.substr(slash + 1);
    result_.name = file.substr(0, file.find('.'));
  }

  void take_tablets(const std::string& name, std::shared_ptr<const TabletSource> tablets) {
    result_.source.kind = BoundSource::Kind::Tablets;
    result_.source.name = name;
    result_.source.columns = tablets->columns();
    result_.source.tablets = std::move(tablets);
  }

  void rename_columns(const std::vector<std::string>& names, const char* what, int position) {
    std::vector<ColumnDefinition>& columns = result_.source.columns;
    if (names.size() > columns.size()) {
      throw Error(SqlState::invalid_column_reference,
                  std::string(what) + " \"" + result_.name + "\" has " + std::to_string(columns.size()) +
                      " columns available but " + std::to_string(names.size()) + " columns specified",
                  position);
    }
    for (size_t i = 0; i < names.size(); ++i) columns[i].name = names[i];
  }

  const syntax::TableReference& reference_;
  StatementState& state_;
  NamedSource result_;
};

}  // namespace

std::vector<std::string> relation_names(const CatalogSnapshot& catalog) {
  std::vector<std::string> names = catalog.table_names();
  for (std::string& view : catalog.view_names()) names.push_back(std::move(view));
  return names;
}

std::shared_ptr<const TableSnapshot> find_table(const syntax::TableName& name, const StatementState& state) {
  if (state.context.catalog.find_view(name.name))
    throw Error(SqlState::wrong_object_type, "\"" + name.name + "\" is a view, not a table", name.position);
  std::shared_ptr<const TableSnapshot> table = state.context.catalog.find_table(name.name);
  if (!table) {
    throw Error(SqlState::undefined_table, "relation \"" + name.name + "\" does not exist", name.position,
                suggest(name.name, relation_names(state.context.catalog)));
  }
  return table;
}

BoundSource bind_values(const std::vector<syntax::Expressions>& rows, StatementState& state) {
  const Scope nothing;
  ExpressionBinder binder(state, nothing, "VALUES", nullptr);
  BoundSource source;
  source.kind = BoundSource::Kind::Values;
  source.name = "VALUES";
  for (const syntax::Expressions& row : rows) {
    if (row.size() != rows.front().size()) {
      throw Error(SqlState::syntax_error, "VALUES lists must all be the same length", row.front()->position);
    }
    std::vector<ExpressionPtr> cells;
    cells.reserve(row.size());
    for (const syntax::ExpressionPtr& cell : row) cells.push_back(binder.bind(*cell));
    source.values.push_back(std::move(cells));
  }
  for (size_t column = 0; column < rows.front().size(); ++column) {
    std::vector<ExpressionPtr*> cells;
    for (std::vector<ExpressionPtr>& row : source.values) cells.push_back(&row[column]);
    source.columns.push_back({"column" + std::to_string(column + 1), unify_types(cells, "VALUES", state.parameters)});
  }
  return source;
}

NamedSource bind_source(const syntax::TableReference& reference, StatementState& state) {
  return SourceBinder(reference, state).run();
}

}  // namespace diptych
