#include <utility>

#include "base/error.h"
#include "sql/tree_builder.h"

namespace diptych {

namespace {

template <typename Node>
syntax::ExpressionPtr make(Node node, int position) {
  auto expression = std::make_unique<syntax::Expression>();
  expression->node = std::move(node);
  expression->position = position;
  return expression;
}

// LIKE ... ESCAPE: the grammar puts the pattern into a call of an internal function.
bool is_pattern_escape(const PgQuery__Node& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_FUNC_CALL) return false;
  const PgQuery__FuncCall& call = *node.func_call;
  return call.n_funcname == 2 && std::string_view(call.funcname[0]->string->sval) == "pg_catalog" &&
         std::string_view(call.funcname[1]->string->sval) == "like_escape";
}

// The place of what a subscript or a field is taken of.
int start_of(const PgQuery__Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_A_CONST: return node.a_const->location;
    case PG_QUERY__NODE__NODE_COLUMN_REF: return node.column_ref->location;
    case PG_QUERY__NODE__NODE_FUNC_CALL: return node.func_call->location;
    case PG_QUERY__NODE__NODE_PARAM_REF: return node.param_ref->location;
    case PG_QUERY__NODE__NODE_ROW_EXPR: return node.row_expr->location;
    case PG_QUERY__NODE__NODE_SUB_LINK: return node.sub_link->location;
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR: return node.a_array_expr->location;
    case PG_QUERY__NODE__NODE_TYPE_CAST: return node.type_cast->location;
    default: return -1;
  }
}

}  // namespace

std::string last_name(size_t count, PgQuery__Node* const* nodes) {
  check_invariant(count > 0 && nodes[count - 1]->node_case == PG_QUERY__NODE__NODE_STRING, "a name ends in a string");
  return nodes[count - 1]->string->sval;
}

std::string TreeBuilder::catalog_name(size_t count, PgQuery__Node* const* nodes, const char* what, int position) const {
  std::string name = last_name(count, nodes);
  if (count == 1) return name;
  if (count > 2) refuse("a database name before a " + std::string(what), position);
  const std::string schema = nodes[0]->string->sval;
  if (schema == "pg_catalog") return name;
  if (schema != "public" && schema != "main") {
    throw Error(SqlState::invalid_schema_name, "schema \"" + schema + "\" does not exist", position,
                "There are no schemas: leave it out.");
  }
  const bool is_called = std::string_view(what) != "collation" && std::string_view(what) != "type";
  throw Error(is_called ? SqlState::undefined_function : SqlState::undefined_object,
              std::string(what) + " \"" + schema + "." + name + "\" does not exist", position,
              "What the system defines has no schema: leave it out.");
}

syntax::Expressions TreeBuilder::expressions(size_t count, PgQuery__Node* const* nodes) {
  syntax::Expressions result;
  result.reserve(count);
  for (size_t i = 0; i < count; ++i) result.push_back(expression(*nodes[i]));
  return result;
}

syntax::ExpressionPtr TreeBuilder::expression(const PgQuery__Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_A_CONST: return constant(*node.a_const);
    case PG_QUERY__NODE__NODE_COLUMN_REF: return column_reference(*node.column_ref);
    case PG_QUERY__NODE__NODE_PARAM_REF:
      return make(syntax::Parameter{node.param_ref->number}, node.param_ref->location);
    case PG_QUERY__NODE__NODE_A_EXPR: return operation(*node.a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR: return logical(*node.bool_expr);
    case PG_QUERY__NODE__NODE_NULL_TEST:
      return make(syntax::IsTest{syntax::IsTest::Kind::Null,
                                 node.null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NOT_NULL,
                                 expression(*node.null_test->arg)},
                  node.null_test->location);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST: return truth_test(*node.boolean_test);
    case PG_QUERY__NODE__NODE_CASE_EXPR: return case_expression(*node.case_expr);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return make(syntax::Coalesce{expressions(node.coalesce_expr->n_args, node.coalesce_expr->args)},
                  node.coalesce_expr->location);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return make(syntax::MinMax{node.min_max_expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST,
                                 expressions(node.min_max_expr->n_args, node.min_max_expr->args)},
                  node.min_max_expr->location);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION: return current_time(*node.sqlvalue_function);
    case PG_QUERY__NODE__NODE_FUNC_CALL: return call(*node.func_call);
    case PG_QUERY__NODE__NODE_TYPE_CAST: return cast(*node.type_cast);
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT: return make(syntax::Default{}, node.set_to_default->location);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      check_collation(*node.collate_clause);
      return make(syntax::Collate{expression(*node.collate_clause->arg)}, node.collate_clause->location);
    case PG_QUERY__NODE__NODE_SUB_LINK: refuse("a subquery", node.sub_link->location);
    case PG_QUERY__NODE__NODE_ROW_EXPR: refuse("a row value", node.row_expr->location);
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR: refuse("ARRAY", node.a_array_expr->location);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      refuse("a subscript or field selection", start_of(*node.a_indirection->arg));
    case PG_QUERY__NODE__NODE_GROUPING_FUNC: refuse("GROUPING", node.grouping_func->location);
    case PG_QUERY__NODE__NODE_XML_EXPR: refuse("XML", node.xml_expr->location);
    default: refuse("this expression", -1);
  }
}

