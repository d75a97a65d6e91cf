// Statements that change the rows of a table: INSERT, UPDATE, DELETE, TRUNCATE.
#include <iterator>
#include <memory>
#include <utility>
#include <variant>

#include "base/error.h"
#include "sql/tree_builder.h"

namespace diptych {

syntax::Insert TreeBuilder::insert(const PgQuery__InsertStmt& node) {
  std::vector<syntax::CommonTable> with;
  if (node.with_clause) with = common_tables(*node.with_clause);
  if (node.on_conflict_clause) refuse("ON CONFLICT", node.on_conflict_clause->location);
  if (node.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_USER_VALUE ||
      node.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_SYSTEM_VALUE) {
    refuse("OVERRIDING", find_token({PG_QUERY__TOKEN__OVERRIDING}));
  }
  syntax::Insert result;
  result.table = table_name(*node.relation);
  for (size_t i = 0; i < node.n_cols; ++i) {
    const PgQuery__ResTarget& column = *node.cols[i]->res_target;
    if (column.n_indirection > 0) refuse("a subscript or field selection", column.location);
    result.columns.push_back({column.name, column.location});
  }
  if (node.select_stmt) result.query = select_of(*node.select_stmt);
  put_around(std::move(with), result);
  if (node.n_returning_list > 0) {
    result.returning = std::make_unique<syntax::Select>();
    result.returning->position = result.table.position;
    result.returning->from.push_back(changed_table(*node.relation));
    add_returning(node.n_returning_list, node.returning_list, *result.returning);
  }
  return result;
}

// Queries of a WITH before INSERT become the first ones of its query's own.
void TreeBuilder::put_around(std::vector<syntax::CommonTable> with, syntax::Insert& insert) const {
  if (with.empty()) return;
  if (!insert.query) refuse("WITH before DEFAULT VALUES", with.front().position);
  for (const syntax::CommonTable& outer : with)
    for (const syntax::CommonTable& inner : insert.query->with)
      if (inner.name == outer.name) refuse("a name in WITH that one before INSERT has", inner.position);
  std::move(insert.query->with.begin(), insert.query->with.end(), std::back_inserter(with));
  insert.query->with = std::move(with);
}

// No query of a WITH clause, whatever names these have.
syntax::TableReference TreeBuilder::changed_table(const PgQuery__RangeVar& node) {
  syntax::TableReference result = named_table(node);
  std::get<syntax::TableName>(result.source).is_of_catalog = true;
  return result;
}

void TreeBuilder::add_returning(size_t count, PgQuery__Node* const* nodes, syntax::Select& query) {
  for (size_t i = 0; i < count; ++i) query.items.push_back(select_item(*nodes[i]->res_target));
}

// WITH queries SELECT values FROM table AS alias, others WHERE condition.
template <typename Node>
syntax::Change TreeBuilder::begin_change(const Node& node, size_t others, PgQuery__Node* const* from) {
  syntax::Change result;
  std::vector<syntax::CommonTable> with;
  if (node.with_clause) with = common_tables(*node.with_clause);
  result.table = table_name(*node.relation);
  result.query = std::make_unique<syntax::Select>();
  result.query->with = std::move(with);
  result.query->position = result.table.position;
  result.query->from.push_back(changed_table(*node.relation));
  for (size_t i = 0; i < others; ++i) result.query->from.push_back(table_reference(*from[i]));
  if (node.where_clause) result.query->where = expression(*node.where_clause);
  return result;
}

// A query has an item at least: a NULL where nothing else is asked for.
template <typename Node>
void TreeBuilder::end_change(const Node& node, syntax::Change& change) {
  add_returning(node.n_returning_list, node.returning_list, *change.query);
  change.returned = node.n_returning_list;
  if (change.query->items.empty()) change.query->items.push_back({std::make_unique<syntax::Expression>(), "", 0});
}

syntax::Change TreeBuilder::change(const PgQuery__DeleteStmt& node) {
  syntax::Change result = begin_change(node, node.n_using_clause, node.using_clause);
  end_change(node, result);
  return result;
}

syntax::Change TreeBuilder::change(const PgQuery__UpdateStmt& node) {
  syntax::Change result = begin_change(node, node.n_from_clause, node.from_clause);
  result.is_update = true;
  for (size_t i = 0; i < node.n_target_list; ++i) {
    const PgQuery__ResTarget& target = *node.target_list[i]->res_target;
    if (target.n_indirection > 0) refuse("a subscript or field selection", target.location);
    const PgQuery__Node& value = value_of(target);
    if (value.node_case == PG_QUERY__NODE__NODE_SET_TO_DEFAULT) {
      result.defaults.push_back({target.name, target.location});
      continue;
    }
    result.columns.push_back({target.name, target.location});
    result.query->items.push_back({expression(value), "", target.location});
  }
  end_change(node, result);
  return result;
}

// What UPDATE gives a column: of SET (a, b) = (x, y) the part that is meant for it.
const PgQuery__Node& TreeBuilder::value_of(const PgQuery__ResTarget& target) const {
  if (target.val->node_case != PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF) return *target.val;
  const PgQuery__MultiAssignRef& part = *target.val->multi_assign_ref;
  if (part.source->node_case == PG_QUERY__NODE__NODE_SUB_LINK) refuse("a subquery in an expression", target.location);
  if (part.source->node_case != PG_QUERY__NODE__NODE_ROW_EXPR)
    throw Error(SqlState::feature_not_supported,
                "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression", target.location);
  const PgQuery__RowExpr& row = *part.source->row_expr;
  if (row.n_args != static_cast<size_t>(part.ncolumns))
    throw Error(SqlState::syntax_error, "number of columns does not match number of values", target.location);
  return *row.args[part.colno - 1];
}

syntax::Change TreeBuilder::truncate(const PgQuery__TruncateStmt& node) {
  if (node.n_relations != 1) refuse("TRUNCATE of several tables", node.relations[1]->range_var->location);
  syntax::Change result;
  result.table = table_name(*node.relations[0]->range_var);
  return result;
}

}  // namespace diptych
