#include "plan/test_plans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <optional>

#include "bind/test_catalog.h"
#include "plan/open_plan.h"
#include "plan/rules/rules.h"
#include "sql/parser.h"
#include "tablet/dictionary.h"
#include "tablet/source_parts.h"
#include "tablet/statistics/table_statistics.h"

namespace diptych::testing {

namespace {

struct SizedColumn {
  const char* name;
  Type type;
  int64_t low = 0, high = -1;  // low > high: no bounds
  uint32_t strings = 0;        // of its dictionary; 0: it has none
  bool is_key = false;         // the primary key
};

class SizedTable : public EmptyTable {
 public:
  SizedTable(const std::string& name, int64_t rows, const std::vector<SizedColumn>& columns)
      : EmptyTable(definition_of(name, columns)), rows_(rows), columns_(columns) {
    for (const SizedColumn& column : columns) {
      if (column.is_key) key_.push_back(static_cast<size_t>(&column - columns.data()));
      auto& dictionary = dictionaries_.emplace_back();
      if (column.strings == 0) continue;
      dictionary = std::make_unique<Dictionary>();
      for (uint32_t i = 0; i < column.strings; ++i) dictionary->find_or_append(std::to_string(i));
    }
  }
  size_t tablet_count() const override { return 1; }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t) const override { return rows_; }
  ZoneMap zone_map(size_t, size_t column) const override {
    const SizedColumn& of = columns_[column];
    if (of.low > of.high) return {};
    return {true, 0, of.low, of.high};
  }
  std::span<const size_t> key_columns() const override { return key_; }
  const Dictionary* common_dictionary(size_t column) const override { return dictionaries_[column].get(); }

 private:
  static TableDefinition definition_of(const std::string& name, const std::vector<SizedColumn>& columns) {
    TableDefinition definition{name, false, {}, {}};
    for (const SizedColumn& column : columns) definition.columns.push_back({column.name, column.type, false, ""});
    return definition;
  }

  int64_t rows_;
  std::vector<SizedColumn> columns_;
  std::vector<size_t> key_;
  std::vector<std::unique_ptr<Dictionary>> dictionaries_;
};

// For each of a thousand rows a cell of each column.
RowSample sample_of_visits() {
  std::vector<uint64_t> priorities;
  std::vector<SampledColumn> columns(5);
  for (int i = 0; i < 1000; ++i) {
    priorities.push_back(static_cast<uint64_t>(i));
    for (SampledColumn& column : columns) column.is_null.push_back(0);
    columns[0].numbers.push_back(i % 2 == 0 ? 1 : 1000 + i);
    columns[1].numbers.push_back(i);
    columns[2].numbers.push_back(i + i % 10);
    columns[3].texts.emplace_back(i % 10 < 9 ? "de" : "fr");
    columns[4].is_null.back() = i % 4 == 0 ? 1 : 0;
    columns[4].numbers.push_back(i % 4 == 0 ? 0 : 1);
  }
  return {std::move(priorities), std::move(columns)};
}

class SampledTable : public SizedTable {
 public:
  SampledTable(const std::string& name, int64_t rows, const std::vector<SizedColumn>& columns, RowSample sample)
      : SizedTable(name, rows, columns), statistics_(sketches(columns, rows), std::move(sample)) {}
  const TableStatistics* statistics() const override { return &statistics_; }

 private:
  // As though half of the rows had a value of their own.
  static std::vector<DistinctSketch> sketches(const std::vector<SizedColumn>& columns, int64_t rows) {
    HyperLogLog half;
    for (int64_t i = 0; i < rows / 2; ++i) half.add(HyperLogLog::mixed(static_cast<uint64_t>(i)));
    return std::vector<DistinctSketch>(columns.size(), DistinctSketch(half, {}));
  }

