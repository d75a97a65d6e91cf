#include "session/session_evaluator.h"

#include <numeric>

#include "bind/logical_operator.h"
#include "program/compiler.h"
#include "tablet/values.h"

namespace diptych {

std::vector<Value> read_values(const TabletSource& source) {
  std::vector<size_t> all(source.columns().size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<Value> values;
  values.reserve(static_cast<size_t>(source.row_count()) * all.size());
  for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
    const auto pinned = source.pin(tablet, all);
    for (int64_t row = 0; row < pinned->rows; ++row)
      for (const size_t column : all)
        values.push_back(value_at(pinned->views[column], source.columns()[column].type, row));
  }
  return values;
}

std::vector<Value> SessionEvaluator::evaluate(const std::vector<const Expression*>& expressions,
                                              std::shared_ptr<const TabletSource> source,
                                              const std::vector<ColumnId>& columns) {
  std::vector<BoundColumn> read;
  for (size_t i = 0; i < columns.size(); ++i)
    read.push_back({source->columns()[i].name, source->columns()[i].type, columns[i]});
  LogicalOperatorPtr scan = make_scan(ScanOf::Values, "", std::move(read));
  scan->source = std::move(source);
  LogicalOperator project;
  project.kind = OperatorKind::Project;
  for (const Expression* expression : expressions) {
    project.columns.push_back({"value", expression->type, no_column});
    project.expressions.push_back(expression->clone());
  }
  project.inputs.push_back(std::move(scan));
  ExecutionContext context = connection_.execution_context();
  context.threads = 1;
  context.progress = nullptr;
  return read_values(*run_program(compile(project, *this), context));
}

Value SessionEvaluator::evaluate_constant(const Expression& expression) {
  return evaluate({&expression}, make_value_source({}, {}, 1), {}).front();
}

}  // namespace diptych
