#include "plan/cardinality.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>

#include "plan/optimizer.h"
#include "plan/scan_column.h"
#include "plan/selectivity.h"
#include "tablet/dictionary.h"
#include "tablet/source_parts.h"
#include "tablet/statistics/source_statistics.h"

namespace diptych {

namespace {

// Where nothing is known of the values.
constexpr double pairs_part = 0.3;  // of a condition over both sides of a join
constexpr double usual_rows_a_group = 8;
constexpr double unknown_rows = 1e6;

constexpr double most_rows_shown = 1e18;

}  // namespace

int64_t whole_rows(double estimated_rows) {
  return static_cast<int64_t>(std::llround(std::min(estimated_rows, most_rows_shown)));
}

namespace {

// The keys of one side of a join, taken together.
struct JointKeys {
  // All are columns of it; null: they are not, or one alone may tell its rows apart.
  const LogicalOperator* scan = nullptr;
  double values = 1;  // in the table, were they independent
  double part = 1;    // of the values, that conditions on these columns alone leave

  // Whether they may tell the rows of their table apart, as a key of several columns does.
  bool may_be_key() const { return scan != nullptr && values >= scan->estimated_rows; }
};

JointKeys joint_keys(const LogicalOperator& side, std::span<const Expression* const> keys) {
  JointKeys joint;
  for (const Expression* key : keys) {
    if (key->kind != ExpressionKind::Column) return {};
    const ScanColumn place = scan_column(side, key->column);
    if (place.scan == nullptr || (joint.scan != nullptr && place.scan != joint.scan)) return {};
    joint.scan = place.scan;
    const auto& numbers = place.scan->source_columns;
    const auto column = static_cast<size_t>(std::find(numbers.begin(), numbers.end(), place.number) - numbers.begin());
    const double values = values_of(*place.scan, place.scan->columns[column].id).values;
    if (values >= place.scan->estimated_rows) return {};
    joint.values *= values;
    joint.part *= std::min(1.0, values_of(side, key->column).values / values);
  }
  return joint;
}

// Several columns that may tell rows apart on both sides are a key of the table that has fewer of these, and the others
// refer to it (a foreign key): most of the combinations that independent columns could have are not there.
std::optional<double> rows_of_key(const JoinSide& a, const JoinSide& b) {
  if (a.keys.size() < 2) return std::nullopt;
  const JointKeys first = joint_keys(a.rows, a.keys), second = joint_keys(b.rows, b.keys);
  if (!first.may_be_key() || !second.may_be_key()) return std::nullopt;
  const double rows = std::min(first.scan->estimated_rows, second.scan->estimated_rows);
  return std::max(1.0, rows * std::max(first.part, second.part));
}

std::vector<const Expression*> addresses(const std::vector<ExpressionPtr>& expressions) {
  std::vector<const Expression*> found;
  for (const ExpressionPtr& e : expressions) found.push_back(e.get());
  return found;
}

}  // namespace

// Bounds tell only how many values there may be. Where each row of a side has a value of its own, the other side's are
// taken to be among them, as a foreign key's are.
double equal_part(const ColumnValues& a, const ColumnValues& b) {
  if (a.is_key != b.is_key) return 1 / (a.is_key ? a : b).values;
  return 1 / std::max(a.values, b.values);
}

double pairs_of(const JoinSide& a, const JoinSide& b) {
  const double pairs = a.rows.estimated_rows * b.rows.estimated_rows;
  if (const auto rows = rows_of_key(a, b)) return pairs / *rows;
  double part = 1;
  for (size_t i = 0; i < a.keys.size(); ++i)
    part *= equal_part(values_of(a.rows, *a.keys[i]), values_of(b.rows, *b.keys[i]));
  return pairs * part;
}

namespace {

bool tells_rows_apart(const LogicalOperator& op, const Expression& expression);

// A row of a join is one of its side's, as long as it meets no more than one of the other side.
bool tells_rows_apart(const LogicalOperator& op, ColumnId column) {
  switch (op.kind) {
    case OperatorKind::Filter:
    case OperatorKind::Sort:
    case OperatorKind::Limit: return tells_rows_apart(op.input(), column);
    case OperatorKind::Project: return tells_rows_apart(op.input(), *op.expressions[place_of(column, op.columns)]);
    case OperatorKind::Join: {
      const LogicalOperator& side = side_of(op, column);
      const bool is_first = &side == op.inputs[0].get();
      const LogicalOperator& other = *op.inputs[is_first ? 1 : 0];
      const auto& keys = is_first ? op.build_keys : op.probe_keys;
      const bool meets_one = (is_first && op.meets_one) ||
                             std::any_of(keys.begin(), keys.end(),
                                         [&](const ExpressionPtr& key) { return tells_rows_apart(other, *key); });
      return meets_one && tells_rows_apart(side, column);
    }
    default: return values_of(op, column).is_key;
  }
}

bool tells_rows_apart(const LogicalOperator& op, const Expression& expression) {
  return expression.kind == ExpressionKind::Column && tells_rows_apart(op, expression.column);
}

}  // namespace

// Where no key tells rows apart, these take one of the combinations of their values each, by chance.
double repeated_rows(const JoinSide& side) {
  double values = 1;
  for (const Expression* key : side.keys) {
    if (tells_rows_apart(side.rows, *key)) return 0;
    const ColumnValues of_key = values_of(side.rows, *key);
    values *= of_key.values;
  }
  if (joint_keys(side.rows, side.keys).may_be_key()) return -1;
  const double rows = side.rows.estimated_rows;
  return std::max(0.0, rows + values * std::expm1(-rows / values));
}

double pairs_of_join(const LogicalOperator& op) {
  double pairs = pairs_of({*op.inputs[0], addresses(op.probe_keys)}, {*op.inputs[1], addresses(op.build_keys)});
  if (op.is_semi) pairs = std::min(pairs, op.inputs[0]->estimated_rows);
  return std::max(1.0, pairs);
}

namespace {

double rows_of_join(const LogicalOperator& op) { return pairs_of_join(op) * (op.predicate ? pairs_part : 1); }

bool has_column_alone(const Expression& e, ColumnId column) {
  if (e.kind == ExpressionKind::Column) return e.column == column;
  return std::all_of(e.args.begin(), e.args.end(),
                     [column](const ExpressionPtr& arg) { return has_column_alone(*arg, column); });
}

void take_conditions_on(ColumnId column, const Expression& condition, std::vector<const Expression*>& found) {
  if (condition.kind != ExpressionKind::And) {
    if (has_column_alone(condition, column)) found.push_back(&condition);
    return;
  }
  for (const ExpressionPtr& one : condition.args) take_conditions_on(column, *one, found);
}

// The part of a column's values that conditions on it alone leave.
double part_by_column(const Expression& condition, const LogicalOperator& input, ColumnId column) {
  std::vector<const Expression*> conditions;
  take_conditions_on(column, condition, conditions);
  return conditions.empty() ? 1 : part_of_all(conditions, input);
}

double groups_of(const LogicalOperator& op) {
  double groups = 1;
  for (const ExpressionPtr& key : op.expressions) {
    if (groups >= op.input().estimated_rows) break;  // of other keys a file need not be sampled
    const double values = values_of(op.input(), *key).values;
    const bool is_column = key->kind == ExpressionKind::Column;
    groups *= is_column ? values : std::min(values, op.input().estimated_rows / usual_rows_a_group);
  }
  return std::min(groups, op.input().estimated_rows);
}

double rows_of(const LogicalOperator& op) {
  switch (op.kind) {
    case OperatorKind::Scan: {
      const int64_t rows = most_rows(*op.source);
      return rows == INT64_MAX ? unknown_rows : static_cast<double>(rows);
    }
    case OperatorKind::Filter: return op.input().estimated_rows * part_of(*op.predicate, op.input());
    case OperatorKind::Aggregate: return groups_of(op);
    case OperatorKind::Limit:
    case OperatorKind::Sort: {
      const double rows = op.input().estimated_rows;
      return op.limit < 0 ? rows : std::min(rows, static_cast<double>(op.limit));
    }
    case OperatorKind::Join: return rows_of_join(op);
    case OperatorKind::Project: break;
  }
  return op.input().estimated_rows;
}

// A sketch that counts nearly as many values as rows can't tell whether each row has its own.
constexpr double part_of_a_key = 0.9;

// Of a scan's column, as the source has it.
double values_of_scan(const LogicalOperator& scan, size_t column) {
  const double rows = scan.estimated_rows;
  const size_t number = scan.source_columns[column];
  if (const Dictionary* dictionary = scan.source->common_dictionary(number))
    return std::clamp(static_cast<double>(dictionary->size()), 1.0, rows);
  double most = rows;
  if (const SourceStatistics* statistics = statistics_of(scan)) {
    const bool samples_all = static_cast<double>(statistics->sampled_rows()) >= rows;
    if (samples_all && statistics->sorted(number) != nullptr)
      return std::max(1.0, statistics->sorted(number)->different());
    const double different = statistics->different(number);
    if (different < part_of_a_key * rows) most = different;
  }
  const ColumnSummary summary = scan.source->summary(number);
  const Type& type = scan.columns[column].type;
  if (!summary.is_bounded || !summary.widest.has_bounds || type.is_string() || type.is_float()) return most;
  const double span = static_cast<double>(summary.widest.high) - static_cast<double>(summary.widest.low) + 1;
  return std::clamp(span, 1.0, most);
}

}  // namespace

void estimate_from_inputs(LogicalOperator& op) { op.estimated_rows = std::max(1.0, rows_of(op)); }

void estimate(LogicalOperator& op) {
  for (LogicalOperatorPtr& input : op.inputs) estimate(*input);
  estimate_from_inputs(op);
}

ColumnValues values_of(const LogicalOperator& op, const Expression& expression) {
  if (expression.kind == ExpressionKind::Column) return values_of(op, expression.column);
  std::set<ColumnId> columns;
  for_each_column(expression, [&](const Expression& column) { columns.insert(column.column); });
  double values = 1;
  for (const ColumnId column : columns)
    if (values < op.estimated_rows) values *= values_of(op, column).values;  // of others a file need not be sampled
  return {std::min(values, op.estimated_rows), false};
}

ColumnValues values_of(const LogicalOperator& op, ColumnId column) {
  switch (op.kind) {
    case OperatorKind::Scan: {
      const double values = values_of_scan(op, place_of(column, op.columns));
      return {values, values == op.estimated_rows};
    }
    case OperatorKind::Filter: {
      ColumnValues values = values_of(op.input(), column);
      values.values = std::max(1.0, values.values * part_by_column(*op.predicate, op.input(), column));
      return values;
    }
    case OperatorKind::Sort:
    case OperatorKind::Limit: return values_of(op.input(), column);
    case OperatorKind::Project: return values_of(op.input(), *op.expressions[place_of(column, op.columns)]);
    case OperatorKind::Aggregate: {
      const size_t key = place_of(column, op.columns);
      if (key >= op.expressions.size()) break;
      const double values = values_of(op.input(), *op.expressions[key]).values;
      return {std::min(values, op.estimated_rows), op.expressions.size() == 1};
    }
    case OperatorKind::Join: return {values_of(side_of(op, column), column).values, false};
  }
  return {op.estimated_rows, false};
}

}  // namespace diptych
