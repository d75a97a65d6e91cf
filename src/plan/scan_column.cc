#include "plan/scan_column.h"

namespace diptych {

const LogicalOperator& side_of(const LogicalOperator& join, ColumnId column) {
  const size_t fewer = join.inputs[0]->columns.size() < join.inputs[1]->columns.size() ? 0 : 1;
  const LogicalOperator& side = *join.inputs[fewer];
  return place_of(column, side.columns) < side.columns.size() ? side : *join.inputs[1 - fewer];
}

const SourceStatistics* statistics_of(const LogicalOperator& scan) {
  return scan.is_joined ? scan.source->sampled_statistics() : scan.source->statistics();
}

ScanColumn scan_column(const LogicalOperator& op, ColumnId column) {
  switch (op.kind) {
    case OperatorKind::Scan: return {&op, op.source_columns[place_of(column, op.columns)]};
    case OperatorKind::Filter:
    case OperatorKind::Sort:
    case OperatorKind::Limit: return scan_column(op.input(), column);
    case OperatorKind::Project: {
      const Expression& made_by = *op.expressions[place_of(column, op.columns)];
      return made_by.kind == ExpressionKind::Column ? scan_column(op.input(), made_by.column) : ScanColumn{};
    }
    case OperatorKind::Join: return scan_column(side_of(op, column), column);
    case OperatorKind::Aggregate: break;
  }
  return {};
}

}  // namespace diptych
