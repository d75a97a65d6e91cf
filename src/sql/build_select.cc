#include <algorithm>
#include <utility>

#include "sql/tree_builder.h"

namespace diptych {

namespace {

// Joins are trees, which are walked and taken down by recursion.
constexpr int most_tables = 200;

bool starts_query(PgQuery__Token kind) {
  return kind == PG_QUERY__TOKEN__SELECT || kind == PG_QUERY__TOKEN__VALUES || kind == PG_QUERY__TOKEN__TABLE ||
         kind == PG_QUERY__TOKEN__WITH;
}

}  // namespace

syntax::SelectPtr TreeBuilder::select_of(const PgQuery__Node& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_SELECT_STMT) refuse("this kind of query", -1);
  return std::make_unique<syntax::Select>(select(*node.select_stmt));
}

// What of SELECT is not there yet. The nodes of set operations don't tell their place; the first such word is it.
void TreeBuilder::refuse_clauses(const PgQuery__SelectStmt& node) {
  const auto next = [&](PgQuery__Token kind) { return find_token({kind}, query_at_); };
  if (node.op == PG_QUERY__SET_OPERATION__SETOP_UNION) refuse("UNION", next(PG_QUERY__TOKEN__UNION));
  if (node.op == PG_QUERY__SET_OPERATION__SETOP_INTERSECT) refuse("INTERSECT", next(PG_QUERY__TOKEN__INTERSECT));
  if (node.op == PG_QUERY__SET_OPERATION__SETOP_EXCEPT) refuse("EXCEPT", next(PG_QUERY__TOKEN__EXCEPT));
  if (node.into_clause) refuse("SELECT INTO", next(PG_QUERY__TOKEN__INTO));
  if (node.n_window_clause > 0) refuse("WINDOW", next(PG_QUERY__TOKEN__WINDOW));
  if (node.n_locking_clause > 0) refuse("FOR UPDATE", next(PG_QUERY__TOKEN__FOR));
  if (node.limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES)
    refuse("WITH TIES", next(PG_QUERY__TOKEN__TIES));
  if (node.n_distinct_clause > 0 && node.distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET) {
    refuse("DISTINCT ON", next(PG_QUERY__TOKEN__DISTINCT));
  }
}