void TreeBuilder::check_collation(const PgQuery__CollateClause& node) const {
  const std::string name = catalog_name(node.n_collname, node.collname, "collation", node.location);
  if (name != "C" && name != "POSIX" && name != "default") refuse("COLLATE other than \"C\"", node.location);
}

syntax::ExpressionPtr TreeBuilder::constant(const PgQuery__AConst& node) {
  const int position = node.location;
  if (node.isnull) return make(syntax::NullLiteral{}, position);
  switch (node.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL: return make(syntax::IntegerLiteral{node.ival->ival}, position);
    case PG_QUERY__A__CONST__VAL_FVAL: return make(syntax::NumberLiteral{node.fval->fval}, position);
    case PG_QUERY__A__CONST__VAL_BOOLVAL: return make(syntax::BooleanLiteral{node.boolval->boolval != 0}, position);
    case PG_QUERY__A__CONST__VAL_SVAL: return make(syntax::StringLiteral{node.sval->sval}, position);
    case PG_QUERY__A__CONST__VAL_BSVAL: refuse("a bit string", position);
    default: return make(syntax::IntegerLiteral{0}, position);
  }
}

syntax::ExpressionPtr TreeBuilder::column_reference(const PgQuery__ColumnRef& node) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < node.n_fields; ++i) {
    if (node.fields[i]->node_case == PG_QUERY__NODE__NODE_A_STAR)
      return make(syntax::Star{std::move(parts)}, node.location);
    parts.emplace_back(node.fields[i]->string->sval);
  }
  return make(syntax::ColumnName{std::move(parts)}, node.location);
}

syntax::ExpressionPtr TreeBuilder::operation(const PgQuery__AExpr& node) {
  switch (node.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP: return plain_operator(node);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY: refuse("ANY", node.location);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL: refuse("ALL", node.location);
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
      return make(syntax::DistinctTest{node.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT,
                                       expression(*node.lexpr), expression(*node.rexpr)},
                  node.location);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
      return make(syntax::NullIf{expression(*node.lexpr), expression(*node.rexpr)}, node.location);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN: return in_list(node);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE: return like(node, false);
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE: return like(node, true);
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR: refuse("SIMILAR TO", node.location);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN: return between(node, false, false);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN: return between(node, true, false);
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM: return between(node, false, true);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM: return between(node, true, true);
    default: refuse("this operator", node.location);
  }
}

syntax::ExpressionPtr TreeBuilder::plain_operator(const PgQuery__AExpr& node) {
  syntax::Operator result;
  result.symbol = catalog_name(node.n_name, node.name, "operator", node.location);
  if (node.lexpr) result.args.push_back(expression(*node.lexpr));
  if (node.rexpr) result.args.push_back(expression(*node.rexpr));
  return make(std::move(result), node.location);
}

syntax::ExpressionPtr TreeBuilder::like(const PgQuery__AExpr& node, bool ignore_case) {
  syntax::Like result;
  result.negated = last_name(node.n_name, node.name).starts_with('!');
  result.ignore_case = ignore_case;
  result.value = expression(*node.lexpr);
  if (is_pattern_escape(*node.rexpr)) {
    result.pattern = expression(*node.rexpr->func_call->args[0]);
    result.escape = expression(*node.rexpr->func_call->args[1]);
  } else {
    result.pattern = expression(*node.rexpr);
  }
  return make(std::move(result), node.location);
}

syntax::ExpressionPtr TreeBuilder::between(const PgQuery__AExpr& node, bool negated, bool symmetric) {
  check_invariant(node.rexpr->node_case == PG_QUERY__NODE__NODE_LIST && node.rexpr->list->n_items == 2,
                  "BETWEEN has two bounds");
  PgQuery__Node* const* bounds = node.rexpr->list->items;
  return make(
      syntax::Between{negated, symmetric, expression(*node.lexpr), expression(*bounds[0]), expression(*bounds[1])},
      node.location);
}

