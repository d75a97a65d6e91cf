#include "plan/planner.h"

#include "base/error.h"
#include "base/stack.h"
#include "plan/series_source.h"
#include "tablet/values.h"

namespace diptych {

namespace {

LogicalOperatorPtr make(OperatorKind kind, LogicalOperatorPtr input) {
  auto op = std::make_unique<LogicalOperator>();
  op->kind = kind;
  if (input) {
    op->columns = input->columns;
    op->inputs.push_back(std::move(input));
  }
  return op;
}

class Planner {
 public:
  Planner(BoundSelect query, Evaluator& evaluator) : query_(std::move(query)), evaluator_(evaluator) {}

  LogicalOperatorPtr run() {
    LogicalOperatorPtr plan = rows_of(query_.source);
    if (query_.where) plan = filter(std::move(plan), std::move(query_.where));
    if (query_.grouped) plan = aggregate(std::move(plan));
    if (query_.having) plan = filter(std::move(plan), std::move(query_.having));
    plan = project(std::move(plan));
    if (query_.distinct) plan = distinct(std::move(plan));
    if (!query_.order.empty()) plan = sort(std::move(plan));
    if (query_.visible_outputs < query_.outputs.size()) plan = drop_hidden_columns(std::move(plan));
    return limit(std::move(plan));
  }

 private:
  LogicalOperatorPtr rows_of(BoundSource& source) {
    if (source.kind == BoundSource::Kind::Query) return inner_query(source);
    if (source.kind == BoundSource::Kind::Join) return join(source);
    auto op = make(OperatorKind::Scan, nullptr);
    op->columns = source.columns;
    op->source_name = source.name;
    op->source = open_source(source);
    for (size_t i = 0; i < op->columns.size(); ++i) op->source_columns.push_back(i);
    return op;
  }

  LogicalOperatorPtr inner_query(BoundSource& source) {
    LogicalOperatorPtr plan = Planner(std::move(*source.query), evaluator_).run();
    for (size_t i = 0; i < plan->columns.size(); ++i) plan->columns[i].name = source.columns[i].name;
    return plan;
  }

  LogicalOperatorPtr join(BoundSource& source) {
    auto op = make(OperatorKind::Join, nullptr);
    for (BoundSource& side : source.inputs) op->inputs.push_back(rows_of(side));
    op->columns = source.columns;
    op->predicate = std::move(source.condition);
    return op;
  }

  std::shared_ptr<const TabletSource> open_source(BoundSource& source) {
    switch (source.kind) {
      case BoundSource::Kind::OneRow: return make_value_source({}, {}, 1);
      case BoundSource::Kind::Tablets: return source.tablets;
      case BoundSource::Kind::Values: return values_source(source);
      case BoundSource::Kind::Series: return series_source(source);
      case BoundSource::Kind::Query:
      case BoundSource::Kind::Join: break;
    }
    return nullptr;
  }

  std::shared_ptr<const TabletSource> values_source(const BoundSource& source) {
    std::vector<Value> cells;
    for (const std::vector<ExpressionPtr>& row : source.values)
      for (const ExpressionPtr& cell : row) cells.push_back(evaluate(*cell));
    return make_value_source(definitions_of(source), cells, static_cast<int64_t>(source.values.size()));
  }

  std::shared_ptr<const TabletSource> series_source(const BoundSource& source) {
    const Value start = evaluate(*source.series_start);
    const Value stop = evaluate(*source.series_stop);
    const Value step = source.series_step ? evaluate(*source.series_step) : Value::bigint(1);
    if (start.is_null() || stop.is_null() || step.is_null()) return make_value_source(definitions_of(source), {}, 0);
    return std::make_shared<SeriesSource>(definitions_of(source).front(), static_cast<int64_t>(start.as_integral()),
                                          static_cast<int64_t>(stop.as_integral()),
                                          static_cast<int64_t>(step.as_integral()));
  }

