#include "plan/open_plan.h"

#include <utility>

#include "base/error.h"
#include "base/stack.h"
#include "plan/series_source.h"
#include "tablet/values.h"

namespace diptych {

namespace {

class PlanOpener {
 public:
  explicit PlanOpener(Evaluator& evaluator) : evaluator_(evaluator) {}

  void open(LogicalOperatorPtr& op) {
    for (LogicalOperatorPtr& input : op->inputs) open(input);
    name_values(*op);
    if (op->kind == OperatorKind::Scan) open_scan(*op);
    if (op->kind == OperatorKind::Limit) open_limit(op);
  }

 private:
  // Keys of groups, and what only ORDER BY needs.
  static void name_values(LogicalOperator& op) {
    for (size_t i = 0; i < op.columns.size(); ++i) {
      BoundColumn& column = op.columns[i];
      if (!column.name.empty() || op.inputs.size() != 1) continue;
      const std::vector<BoundColumn>& known = op.input().columns;
      const size_t place = place_of(column.id, known);
      column.name = place < known.size() ? known[place].name : op.expressions[i]->to_text(known);
    }
  }

  void open_scan(LogicalOperator& scan) {
    if (scan.scan_of == ScanOf::Values) scan.source = values_source(scan);
    if (scan.scan_of == ScanOf::Series) scan.source = series_source(scan);
    scan.expressions.clear();
  }

  std::shared_ptr<const TabletSource> values_source(const LogicalOperator& scan) {
    std::vector<Value> cells;
    for (const ExpressionPtr& cell : scan.expressions) cells.push_back(evaluate(*cell));
    const size_t rows = scan.columns.empty() ? 1 : cells.size() / scan.columns.size();
    return make_value_source(output_columns(scan), cells, static_cast<int64_t>(rows));
  }

  std::shared_ptr<const TabletSource> series_source(const LogicalOperator& scan) {
    const Value start = evaluate(*scan.expressions[0]);
    const Value stop = evaluate(*scan.expressions[1]);
    const Value step = scan.expressions.size() > 2 ? evaluate(*scan.expressions[2]) : Value::bigint(1);
    if (start.is_null() || stop.is_null() || step.is_null()) return make_value_source(output_columns(scan), {}, 0);
    return std::make_shared<SeriesSource>(output_columns(scan).front(), static_cast<int64_t>(start.as_integral()),
                                          static_cast<int64_t>(stop.as_integral()),
                                          static_cast<int64_t>(step.as_integral()));
  }

  // LIMIT ALL without an OFFSET leaves its input.
  void open_limit(LogicalOperatorPtr& op) {
    op->limit = row_count(op->limit_rows, SqlState::invalid_row_count_in_limit, "LIMIT must not be negative", -1);
    op->offset = row_count(op->offset_rows, SqlState::invalid_row_count_in_offset, "OFFSET must not be negative", 0);
    if (op->limit >= 0 || op->offset > 0) return;
    std::vector<BoundColumn> columns = std::move(op->columns);  // which FROM may have given other names
    op = std::exchange(op->inputs.front(), nullptr);
    op->columns = std::move(columns);
  }

  // The value of LIMIT or OFFSET; absent or NULL means `none`.
  int64_t row_count(ExpressionPtr& given, SqlState state, const char* message, int64_t none) {
    const ExpressionPtr expression = std::move(given);
    if (!expression) return none;
    const Value value = evaluate(*expression);
    if (value.is_null()) return none;
    if (value.as_integral() < 0) throw Error(state, message, expression->position);
    return static_cast<int64_t>(value.as_integral());
  }

  Value evaluate(const Expression& expression) {
    return expression.kind == ExpressionKind::Constant ? expression.value : evaluator_.evaluate_constant(expression);
  }

  Evaluator& evaluator_;
};

}  // namespace

void open_plan(LogicalOperatorPtr& plan, Evaluator& evaluator) {
  const int depth = plan->depth;
  run_at_depth(depth, [&] { PlanOpener(evaluator).open(plan); });
  plan->depth = depth;
}

std::optional<PickedValues> picked_values(const LogicalOperator& plan) {
  if (plan.kind != OperatorKind::Project || plan.input().kind != OperatorKind::Scan) return std::nullopt;
  const LogicalOperator& scan = plan.input();
  if (scan.scan_of != ScanOf::Values) return std::nullopt;
  PickedValues picked{scan.source, {}};
  for (const ExpressionPtr& expression : plan.expressions) {
    if (expression->kind != ExpressionKind::Column) return std::nullopt;
    picked.columns.push_back(scan.source_columns[place_of(expression->column, scan.columns)]);
  }
  return picked;
}

}  // namespace diptych
