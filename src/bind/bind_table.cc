#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/stack.h"
#include "base/suggestion.h"
#include "bind/table_binder.h"
#include "sql/parser.h"

namespace diptych {

namespace {

Type column_type(Type type) {
  if (type.id == TypeId::Null) return {TypeId::Text};
  return type == unconstrained_numeric ? column_numeric : type;
}

void check_unique_names(const std::vector<TableColumn>& columns, const std::vector<int>& positions) {
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (columns[i].name == columns[j].name) {
        throw Error(SqlState::duplicate_column, "column \"" + columns[i].name + "\" specified more than once",
                    positions[i]);
      }
    }
  }
}

class TableBinder {
 public:
  TableBinder(const syntax::CreateTable& node, StatementState& state) : node_(node), state_(state) {}

  BoundCreateTable run() {
    result_.definition.name = node_.table.name;
    result_.definition.is_temporary = node_.table.schema == syntax::Schema::Temporary;
    result_.if_not_exists = node_.if_not_exists;
    // As in PostgreSQL, what is wrong with the query is told before that there is a table of the name.
    LogicalOperatorPtr query = node_.query ? bind_select(*node_.query, state_) : nullptr;
    const CatalogSnapshot& catalog = state_.catalog_of(node_.table);
    const bool is_view = catalog.find_view(node_.table.name) != nullptr;
    if (is_view || catalog.find_table(node_.table.name)) {
      if (!node_.if_not_exists && !node_.replace)
        throw Error(SqlState::duplicate_table, "relation \"" + node_.table.name + "\" already exists",
                    node_.table.position);
      if (node_.replace && is_view)
        throw Error(SqlState::wrong_object_type, "\"" + node_.table.name + "\" is not a table", node_.table.position,
                    "Use CREATE OR REPLACE VIEW, or DROP VIEW.");
      result_.replaces = node_.replace;
      result_.exists = node_.if_not_exists;
      if (result_.exists) return std::move(result_);
    }
    if (query)
      define_by_query(std::move(query));
    else
      define_by_columns();
    return std::move(result_);
  }

 private:
  void define_by_columns() {
    std::vector<int> positions;
    for (const syntax::ColumnDefinition& column : node_.columns) {
      positions.push_back(column.position);
      result_.definition.columns.push_back(
          {column.name, column_type(type_of(column.type)), column.not_null.value_or(false), column.default_sql});
      if (column.collation_position >= 0 && !result_.definition.columns.back().type.is_string()) {
        throw Error(SqlState::datatype_mismatch,
                    "collations are not supported by type " + result_.definition.columns.back().type.name(),
                    column.collation_position);
      }
    }
    if (positions.empty()) {
      throw Error(SqlState::feature_not_supported, "a table without columns is not supported yet",
                  node_.table.position);
    }
    check_unique_names(result_.definition.columns, positions);
    set_primary_key();
    for (size_t i = 0; i < node_.columns.size(); ++i) check_default(i);
  }

  void define_by_query(LogicalOperatorPtr query) {
    result_.query = std::move(query);
    const std::vector<BoundColumn>& outputs = result_.query->columns;
    const size_t count = outputs.size();
    if (node_.column_names.size() > count) {
      throw Error(SqlState::syntax_error, "too many column names were specified", node_.table.position);
    }
    for (size_t i = 0; i < count; ++i) {
      const std::string& name = i < node_.column_names.size() ? node_.column_names[i] : outputs[i].name;
      result_.definition.columns.push_back({name, outputs[i].type, false, ""});
    }
    check_unique_names(result_.definition.columns, std::vector<int>(count, node_.table.position));
  }

  void set_primary_key() {
    TableDefinition& table = result_.definition;
    for (size_t i = 0; i < node_.columns.size(); ++i)
      if (node_.columns[i].primary_key_position >= 0) table.primary_key.push_back(i);
    for (const std::string& name : node_.primary_key) {
      const std::optional<size_t> column = table.find_column(name);
      if (!column) {
        throw Error(SqlState::undefined_column, "column \"" + name + "\" named in key does not exist",
                    node_.primary_key_position, suggest(name, column_names()));
      }
      if (std::find(table.primary_key.begin(), table.primary_key.end(), *column) != table.primary_key.end()) {
        throw Error(SqlState::duplicate_column, "column \"" + name + "\" appears twice in primary key constraint",
                    node_.primary_key_position);
      }
      table.primary_key.push_back(*column);
    }
    for (const size_t column : table.primary_key) table.columns[column].not_null = true;
  }

  std::vector<std::string> column_names() const {
    std::vector<std::string> names;
    for (const TableColumn& column : result_.definition.columns) names.push_back(column.name);
    return names;
  }

  void check_default(size_t i) {
    const syntax::ColumnDefinition& column = node_.columns[i];
    if (column.default_sql.empty()) return;
    const ParsedExpression parsed = parse_expression(column.default_sql, column.default_position);
    const Scope nothing;
    ExpressionPtr bound = ExpressionBinder(state_, nothing, "DEFAULT expressions", nullptr).bind(*parsed.expression);
    assign(std::move(bound), result_.definition.columns[i], state_.parameters);
    if (!state_.parameters.empty()) {
      throw Error(SqlState::undefined_parameter, "a default can't have parameters", column.default_position);
    }
  }

  const syntax::CreateTable& node_;
  StatementState& state_;
  BoundCreateTable result_;
};

}  // namespace

BoundCreateTable bind_create_table(const syntax::CreateTable& node, StatementState& state) {
  return TableBinder(node, state).run();
}

ExpressionPtr assign(ExpressionPtr e, const TableColumn& column, ParameterTypes& parameters) {
  if (!is_castable(e->type.id, column.type.id, CastContext::Assignment)) {
    throw Error(SqlState::datatype_mismatch,
                "column \"" + column.name + "\" is of type " + column.type.name() + " but expression is of type " +
                    e->type.name(),
                e->position, "You will need to rewrite or cast the expression.");
  }
  return coerce(std::move(e), column.type, CastContext::Assignment, parameters);
}

ExpressionPtr bind_default(const TableColumn& column, StatementState& state) {
  if (column.default_sql.empty()) return make_constant(Value::null(column.type), -1);
  const Scope nothing;
  const ParsedExpression parsed = parse_expression(column.default_sql);
  state.depth = std::max(state.depth, parsed.depth);
  ExpressionPtr result;
  run_at_depth(parsed.depth, [&] {
    result = ExpressionBinder(state, nothing, "DEFAULT expressions", nullptr).bind(*parsed.expression);
    result = assign(std::move(result), column, state.parameters);
    set_positions(*result, -1);  // it stands in no statement's text
  });
  return result;
}

}  // namespace diptych
