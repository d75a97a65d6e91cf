#include "plan/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/stack.h"
#include "plan/cardinality.h"
#include "tablet/source_parts.h"

namespace diptych {

namespace {

std::string aggregate_text(const BoundAggregate& aggregate, const std::vector<BoundColumn>& columns) {
  std::string text = aggregate.function == AggregateFunction::CountStar
                         ? "count(*)"
                         : fmt::format("{}({}{})", name_of(aggregate.function), aggregate.distinct ? "DISTINCT " : "",
                                       aggregate.argument->to_text(columns));
  if (aggregate.filter) text += fmt::format(" FILTER (WHERE {})", aggregate.filter->to_text(columns));
  return text;
}

std::vector<std::string> texts(const std::vector<ExpressionPtr>& expressions, const std::vector<BoundColumn>& columns) {
  std::vector<std::string> result;
  for (const ExpressionPtr& expression : expressions) result.push_back(expression->to_text(columns));
  return result;
}

std::string aggregate_line(const LogicalOperator& op) {
  const std::vector<BoundColumn>& columns = op.input().columns;
  std::vector<std::string> calls;
  for (const BoundAggregate& aggregate : op.aggregates) calls.push_back(aggregate_text(aggregate, columns));
  return fmt::format("Aggregate by [{}]: {}", fmt::join(texts(op.expressions, columns), ", "), fmt::join(calls, ", "));
}

std::string sort_line(const LogicalOperator& op) {
  const std::vector<BoundColumn>& columns = op.input().columns;
  std::vector<std::string> keys;
  for (const SortKey& key : op.keys)
    keys.push_back(fmt::format("{}{}{}", columns[place_of(key.column, columns)].name, key.descending ? " DESC" : "",
                               key.nulls_first == key.descending ? ""
                               : key.nulls_first                 ? " NULLS FIRST"
                                                                 : " NULLS LAST"));
  return fmt::format("{} {}", op.limit < 0 ? std::string("Sort") : fmt::format("Top {} by", op.limit),
                     fmt::join(keys, ", "));
}

std::string join_line(const LogicalOperator& op) {
  std::vector<std::string> conditions;
  for (size_t i = 0; i < op.probe_keys.size(); ++i)
    conditions.push_back(fmt::format("({} = {})", op.probe_keys[i]->to_text(op.inputs[0]->columns),
                                     op.build_keys[i]->to_text(op.inputs[1]->columns)));
  if (op.predicate) conditions.push_back(op.predicate->to_text(op.columns));
  const char* name = op.is_semi ? "Semi-join" : "Join";
  return conditions.empty() ? fmt::format("{} all pairs", name)
                            : fmt::format("{} {}", name, fmt::join(conditions, " AND "));
}

std::string rows_of(const TabletSource& source) {
  const int64_t rows = most_rows(source);
  return rows == INT64_MAX ? "up to the limit" : fmt::format("{} rows", rows);
}

std::string line(const LogicalOperator& op) {
  switch (op.kind) {
    case OperatorKind::Scan:
      return fmt::format("Scan {} [{}] ({})", op.source_name, fmt::join(op.names(), ", "), rows_of(*op.source));
    case OperatorKind::Filter: return "Filter " + op.predicate->to_text(op.input().columns);
    case OperatorKind::Project:
      return fmt::format("Project {}", fmt::join(texts(op.expressions, op.input().columns), ", "));
    case OperatorKind::Aggregate: return aggregate_line(op);
    case OperatorKind::Sort: return sort_line(op);
    case OperatorKind::Join: return join_line(op);
    case OperatorKind::Limit: {
      std::string text = op.limit < 0 ? "Limit all" : fmt::format("Limit {}", op.limit);
      return op.offset > 0 ? text + fmt::format(" offset {}", op.offset) : text;
    }
  }
  return "";
}

}  // namespace

std::string OperatorLine::drawn() const {
  const std::string indent = level == 0 ? "" : std::string(2 * static_cast<size_t>(level - 1), ' ') + "└ ";
  // Most scans know their rows.
  const bool is_said = estimated_rows == 0 || text.ends_with(fmt::format("({} rows)", estimated_rows));
  return indent + text + (is_said ? "" : fmt::format(" (~{} rows)", estimated_rows));
}

namespace {

void list(const LogicalOperator& op, int64_t level, std::vector<OperatorLine>& lines) {
  lines.push_back({level, line(op), whole_rows(op.estimated_rows)});
  for (const LogicalOperatorPtr& input : op.inputs) list(*input, level + 1, lines);
}

}  // namespace

std::vector<OperatorLine> list_operators(const LogicalOperator& plan) {
  std::vector<OperatorLine> lines;
  run_at_depth(plan.depth, [&] { list(plan, 0, lines); });
  return lines;
}

std::vector<std::string> describe(const LogicalOperator& plan) {
  std::vector<std::string> lines;
  for (const OperatorLine& one : list_operators(plan)) lines.push_back(one.drawn());
  return lines;
}

}  // namespace diptych
