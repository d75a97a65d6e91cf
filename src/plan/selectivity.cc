#include "plan/selectivity.h"

#include <algorithm>
#include <optional>

#include "plan/cardinality.h"
#include "plan/sampled_truth.h"
#include "plan/scan_column.h"
#include "tablet/statistics/source_statistics.h"

namespace diptych {

namespace {

using Kind = ExpressionKind;

// Where nothing is known of the values.
constexpr double equality_part = 0.05, range_part = 0.3, other_part = 0.3;
// Fewer sampled rows than these tell little more than that there are few. The sample of a small table is all of it.
constexpr double enough_rows = 4;
// What no sampled row is, less than one of them may be.
constexpr double rows_of_none = 0.5;

bool is_range(Kind kind) { return kind >= Kind::Lt && kind <= Kind::Ge; }

// Of the sampled rows, those for which a condition holds.
struct SampledRows {
  double holds = 0, all = 0;
  bool is_whole_table = false;
  bool are_neighbours = false;  // the rows for which it holds, if any: of other parts of the table they tell nothing

  bool are_enough() const { return is_whole_table || (holds > enough_rows && !are_neighbours); }
  double part() const { return std::max(holds, rows_of_none) / all; }
};

SampledRows count_rows(const std::vector<Truth>& truths, const LogicalOperator& scan) {
  const std::span<const uint8_t> clusters = statistics_of(scan)->clusters();
  ClustersSeen seen;
  double holds = 0;
  for (size_t row = 0; row < truths.size(); ++row) {
    if (truths[row] != Truth::True) continue;
    ++holds;
    if (!clusters.empty()) seen.add(clusters[row]);
  }
  const auto all = static_cast<double>(truths.size());
  return {holds, all, all >= scan.estimated_rows, !clusters.empty() && seen.is_one_at_most()};
}

// nullopt: they can't tell.
std::optional<SampledRows> sampled_rows(const Expression& condition, const LogicalOperator& op) {
  SampledTruth sample(op);
  const auto truths = sample.of(condition);
  if (!truths || sample.scan() == nullptr) return std::nullopt;
  return count_rows(*truths, *sample.scan());
}

// Of the rows with a value that few sampled rows have, each value has as many as the others.
double rare_part(const SortedSample& sample, double values) {
  const SortedSample::Frequent frequent = sample.more_frequent_than(enough_rows);
  const double rare_rows = std::max(rows_of_none, sample.rows() - sample.nulls() - frequent.rows);
  return rare_rows / sample.rows() / std::max(1.0, values - frequent.values);
}

const SortedSample* sorted_sample(const LogicalOperator& op, const Expression& e, ScanColumn& place) {
  if (e.kind != Kind::Column) return nullptr;
  place = scan_column(op, e.column);
  if (place.scan == nullptr) return nullptr;
  const SourceStatistics* statistics = statistics_of(*place.scan);
  return statistics == nullptr ? nullptr : statistics->sorted(place.number);
}

// Of the sampled rows in order those from the first one on.
SampledRows part_of_sample(double first, double end, const SortedSample& sample, const LogicalOperator& scan) {
  return {end - first, sample.rows(), sample.rows() >= scan.estimated_rows, sample.are_of_one_cluster(first, end)};
}

// column = constant.
double equal_constant_part(const LogicalOperator& op, const Expression& column, const Value& constant) {
  const double values = values_of(op, column).values;
  ScanColumn place;
  const SortedSample* sample = sorted_sample(op, column, place);
  const auto value = sampled_value(constant, column.type);
  if (sample == nullptr || !value) return 1 / values;
  const SortedSample::Place found = sample->find(*value);
  const SampledRows rows = part_of_sample(found.below, found.below + found.equal, *sample, *place.scan);
  return rows.are_enough() ? rows.part() : rare_part(*sample, values);
}

double equality(const Expression& condition, const LogicalOperator& op) {
  const Expression &left = *condition.args[0], &right = *condition.args[1];
  if (left.kind != Kind::Column) return equality_part;
  if (has_value(right)) return equal_constant_part(op, left, right.value);
  const auto rows = sampled_rows(condition, op);
  return rows ? rows->part() : 1 / values_of(op, left).values;
}

double membership(const Expression& condition, const LogicalOperator& op) {
  const Expression& left = *condition.args[0];
  double part = 0;
  for (size_t i = 1; i < condition.args.size(); ++i) {
    if (left.kind != Kind::Column)
      part += equality_part;
    else if (has_value(*condition.args[i]))
      part += equal_constant_part(op, left, condition.args[i]->value);
    else
      part += 1 / values_of(op, left).values;
  }
  return std::min(part, 1.0);
}

// The part of a column's bounds that a range leaves; nullopt: it has none.
std::optional<double> part_of_bounds(Kind kind, const LogicalOperator& op, const Expression& left,
                                     const Expression& right) {
  if (left.kind != Kind::Column || !has_value(right) || right.value.is_null()) return std::nullopt;
  if (left.type.id != right.type.id || left.type.scale != right.type.scale) return std::nullopt;
  const ScanColumn place = scan_column(op, left.column);
  if (place.scan == nullptr || left.type.is_string() || left.type.is_float() || left.type.id == TypeId::Interval ||
      left.type.id == TypeId::Boolean)
    return std::nullopt;
  const ColumnSummary summary = place.scan->source->summary(place.number);
  if (!summary.is_bounded || !summary.widest.has_bounds) return std::nullopt;
  const auto low = static_cast<double>(summary.widest.low), high = static_cast<double>(summary.widest.high);
  const auto bound = static_cast<double>(right.value.as_integral());
  const double values = high - low + 1;
  const double below = bound - low + (kind == Kind::Le || kind == Kind::Gt ? 1 : 0);
  const double part = std::clamp(below / values, 0.0, 1.0);
  return kind == Kind::Lt || kind == Kind::Le ? part : 1 - part;
}

SampledRows rows_in_range(Kind kind, const SortedSample& sample, const SortedSample::Place& place,
                          const LogicalOperator& scan) {
  const double end = sample.rows() - sample.nulls();
  switch (kind) {
    case Kind::Lt: return part_of_sample(0, place.below, sample, scan);
    case Kind::Le: return part_of_sample(0, place.below + place.equal, sample, scan);
    case Kind::Gt: return part_of_sample(place.below + place.equal, end, sample, scan);
    default: return part_of_sample(place.below, end, sample, scan);
  }
}

double range(const Expression& condition, const LogicalOperator& op) {
  const Expression &left = *condition.args[0], &right = *condition.args[1];
  ScanColumn place;
  if (const SortedSample* sample = sorted_sample(op, left, place); sample != nullptr && has_value(right))
    if (const auto value = sampled_value(right.value, left.type)) {
      const SampledRows rows = rows_in_range(condition.kind, *sample, sample->find(*value), *place.scan);
      if (rows.is_whole_table || !rows.are_neighbours) return rows.part();
      return part_of_bounds(condition.kind, op, left, right).value_or(rows.part());
    }
  if (const auto rows = sampled_rows(condition, op)) return rows->part();
  return part_of_bounds(condition.kind, op, left, right).value_or(range_part);
}

// Both bounds of one column: what each leaves overlaps in what they leave together.
//
//   |-----------------------------|       x > a
//           |-------------------------|   x < b
//           |---------------------|       the sum of both, less one
struct Range {
  ColumnId column = no_column;
  double above = 1, below = 1;
  double part() const { return above < 1 && below < 1 ? std::max(0.0, above + below - 1) : above * below; }
};

// Of conditions that know nothing of each other.
double independent_part(std::span<const Expression* const> conditions, const LogicalOperator& op) {
  std::vector<Range> ranges;
  double part = 1;
  for (const Expression* condition : conditions) {
    const double one = part_of(*condition, op);
    if (!is_range(condition->kind) || condition->args[0]->kind != Kind::Column || !has_value(*condition->args[1])) {
      part *= one;
      continue;
    }
    const ColumnId column = condition->args[0]->column;
    auto range = std::find_if(ranges.begin(), ranges.end(), [&](const Range& r) { return r.column == column; });
    if (range == ranges.end()) range = ranges.insert(ranges.end(), {column});
    double& side = condition->kind == Kind::Lt || condition->kind == Kind::Le ? range->below : range->above;
    side = std::min(side, one);
  }
  for (const Range& range : ranges) part *= range.part();
  return part;
}

}  // namespace

// Together by the sampled rows, as far as these can tell, so that conditions that depend on each other count once. What
// few of them fulfil is estimated by each condition alone, too.
double part_of_all(std::span<const Expression* const> conditions, const LogicalOperator& op) {
  SampledTruth sample(op);
  std::vector<Truth> all;
  std::vector<const Expression*> told, others;
  for (const Expression* condition : conditions) {
    const auto truths = sample.of(*condition);
    (truths ? told : others).push_back(condition);
    if (!truths) continue;
    if (all.empty()) all.resize(truths->size(), Truth::True);
    for (size_t i = 0; i < all.size(); ++i)
      if ((*truths)[i] != Truth::True) all[i] = Truth::False;
  }
  const double part = independent_part(others, op);
  if (told.empty()) return part;
  if (sample.scan() == nullptr) return part * independent_part(told, op);
  const SampledRows rows = count_rows(all, *sample.scan());
  if (rows.are_enough()) return part * rows.part();
  const double independent = independent_part(told, op);
  return part * (rows.are_neighbours ? independent : std::min(rows.part(), independent));
}

namespace {

// One of them at least.
double part_of_any(const Expression& condition, const LogicalOperator& op) {
  const auto rows = sampled_rows(condition, op);
  if (rows && rows->are_enough()) return rows->part();
  double none = 1;
  for (const ExpressionPtr& one : condition.args) none *= 1 - part_of(*one, op);
  return 1 - none;
}

}  // namespace

double part_of(const Expression& condition, const LogicalOperator& op) {
  switch (condition.kind) {
    case Kind::And: {
      std::vector<const Expression*> parts;
      for (const ExpressionPtr& arg : condition.args) parts.push_back(arg.get());
      return part_of_all(parts, op);
    }
    case Kind::Or: return part_of_any(condition, op);
    case Kind::Eq: return equality(condition, op);
    case Kind::In: return membership(condition, op);
    case Kind::Lt:
    case Kind::Le:
    case Kind::Gt:
    case Kind::Ge: return range(condition, op);
    default: {
      const auto rows = sampled_rows(condition, op);
      return rows ? rows->part() : other_part;
    }
  }
}

}  // namespace diptych
