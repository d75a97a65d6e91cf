// Columns of joins that nobody reads.
#include <gtest/gtest.h>

#include "plan/test_plans.h"

namespace diptych::testing {
namespace {

using Names = std::vector<std::string>;

TEST(PruneColumns, EachSideOfAJoinKeepsItsKeysAndWhatIsRead) {
  const LogicalOperatorPtr plan =
      pruned_plan_of("SELECT d.year, s.amount FROM sales s, days d, parts p WHERE s.day = d.day AND s.part = p.part");
  const LogicalOperator& outer = first_of(OperatorKind::Join, *plan);
  const LogicalOperator& inner = first_of(OperatorKind::Join, outer.input());
  EXPECT_EQ(inner.input().names(), (Names{"day", "part", "amount"}));
  // The key of parts is read by the join alone.
  EXPECT_EQ(outer.names().size(), outer.input().names().size() + outer.inputs[1]->names().size() - 1);
  for (const LogicalOperator* join : {&outer, &inner}) {
    const LogicalOperator& build = *join->inputs[1];
    EXPECT_EQ(build.names(), build.source_name == "days" ? (Names{"day", "year"}) : (Names{"part"}));
  }
}

TEST(PruneColumns, KeysPointToTheColumnsThatAreLeft) {
  const LogicalOperatorPtr plan =
      pruned_plan_of("SELECT s.amount FROM sales s JOIN parts p ON s.part = p.part AND s.amount < p.size");
  const LogicalOperator& join = first_of(OperatorKind::Join, *plan);
  EXPECT_EQ(joins_of(join), "(sales, parts by (part = part) if (amount < size))");
  EXPECT_EQ(join.names(), (Names{"part", "amount", "size"}));
  EXPECT_EQ(join.probe_keys.front()->column, join.inputs[0]->columns[0].id);
  EXPECT_EQ(join.build_keys.front()->column, join.inputs[1]->columns[0].id);
  EXPECT_EQ(join.predicate->args[0]->column, join.columns[1].id);
  EXPECT_EQ(join.predicate->args[1]->column, join.columns[2].id);
}

TEST(PruneColumns, AllPairsNeedNoColumns) {
  const LogicalOperatorPtr plan = pruned_plan_of("SELECT count(*) FROM days, shops");
  const LogicalOperator& join = first_of(OperatorKind::Join, *plan);
  EXPECT_EQ(join.names(), Names{});
  EXPECT_EQ(join.inputs[0]->names(), Names{});
  EXPECT_EQ(join.inputs[1]->names(), Names{});
}

// The join of parts and shops is put into an index; its keys and the size are read by itself alone.
TEST(PruneColumns, AnIndexHasNoColumnsThatOnlyAJoinBelowHasRead) {
  const LogicalOperatorPtr plan = pruned_plan_of(
      "SELECT s.amount, b.brand FROM sales s JOIN (SELECT p.part, p.brand FROM parts p JOIN shops h ON p.size = h.shop "
      "AND h.region = '1' LIMIT 1000) b ON s.part = b.part");
  const LogicalOperator& join = first_of(OperatorKind::Join, *plan);
  EXPECT_EQ(join.inputs[1]->names(), (Names{"part", "brand"}));

  const LogicalOperatorPtr bushy = pruned_plan_of(
      "SELECT s.amount, p.brand FROM sales s, parts p, shops h WHERE s.part = p.part AND p.size = h.city AND "
      "h.region = '1' AND h.shop = 5");
  const LogicalOperator& top = first_of(OperatorKind::Join, *bushy);
  ASSERT_EQ(top.input().kind, OperatorKind::Scan);
  EXPECT_EQ(top.inputs[1]->kind, OperatorKind::Project);
  EXPECT_EQ(top.inputs[1]->names(), (Names{"part", "brand"}));
  EXPECT_EQ(top.names(), (Names{"part", "amount", "brand"}));
}

}  // namespace
}  // namespace diptych::testing
