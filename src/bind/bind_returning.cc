#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "bind/table_binder.h"

namespace diptych {

LogicalOperatorPtr add_returned(LogicalOperatorPtr query, size_t kept, Returned returned, StatementState& state) {
  LogicalOperatorPtr project = make_operator(OperatorKind::Project, std::move(query));
  project->columns.resize(kept);
  for (const BoundColumn& column : project->columns)
    project->expressions.push_back(column_expression(column.id, column.type));
  for (SelectClauses::Output& output : returned.outputs) {
    ExpressionPtr value = settle(std::move(output.expression), state.parameters);
    for_each_column(*value, [&](Expression& column) {
      const auto known = std::ranges::find(returned.stored, column.column, &std::pair<ColumnId, ColumnId>::first);
      if (known != returned.stored.end()) column.column = known->second;
    });
    project->columns.push_back({std::move(output.name), value->type, state.new_column()});
    project->expressions.push_back(std::move(value));
  }
  project->depth = state.levels();
  return project;
}

void refuse_aggregates(const std::vector<BoundAggregate>& aggregates, const char* clause) {
  if (!aggregates.empty())
    throw Error(SqlState::grouping_error, std::string("aggregate functions are not allowed in ") + clause,
                aggregates.front().position);
}

}  // namespace diptych
