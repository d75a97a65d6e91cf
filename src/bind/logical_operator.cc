#include "bind/logical_operator.h"

#include <utility>

namespace diptych {

std::vector<std::string> LogicalOperator::names() const {
  std::vector<std::string> result;
  for (const BoundColumn& column : columns) result.push_back(column.name);
  return result;
}

LogicalOperatorPtr make_operator(OperatorKind kind, LogicalOperatorPtr input) {
  auto op = std::make_unique<LogicalOperator>();
  op->kind = kind;
  op->columns = input->columns;
  op->inputs.push_back(std::move(input));
  return op;
}

LogicalOperatorPtr make_scan(ScanOf of, std::string name, std::vector<BoundColumn> columns) {
  auto scan = std::make_unique<LogicalOperator>();
  scan->scan_of = of;
  scan->source_name = std::move(name);
  scan->columns = std::move(columns);
  for (size_t i = 0; i < scan->columns.size(); ++i) scan->source_columns.push_back(i);
  return scan;
}

std::vector<ColumnDefinition> output_columns(const LogicalOperator& op) {
  std::vector<ColumnDefinition> columns;
  for (const BoundColumn& column : op.columns) columns.push_back({column.name, column.type});
  return columns;
}

}  // namespace diptych