syntax::ExpressionPtr TreeBuilder::in_list(const PgQuery__AExpr& node) {
  check_invariant(node.rexpr->node_case == PG_QUERY__NODE__NODE_LIST, "IN has a list");
  const bool negated = last_name(node.n_name, node.name) == "<>";
  return make(
      syntax::InList{negated, expression(*node.lexpr), expressions(node.rexpr->list->n_items, node.rexpr->list->items)},
      node.location);
}

syntax::ExpressionPtr TreeBuilder::logical(const PgQuery__BoolExpr& node) {
  using Kind = syntax::Logical::Kind;
  const Kind kind = node.boolop == PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR  ? Kind::And
                    : node.boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR ? Kind::Or
                                                                       : Kind::Not;
  return make(syntax::Logical{kind, expressions(node.n_args, node.args)}, node.location);
}

syntax::ExpressionPtr TreeBuilder::truth_test(const PgQuery__BooleanTest& node) {
  using Kind = syntax::IsTest::Kind;
  Kind kind = Kind::Unknown;
  bool negated = false;
  switch (node.booltesttype) {
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE: negated = true; [[fallthrough]];
    case PG_QUERY__BOOL_TEST_TYPE__IS_TRUE: kind = Kind::True; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE: negated = true; [[fallthrough]];
    case PG_QUERY__BOOL_TEST_TYPE__IS_FALSE: kind = Kind::False; break;
    case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_UNKNOWN: negated = true; break;
    default: break;
  }
  return make(syntax::IsTest{kind, negated, expression(*node.arg)}, node.location);
}

syntax::ExpressionPtr TreeBuilder::case_expression(const PgQuery__CaseExpr& node) {
  syntax::Case result;
  if (node.arg) result.subject = expression(*node.arg);
  for (size_t i = 0; i < node.n_args; ++i) {
    const PgQuery__CaseWhen& branch = *node.args[i]->case_when;
    result.branches.push_back({expression(*branch.expr), expression(*branch.result)});
  }
  if (node.defresult) result.otherwise = expression(*node.defresult);
  return make(std::move(result), node.location);
}

syntax::ExpressionPtr TreeBuilder::current_time(const PgQuery__SQLValueFunction& node) {
  using Kind = syntax::CurrentTime::Kind;
  switch (node.op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
      return make(syntax::CurrentTime{Kind::Date, "current_date"}, node.location);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
      return make(syntax::CurrentTime{Kind::Timestamp, "current_timestamp"}, node.location);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
      return make(syntax::CurrentTime{Kind::Timestamp, "localtimestamp"}, node.location);
    default: refuse("this value", node.location);
  }
}

syntax::ExpressionPtr TreeBuilder::call(const PgQuery__FuncCall& node) {
  if (node.over) refuse("a window function (OVER)", node.over->location >= 0 ? node.over->location : node.location);
  if (node.agg_within_group) refuse("WITHIN GROUP", node.location);
  if (node.func_variadic) refuse("VARIADIC", node.location);
  if (node.n_agg_order > 0) refuse("ORDER BY in an aggregate", node.location);
  syntax::Call result;
  result.name = catalog_name(node.n_funcname, node.funcname, "function", node.location);
  result.star = node.agg_star;
  result.distinct = node.agg_distinct;
  for (size_t i = 0; i < node.n_args; ++i) {
    const bool named = node.args[i]->node_case == PG_QUERY__NODE__NODE_NAMED_ARG_EXPR;
    result.argument_names.emplace_back(named ? node.args[i]->named_arg_expr->name : "");
    result.args.push_back(expression(named ? *node.args[i]->named_arg_expr->arg : *node.args[i]));
  }
  if (node.agg_filter) result.filter = expression(*node.agg_filter);
  return make(std::move(result), node.location);
}

syntax::ExpressionPtr TreeBuilder::cast(const PgQuery__TypeCast& node) {
  return make(syntax::Cast{expression(*node.arg), type_name(*node.type_name)}, node.location);
}

syntax::TypeName TreeBuilder::type_name(const PgQuery__TypeName& node) {
  if (node.n_array_bounds > 0) refuse("an array type", node.location);
  if (node.setof || node.pct_type) refuse("SETOF and %TYPE", node.location);
  syntax::TypeName result;
  result.name = catalog_name(node.n_names, node.names, "type", node.location);
  result.position = node.location;
  for (size_t i = 0; i < node.n_typmods; ++i) {
    const PgQuery__Node& modifier = *node.typmods[i];
    if (modifier.node_case != PG_QUERY__NODE__NODE_A_CONST ||
        modifier.a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL) {
      throw Error(SqlState::invalid_parameter_value, "type modifiers must be integers", node.location);
    }
    result.modifiers.push_back(modifier.a_const->ival->ival);
  }
  return result;
}

}  // namespace diptych
