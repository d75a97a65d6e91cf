#include "bind/select_clauses.h"

#include <utility>

namespace diptych {

namespace {

LogicalOperatorPtr filter(LogicalOperatorPtr input, ExpressionPtr predicate) {
  if (!predicate) return input;
  LogicalOperatorPtr op = make_operator(OperatorKind::Filter, std::move(input));
  op->predicate = std::move(predicate);
  return op;
}

LogicalOperatorPtr aggregate(LogicalOperatorPtr input, SelectClauses& clauses) {
  LogicalOperatorPtr op = make_operator(OperatorKind::Aggregate, std::move(input));
  op->columns.clear();
  for (SelectClauses::Group& group : clauses.groups) {
    op->columns.push_back({"", group.expression->type, group.id});
    op->expressions.push_back(std::move(group.expression));
  }
  for (BoundAggregate& call : clauses.aggregates) {
    op->columns.push_back({name_of(call.function), call.type, call.id});
    op->aggregates.push_back(std::move(call));
  }
  return op;
}

LogicalOperatorPtr project(LogicalOperatorPtr input, SelectClauses& clauses) {
  LogicalOperatorPtr op = make_operator(OperatorKind::Project, std::move(input));
  op->columns.clear();
  for (SelectClauses::Output& output : clauses.outputs) {
    op->columns.push_back({std::move(output.name), output.expression->type, output.id});
    op->expressions.push_back(std::move(output.expression));
  }
  return op;
}

// Expressions that give the operator's columns as they are.
void pass_columns(LogicalOperator& op) {
  for (const BoundColumn& column : op.columns) op.expressions.push_back(column_expression(column.id, column.type));
}

LogicalOperatorPtr distinct(LogicalOperatorPtr input) {
  LogicalOperatorPtr op = make_operator(OperatorKind::Aggregate, std::move(input));
  pass_columns(*op);
  return op;
}

LogicalOperatorPtr sort(LogicalOperatorPtr input, const SelectClauses& clauses) {
  LogicalOperatorPtr op = make_operator(OperatorKind::Sort, std::move(input));
  for (const SelectClauses::OrderKey& key : clauses.order)
    op->keys.push_back({clauses.outputs[key.output].id, key.descending, key.nulls_first});
  return op;
}

LogicalOperatorPtr drop_hidden_columns(LogicalOperatorPtr input, size_t visible) {
  LogicalOperatorPtr op = make_operator(OperatorKind::Project, std::move(input));
  op->columns.resize(visible);
  pass_columns(*op);
  return op;
}

LogicalOperatorPtr limit(LogicalOperatorPtr input, SelectClauses& clauses) {
  LogicalOperatorPtr op = make_operator(OperatorKind::Limit, std::move(input));
  op->limit_rows = std::move(clauses.limit);
  op->offset_rows = std::move(clauses.offset);
  return op;
}

}  // namespace

LogicalOperatorPtr make_operators(SelectClauses clauses, int depth) {
  LogicalOperatorPtr plan = clauses.source ? std::move(clauses.source) : make_scan(ScanOf::Values, "", {});
  plan = filter(std::move(plan), std::move(clauses.where));
  if (clauses.grouped) plan = aggregate(std::move(plan), clauses);
  plan = filter(std::move(plan), std::move(clauses.having));
  plan = project(std::move(plan), clauses);
  if (clauses.distinct) plan = distinct(std::move(plan));
  if (!clauses.order.empty()) plan = sort(std::move(plan), clauses);
  if (clauses.visible_outputs < clauses.outputs.size())
    plan = drop_hidden_columns(std::move(plan), clauses.visible_outputs);
  if (clauses.limit || clauses.offset) plan = limit(std::move(plan), clauses);
  plan->depth = depth;
  return plan;
}

}  // namespace diptych