  static std::vector<ColumnDefinition> definitions_of(const BoundSource& source) {
    std::vector<ColumnDefinition> definitions;
    for (const BoundColumn& column : source.columns) definitions.push_back({column.name, column.type});
    return definitions;
  }

  Value evaluate(const Expression& expression) {
    return expression.kind == ExpressionKind::Constant ? expression.value : evaluator_.evaluate_constant(expression);
  }

  LogicalOperatorPtr filter(LogicalOperatorPtr input, ExpressionPtr predicate) {
    auto op = make(OperatorKind::Filter, std::move(input));
    op->predicate = std::move(predicate);
    return op;
  }

  LogicalOperatorPtr aggregate(LogicalOperatorPtr input) {
    auto op = make(OperatorKind::Aggregate, std::move(input));
    op->columns.clear();
    for (BoundGroup& group : query_.groups) {
      op->columns.push_back({group.expression->to_text(op->input().columns), group.expression->type, group.id});
      op->expressions.push_back(std::move(group.expression));
    }
    for (BoundAggregate& call : query_.aggregates) {
      op->columns.push_back({name_of(call.function), call.type, call.id});
      op->aggregates.push_back(std::move(call));
    }
    return op;
  }

  LogicalOperatorPtr project(LogicalOperatorPtr input) {
    auto op = make(OperatorKind::Project, std::move(input));
    op->columns.clear();
    for (BoundOutput& output : query_.outputs) {
      // What only ORDER BY needs has no name of its own.
      op->columns.push_back({output.name.empty() ? output.expression->to_text(op->input().columns) : output.name,
                             output.expression->type, output.id});
      op->expressions.push_back(std::move(output.expression));
    }
    return op;
  }

  LogicalOperatorPtr distinct(LogicalOperatorPtr input) {
    auto op = make(OperatorKind::Aggregate, std::move(input));
    for (const BoundColumn& column : op->columns) op->expressions.push_back(column_expression(column.id, column.type));
    return op;
  }

  LogicalOperatorPtr sort(LogicalOperatorPtr input) {
    auto op = make(OperatorKind::Sort, std::move(input));
    for (const BoundOrderKey& key : query_.order)
      op->keys.push_back({query_.outputs[key.output].id, key.descending, key.nulls_first});
    return op;
  }

  LogicalOperatorPtr drop_hidden_columns(LogicalOperatorPtr input) {
    auto op = make(OperatorKind::Project, std::move(input));
    op->columns.resize(query_.visible_outputs);
    for (const BoundColumn& column : op->columns) op->expressions.push_back(column_expression(column.id, column.type));
    return op;
  }

  LogicalOperatorPtr limit(LogicalOperatorPtr input) {
    const int64_t limit =
        row_count(query_.limit, SqlState::invalid_row_count_in_limit, "LIMIT must not be negative", -1);
    const int64_t offset =
        row_count(query_.offset, SqlState::invalid_row_count_in_offset, "OFFSET must not be negative", 0);
    if (limit < 0 && offset == 0) return input;
    auto op = make(OperatorKind::Limit, std::move(input));
    op->limit = limit;
    op->offset = offset;
    return op;
  }

  // The value of LIMIT or OFFSET; absent or NULL means `none`.
  int64_t row_count(const ExpressionPtr& expression, SqlState state, const char* message, int64_t none) {
    if (!expression) return none;
    const Value value = evaluate(*expression);
    if (value.is_null()) return none;
    if (value.as_integral() < 0) throw Error(state, message, expression->position);
    return static_cast<int64_t>(value.as_integral());
  }

  BoundSelect query_;
  Evaluator& evaluator_;
};

}  // namespace

LogicalOperatorPtr make_logical_plan(BoundSelect query, Evaluator& evaluator) {
  const int depth = query.depth;
  LogicalOperatorPtr plan;
  run_at_depth(depth, [&] { plan = Planner(std::move(query), evaluator).run(); });
  plan->depth = depth;
  return plan;
}

}  // namespace diptych
