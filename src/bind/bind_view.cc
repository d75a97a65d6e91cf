#include "base/error.h"
#include "base/stack.h"
#include "bind/table_binder.h"

namespace diptych {

namespace {

void check_name(const syntax::CreateView& node, const CatalogSnapshot& catalog) {
  const std::string& name = node.view.name;
  if (node.replace && catalog.find_table(name))
    throw Error(SqlState::wrong_object_type, "\"" + name + "\" is not a view", node.view.position);
  if (catalog.find_table(name) || (catalog.find_view(name) && !node.replace))
    throw Error(SqlState::duplicate_table, "relation \"" + name + "\" already exists", node.view.position);
}

}  // namespace

BoundCreateView bind_create_view(const syntax::CreateView& node, StatementState& state) {
  check_name(node, state.catalog_of(node.view));
  LogicalOperatorPtr query = bind_select(*node.query, state);
  const auto refuse_temporary = [&](const LogicalOperatorPtr& op) {
    if (op->is_temporary)
      throw Error(SqlState::feature_not_supported,
                  "a view over a temporary table is not supported: \"" + op->source_name + "\" is one",
                  node.view.position);
  };
  run_at_depth(state.levels(), [&] { for_each_operator(query, refuse_temporary); });
  std::vector<ColumnDefinition> columns = output_columns(*query);
  if (!state.parameters.empty())
    throw Error(SqlState::undefined_parameter, "a view can't have parameters", node.view.position);
  if (node.column_names.size() > columns.size())
    throw Error(SqlState::syntax_error, "CREATE VIEW specifies more column names than columns", node.view.position);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i < node.column_names.size()) columns[i].name = node.column_names[i];
    for (size_t other = 0; other < i; ++other)
      if (columns[other].name == columns[i].name)
        throw Error(SqlState::duplicate_column, "column \"" + columns[i].name + "\" specified more than once",
                    node.view.position);
  }
  return {{node.view.name, node.column_names, node.sql}, node.replace};
}

}  // namespace diptych