syntax::Select TreeBuilder::select(const PgQuery__SelectStmt& node) {
  syntax::Select result;
  if (node.with_clause) result.with = common_tables(*node.with_clause);
  refuse_clauses(node);
  result.position = find_token({PG_QUERY__TOKEN__SELECT, PG_QUERY__TOKEN__VALUES, PG_QUERY__TOKEN__TABLE}, query_at_);
  result.distinct = node.n_distinct_clause > 0;
  result.from = from_list(node);
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

std::vector<syntax::CommonTable> TreeBuilder::common_tables(const PgQuery__WithClause& node) {
  if (node.recursive) refuse("WITH RECURSIVE", node.location);
  std::vector<syntax::CommonTable> result;
  for (size_t i = 0; i < node.n_ctes; ++i) {
    const PgQuery__CommonTableExpr& table = *node.ctes[i]->common_table_expr;
    if (table.ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
      refuse("a statement that changes rows in WITH", table.location);
    syntax::CommonTable& added = result.emplace_back();
    added.name = table.ctename;
    added.position = table.location;
    for (size_t k = 0; k < table.n_aliascolnames; ++k)
      added.column_aliases.emplace_back(table.aliascolnames[k]->string->sval);
    enter_brackets();
    added.query = select_of(*table.ctequery);
  }
  // The query itself comes behind them.
  query_at_ = end_of_brackets(result.back().query->position);
  return result;
}

int TreeBuilder::enter_brackets() {
  int bracket = query_at_;
  bool in_brackets = false;
  for (size_t i = token_at(query_at_); i < tokens_.size(); ++i) {
    const bool opens = tokens_[i].kind == PG_QUERY__TOKEN__ASCII_40;
    if (opens && !in_brackets) bracket = tokens_[i].begin;
    if (in_brackets && starts_query(tokens_[i].kind)) {
      query_at_ = tokens_[i].begin;
      break;
    }
    in_brackets = opens;
  }
  return bracket;
}

int TreeBuilder::end_of_brackets(int from) const {
  int open = 0;
  for (size_t i = token_at(from); i < tokens_.size(); ++i) {
    if (tokens_[i].kind == PG_QUERY__TOKEN__ASCII_40) ++open;
    if (tokens_[i].kind == PG_QUERY__TOKEN__ASCII_41 && --open < 0) return tokens_[i].begin;
  }
  return from;
}

size_t TreeBuilder::token_at(int from) const {
  const auto before = [](const Token& token, int place) { return token.begin < place; };
  return static_cast<size_t>(std::lower_bound(tokens_.begin(), tokens_.end(), from, before) - tokens_.begin());
}

std::vector<syntax::TableReference> TreeBuilder::from_list(const PgQuery__SelectStmt& node) {
  const int tables_around = std::exchange(tables_, 0);
  std::vector<syntax::TableReference> result;
  for (size_t i = 0; i < node.n_from_clause; ++i) result.push_back(table_reference(*node.from_clause[i]));
  tables_ = tables_around;
  return result;
}

syntax::TableReference TreeBuilder::table_reference(const PgQuery__Node& node) {
  if (node.node_case == PG_QUERY__NODE__NODE_JOIN_EXPR) return join(*node.join_expr);
  syntax::TableReference result = single_table(node);
  if (++tables_ > most_tables)
    throw Error(SqlState::statement_too_complex, "FROM has more than " + std::to_string(most_tables) + " tables",
                result.position);
  return result;
}

syntax::TableReference TreeBuilder::single_table(const PgQuery__Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_RANGE_VAR: return named_table(*node.range_var);
    case PG_QUERY__NODE__NODE_RANGE_SUBSELECT: return subselect(*node.range_subselect);
    case PG_QUERY__NODE__NODE_RANGE_FUNCTION: return function_table(*node.range_function);
    case PG_QUERY__NODE__NODE_RANGE_TABLE_SAMPLE:
      refuse("TABLESAMPLE", find_token({PG_QUERY__TOKEN__TABLESAMPLE}, query_at_));
    default: refuse("this form of FROM", find_token({PG_QUERY__TOKEN__FROM}, query_at_));
  }
}

// The node does not tell its place, but its parts are met in the order of the text.
syntax::TableReference TreeBuilder::join(const PgQuery__JoinExpr& node) {
  refuse_outer_join(node.jointype);
  syntax::TableJoin join;
  join.left = std::make_unique<syntax::TableReference>(table_reference(*node.larg));
  if (node.is_natural) join.natural_position = find_token({PG_QUERY__TOKEN__NATURAL}, query_at_);
  join.right = std::make_unique<syntax::TableReference>(table_reference(*node.rarg));
  int at = node.n_using_clause > 0 ? find_token({PG_QUERY__TOKEN__USING}, query_at_) : -1;
  for (size_t i = 0; i < node.n_using_clause; ++i) {
    const char* name = node.using_clause[i]->string->sval;
    at = find_name(name, at + 1);
    join.merged_columns.push_back({name, at});
  }
  if (node.join_using_alias) refuse("an alias of USING", find_token({PG_QUERY__TOKEN__AS}, at));
  if (node.quals) join.condition = expression(*node.quals);
  syntax::TableReference result;
  result.position = join.left->position;
  result.source = std::move(join);
  set_alias(result, node.alias);
  return result;
}

void TreeBuilder::refuse_outer_join(PgQuery__JoinType type) const {
  if (type == PG_QUERY__JOIN_TYPE__JOIN_INNER) return;
  for (size_t i = token_at(query_at_); i + 1 < tokens_.size(); ++i) {
    const PgQuery__Token next = tokens_[i + 1].kind;
    if (next != PG_QUERY__TOKEN__JOIN && next != PG_QUERY__TOKEN__OUTER_P) continue;
    if (tokens_[i].kind == PG_QUERY__TOKEN__LEFT) refuse("LEFT JOIN", tokens_[i].begin);
    if (tokens_[i].kind == PG_QUERY__TOKEN__RIGHT) refuse("RIGHT JOIN", tokens_[i].begin);
    if (tokens_[i].kind == PG_QUERY__TOKEN__FULL) refuse("FULL JOIN", tokens_[i].begin);
  }
  refuse("an outer join", -1);
}

syntax::TableReference TreeBuilder::named_table(const PgQuery__RangeVar& node) {
  syntax::TableReference result;
  result.position = node.location;
  pass(node.location);
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
  if (node.lateral) refuse("LATERAL", find_token({PG_QUERY__TOKEN__LATERAL_P}, query_at_));
  syntax::TableReference result;
  result.position = enter_brackets();
  syntax::SelectPtr query = select_of(*node.subquery);
  pass(end_of_brackets(query->position));
  result.source = syntax::TableQuery{std::move(query)};
  set_alias(result, node.alias);
  return result;
}

syntax::TableReference TreeBuilder::function_table(const PgQuery__RangeFunction& node) {
  const int from = std::max(0, find_token({PG_QUERY__TOKEN__FROM}, query_at_));
  if (node.lateral) refuse("LATERAL", find_token({PG_QUERY__TOKEN__LATERAL_P}, query_at_));
  if (node.ordinality) refuse("WITH ORDINALITY", find_token({PG_QUERY__TOKEN__ORDINALITY}, query_at_));
  if (node.is_rowsfrom || node.n_functions != 1) refuse("ROWS FROM", from);
  if (node.n_coldeflist > 0) refuse("a column definition list", from);
  const PgQuery__Node& function = *node.functions[0]->list->items[0];
  if (function.node_case != PG_QUERY__NODE__NODE_FUNC_CALL) refuse("this function in FROM", from);
  syntax::TableReference result;
  result.position = function.func_call->location;
  pass(result.position);
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