  TableStatistics statistics_;
};

// Has statistics only for who asks for a sample.
class SampledFile : public SampledTable {
 public:
  using SampledTable::SampledTable;
  const TableStatistics* statistics() const override { return nullptr; }
  const SourceStatistics* sampled_statistics() const override { return SampledTable::statistics(); }
};

class UncountedFile : public SizedTable, public SourceInParts {
 public:
  using SizedTable::SizedTable;
  std::unique_ptr<PartReader> read_parts() const override { return nullptr; }
  int64_t most_rows() const override { return INT64_MAX; }
};

const TestCatalog& sized_catalog() {
  static const TestCatalog catalog = [] {
    const Type integer{TypeId::Integer}, text{TypeId::Text};
    TestCatalog made;
    made.add(std::make_shared<SizedTable>("sales", 1'000'000,
                                          std::vector<SizedColumn>{{"day", integer, 1, 2500},
                                                                   {"part", integer, 1, 200'000},
                                                                   {"shop", integer, 1, 2000},
                                                                   {"amount", integer, 1, 50},
                                                                   {"note", text}}));
    made.add(std::make_shared<SizedTable>(
        "days", 2500, std::vector<SizedColumn>{{"day", integer, 1, 2500, 0, true}, {"year", integer, 1992, 1998}}));
    made.add(std::make_shared<SizedTable>(
        "parts", 200'000,
        std::vector<SizedColumn>{
            {"part", integer, 1, 200'000}, {"brand", text, 0, -1, 1000}, {"size", integer, 1, 50}}));
    made.add(std::make_shared<SizedTable>(
        "shops", 2000,
        std::vector<SizedColumn>{{"shop", integer, 1, 2000, 0, true}, {"region", text, 0, -1, 5}, {"city", integer}}));
    const std::vector<SizedColumn> of_visits{{"page", {TypeId::BigInt}},
                                             {"first", integer, 0, 999},
                                             {"last", integer, 0, 1008},
                                             {"country", text, 0, -1, 2},
                                             {"seen", {TypeId::Boolean}}};
    made.add(std::make_shared<SampledTable>("visits", 1'000'000, of_visits, sample_of_visits()));
    made.add(std::make_shared<SampledFile>("visits_file", 1'000'000, of_visits, sample_of_visits()));
    made.add(std::make_shared<UncountedFile>("files", 0, std::vector<SizedColumn>{{"n", integer}}));
    return made;
  }();
  return catalog;
}

// Nothing in these plans is computed before they run.
class NoEvaluator : public Evaluator {
 public:
  std::vector<Value> evaluate(const std::vector<const Expression*>&, std::shared_ptr<const TabletSource>,
                              const std::vector<ColumnId>&) override {
    ADD_FAILURE() << "an expression is evaluated";
    return {};
  }
  Value evaluate_constant(const Expression&) override {
    ADD_FAILURE() << "a constant is evaluated";
    return {};
  }
};

std::string conditions_of(const LogicalOperator& join) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < join.probe_keys.size(); ++i)
    keys.push_back(fmt::format("({} = {})", join.probe_keys[i]->to_text(join.inputs[0]->columns),
                               join.build_keys[i]->to_text(join.inputs[1]->columns)));
  std::string text = keys.empty() ? "" : fmt::format(" by {}", fmt::join(keys, " AND "));
  if (join.predicate) text += " if " + join.predicate->to_text(join.columns);
  return text;
}

}  // namespace

LogicalOperatorPtr bound_plan_of(const std::string& sql) {
  BoundStatement bound = bind(*parse_statement(sql), {sized_catalog(), {}, 0, {}});
  return std::move(std::get<LogicalOperatorPtr>(bound.statement));
}

LogicalOperatorPtr plan_of(const std::string& sql) {
  LogicalOperatorPtr plan = bound_plan_of(sql);
  NoEvaluator evaluator;
  open_plan(plan, evaluator);
  return plan;
}

LogicalOperatorPtr ordered_plan_of(const std::string& sql) {
  LogicalOperatorPtr plan = plan_of(sql);
  NoEvaluator evaluator;
  make_order_joins()->apply(plan, evaluator);
  return plan;
}

LogicalOperatorPtr pruned_plan_of(const std::string& sql) {
  LogicalOperatorPtr plan = ordered_plan_of(sql);
  NoEvaluator evaluator;
  make_prune_columns()->apply(plan, evaluator);
  return plan;
}

LogicalOperatorPtr marked_plan_of(const std::string& sql) {
  LogicalOperatorPtr plan = pruned_plan_of(sql);
  NoEvaluator evaluator;
  make_semi_joins()->apply(plan, evaluator);
  return plan;
}

std::string joins_of(const LogicalOperator& plan) {
  switch (plan.kind) {
    case OperatorKind::Scan: return plan.source_name;
    case OperatorKind::Filter:
      return fmt::format("{} where {}", joins_of(plan.input()), plan.predicate->to_text(plan.input().columns));
    case OperatorKind::Join:
      return fmt::format("{}({}, {}{})", plan.is_semi ? "semi " : "", joins_of(*plan.inputs[0]),
                         joins_of(*plan.inputs[1]), conditions_of(plan));
    case OperatorKind::Aggregate: return fmt::format("groups of {}", joins_of(plan.input()));
    case OperatorKind::Limit: return fmt::format("first rows of {}", joins_of(plan.input()));
    default: return joins_of(plan.input());
  }
}

}  // namespace diptych::testing
