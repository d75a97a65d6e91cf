// What the statement gives as expressions becomes rows and numbers.
#include "plan/open_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "plan/plan_text.h"
#include "plan/test_plans.h"
#include "tablet/values.h"

namespace diptych::testing {
namespace {

// Computes nothing: the value of every expression is the number of those before it.
class CountingEvaluator : public Evaluator {
 public:
  std::vector<Value> evaluate(const std::vector<const Expression*>&, std::shared_ptr<const TabletSource>,
                              const std::vector<ColumnId>&) override {
    ADD_FAILURE() << "rows are evaluated";
    return {};
  }
  Value evaluate_constant(const Expression& expression) override {
    texts.push_back(expression.to_text({}));
    return Value::bigint(static_cast<int64_t>(texts.size()) - 1);
  }
  std::vector<std::string> texts;
};

LogicalOperatorPtr opened(const std::string& sql) {
  LogicalOperatorPtr plan = bound_plan_of(sql);
  CountingEvaluator evaluator;
  open_plan(plan, evaluator);
  return plan;
}

std::vector<std::string> lines_of(const std::string& sql) { return describe(*opened(sql)); }

using Lines = std::vector<std::string>;

TEST(OpenPlan, InputsAreComputedFirst) {
  LogicalOperatorPtr plan = bound_plan_of(
      "select 1 from (select * from generate_series(1 + 1::bigint, 9, 2 + 2::bigint) limit 3 + 3::bigint) s, "
      "(values (4 + 4::bigint), (5), (6 + 6::bigint)) v limit 7 + 7::bigint offset 8 + 8::bigint");
  CountingEvaluator evaluator;
  open_plan(plan, evaluator);
  EXPECT_EQ(evaluator.texts, (Lines{"(1 + 1)", "(2 + 2)", "(3 + 3)", "(4 + 4)", "(6 + 6)", "(7 + 7)", "(8 + 8)"}));
  EXPECT_EQ(plan->limit, 5);
  EXPECT_EQ(plan->offset, 6);
  const LogicalOperator& join = first_of(OperatorKind::Join, *plan);
  EXPECT_EQ(join.inputs[0]->limit, 2);
  EXPECT_EQ(first_of(OperatorKind::Scan, join).source->row_count(), 10) << "0 to 9 by 1";
  const TabletSource& values = *join.inputs[1]->source;
  ASSERT_EQ(values.row_count(), 3);
  const auto rows = values.pin(0, std::vector<size_t>{0});
  for (const auto& [row, value] : {std::pair{0, "3"}, {1, "5"}, {2, "4"}})
    EXPECT_EQ(value_at(rows->views[0], {TypeId::BigInt}, row).to_text(), value);
}

TEST(OpenPlan, ConstantsAreNotComputed) {
  LogicalOperatorPtr plan = bound_plan_of("values (1, 'a'), (2, null) limit 5::bigint");
  CountingEvaluator evaluator;
  open_plan(plan, evaluator);
  EXPECT_EQ(evaluator.texts, Lines{});
}

TEST(OpenPlan, WithoutFromThereIsOneRow) {
  EXPECT_EQ(lines_of("select 2"), (Lines{"Project 2", "└ Scan  [] (1 rows)"}));
}

TEST(OpenPlan, ALimitOfAllRowsGoes) {
  const LogicalOperatorPtr plan = opened("select t.n from (select year from days limit null offset 0) as t(n)");
  EXPECT_EQ(describe(*plan), (Lines{"Project n", "└ Project year", "  └ Scan days [day, year] (2500 rows)"}));
  const LogicalOperatorPtr whole = opened("select year from days limit all");
  EXPECT_EQ(whole->kind, OperatorKind::Project);
  EXPECT_GT(whole->depth, 0);
}

TEST(OpenPlan, ValuesWithoutANameAreCalledByTheirText) {
  EXPECT_EQ(lines_of("select day + 1, count(*) from days group by day + 1 having day + 1 > 0 order by count(*) + 2"),
            (Lines{"Project ?column?, count", "└ Sort (count + 2)", "  └ Project (day + 1), count, (count + 2)",
                   "    └ Filter ((day + 1) > 0)", "      └ Aggregate by [(day + 1)]: count(*)",
                   "        └ Scan days [day, year] (2500 rows)"}));
}

TEST(OpenPlan, LimitsAreNotNegative) {
  const auto error_of = [](const std::string& sql) {
    try {
      opened(sql);
    } catch (const Error& error) {
      return std::string(code_of(error.state())) + " at " + std::to_string(error.position());
    }
    return std::string("fine");
  };
  EXPECT_EQ(error_of("select 1 limit -1"), "2201W at 15");
  EXPECT_EQ(error_of("select 1 limit 0 offset -2"), "2201X at 24");
  EXPECT_EQ(error_of("select * from generate_series(1, 2, 0)"), "22023 at -1");
}

}  // namespace
}  // namespace diptych::testing
