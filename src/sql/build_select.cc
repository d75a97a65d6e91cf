#include <algorithm>
#include <utility>

#include "sql/tree_builder.h"

namespace diptych {

syntax::SelectPtr TreeBuilder::select_of(const PgQuery__Node& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_SELECT_STMT) refuse("this kind of query", -1);
  return std::make_unique<syntax::Select>(select(*node.select_stmt));
}

// What of SELECT is not there yet. The nodes of set operations and joins don't tell their place; the first such word is
// it.
void TreeBuilder::refuse_clauses(const PgQuery__SelectStmt& node) {
  if (node.with_clause) refuse("WITH", node.with_clause->location);
  if (node.op == PG_QUERY__SET_OPERATION__SETOP_UNION) refuse("UNION", find_token({PG_QUERY__TOKEN__UNION}));
  if (node.op == PG_QUERY__SET_OPERATION__SETOP_INTERSECT)
    refuse("INTERSECT", find_token({PG_QUERY__TOKEN__INTERSECT}));
  if (node.op == PG_QUERY__SET_OPERATION__SETOP_EXCEPT) refuse("EXCEPT", find_token({PG_QUERY__TOKEN__EXCEPT}));
  if (node.into_clause) refuse("SELECT INTO", find_token({PG_QUERY__TOKEN__INTO}));
  if (node.n_window_clause > 0) refuse("WINDOW", find_token({PG_QUERY__TOKEN__WINDOW}));
  if (node.n_locking_clause > 0) refuse("FOR UPDATE", find_token({PG_QUERY__TOKEN__FOR}));
  if (node.limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES)
    refuse("WITH TIES", find_token({PG_QUERY__TOKEN__TIES}));
  if (node.n_distinct_clause > 0 && node.distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET) {
    refuse("DISTINCT ON", find_token({PG_QUERY__TOKEN__DISTINCT}));
  }
}

syntax::Select TreeBuilder::select(const PgQuery__SelectStmt& node) {
  refuse_clauses(node);
  syntax::Select result;
  result.position = find_token({PG_QUERY__TOKEN__SELECT, PG_QUERY__TOKEN__VALUES, PG_QUERY__TOKEN__TABLE});
  result.distinct = node.n_distinct_clause > 0;
  if (node.n_from_clause > 1) refuse("a join (several tables in FROM)", find_token({PG_QUERY__TOKEN__FROM}));
  if (node.n_from_clause == 1) result.from = table_reference(*node.from_clause[0]);
  for (size_t i = 0; i < node.n_target_list; ++i) result.items.push_back(select_item(*node.target_list[i]->res_target));
  if (node.where_clause) result.where = expression(*node.where_clause);
  for (size_t i = 0; i < node.n_group_clause; ++i) {
    const PgQuery__Node& group = *node.group_clause[i];
    if (group.node_case == PG_QUERY__NODE__NODE_GROUPING_SET) {
      refuse("GROUPING SETS, ROLLUP or CUBE", group.grouping_set->location);
    }
    result.groups.push_back(expression(group));
  }
  if (node.having_clause) result.having = expression(*node.having_clause);
  for (size_t i = 0; i < node.n_sort_clause; ++i) result.order.push_back(order_item(*node.sort_clause[i]->sort_by));
  if (node.limit_count) result.limit = expression(*node.limit_count);
  if (node.limit_offset) result.offset = expression(*node.limit_offset);
  for (size_t i = 0; i < node.n_values_lists; ++i) {
    result.rows.push_back(expressions(node.values_lists[i]->list->n_items, node.values_lists[i]->list->items));
  }
  return result;
}

syntax::TableReference TreeBuilder::table_reference(const PgQuery__Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR: return named_table(*node.range_var);
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: return subselect(*node.range_subselect);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION: return function_table(*node.range_function);
    case PG_QUERY__NODE__NODE_JOIN_EXPR: refuse("JOIN", find_token({PG_QUERY__TOKEN__JOIN}));
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE: refuse("TABLESAMPLE", find_token({PG_QUERY__TOKEN__TABLESAMPLE}));
    default: refuse("this form of FROM", find_token({PG_QUERY__TOKEN__FROM}));
  }
}

syntax::TableReference TreeBuilder::named_table(const PgQuery__RangeVar& node) {
  syntax::TableReference result;
  result.position = node.location;
  const auto file = statement_.files.find(node.location);
  if (file != statement_.files.end()) {
    result.source = syntax::TableFile{file->second};
  } else {
    result.source = table_name(node);
  }
  set_alias(result, node.alias);
  return result;
}

syntax::TableReference TreeBuilder::subselect(const PgQuery__RangeSubselect& node) {
  const int bracket = find_token({PG_QUERY__TOKEN__ASCII_40}, std::max(0, find_token({PG_QUERY__TOKEN__FROM})));
  if (node.lateral) refuse("LATERAL", find_token({PG_QUERY__TOKEN__LATERAL_P}));
  syntax::TableValues values{select_of(*node.subquery)};
  if (values.values->rows.empty()) refuse("a subquery in FROM", bracket);
  syntax::TableReference result;
  result.position = bracket;
  result.source = std::move(values);
  set_alias(result, node.alias);
  return result;
}

syntax::TableReference TreeBuilder::function_table(const PgQuery__RangeFunction& node) {
  const int from = std::max(0, find_token({PG_QUERY__TOKEN__FROM}));
  if (node.lateral) refuse("LATERAL", find_token({PG_QUERY__TOKEN__LATERAL_P}));
  if (node.ordinality) refuse("WITH ORDINALITY", find_token({PG_QUERY__TOKEN__ORDINALITY}));
  if (node.is_rowsfrom || node.n_functions != 1) refuse("ROWS FROM", from);
  if (node.n_coldeflist > 0) refuse("a column definition list", from);
  const PgQuery__Node& function = *node.functions[0]->list->items[0];
  if (function.node_case != PG_QUERY__NODE__NODE_FUNC_CALL) refuse("this function in FROM", from);
  syntax::TableReference result;
  result.position = function.func_call->location;
  result.source = syntax::TableFunction{expression(function)};
  set_alias(result, node.alias);
  return result;
}

void TreeBuilder::set_alias(syntax::TableReference& reference, const PgQuery__Alias* alias) {
  if (!alias) return;
  reference.alias = alias->aliasname;
  for (size_t i = 0; i < alias->n_colnames; ++i)
    reference.column_aliases.emplace_back(alias->colnames[i]->string->sval);
}

syntax::SelectItem TreeBuilder::select_item(const PgQuery__ResTarget& node) {
  return {expression(*node.val), node.name ? node.name : "", node.location};
}

syntax::OrderItem TreeBuilder::order_item(const PgQuery__SortBy& node) {
  if (node.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING) refuse("ORDER BY USING", node.location);
  syntax::OrderItem result;
  result.expression = expression(*node.node);
  result.descending = node.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
  if (node.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST) result.nulls_first = true;
  if (node.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_LAST) result.nulls_first = false;
  return result;
}

}  // namespace diptych
