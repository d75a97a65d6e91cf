// The order of joins, which side of each is put into an index, and where conditions come to stand.
#include <gtest/gtest.h>

#include "plan/plan_text.h"
#include "plan/test_plans.h"

namespace diptych::testing {
namespace {

std::string order_of(const std::string& sql) { return joins_of(*ordered_plan_of(sql)); }

TEST(OrderJoins, MakesKeysOfEqualitiesWhereverTheyStand) {
  const std::string joined = "(sales, days by (day = day))";
  EXPECT_EQ(order_of("SELECT 1 FROM sales s, days d WHERE s.day = d.day"), joined);
  EXPECT_EQ(order_of("SELECT 1 FROM sales s JOIN days d ON s.day = d.day"), joined);
  EXPECT_EQ(order_of("SELECT 1 FROM sales s JOIN days d ON d.day = s.day"), joined);
  EXPECT_EQ(order_of("SELECT 1 FROM sales JOIN days USING (day)"), joined);
  EXPECT_EQ(order_of("SELECT 1 FROM sales NATURAL JOIN days"), joined);
}

TEST(OrderJoins, KeysMayBeExpressionsOfOneSideEach) {
  EXPECT_EQ(order_of("SELECT 1 FROM sales s, days d WHERE s.day + s.shop = d.day * 2"),
            "(sales, days by ((day + shop) = (day * 2)))");
}

TEST(OrderJoins, SeveralEqualitiesAreSeveralKeys) {
  EXPECT_EQ(order_of("SELECT 1 FROM sales s JOIN parts p ON s.part = p.part AND p.size = s.amount"),
            "(sales, parts by (part = part) AND (amount = size))");
}

TEST(OrderJoins, PutsTheSmallerSideIntoTheIndex) {
  EXPECT_EQ(order_of("SELECT 1 FROM days d, sales s WHERE s.day = d.day"), "(sales, days by (day = day))");
}

// One of 1000 brands has fewer of the 200,000 parts than there are shops.
TEST(OrderJoins, TheSmallerSideIsTheOneWithFewerRowsLeft) {
  EXPECT_EQ(order_of("SELECT 1 FROM shops h, parts p WHERE h.shop = p.part AND p.brand = '7'"),
            "(shops, parts where (brand = '7') by (shop = part))");
  EXPECT_EQ(order_of("SELECT 1 FROM shops h, parts p WHERE h.shop = p.part"), "(parts, shops by (part = shop))");
}

TEST(OrderJoins, ConditionsOfOneTableComeToStandOnIt) {
  EXPECT_EQ(order_of("SELECT 1 FROM sales s JOIN days d ON s.day = d.day AND s.amount > 5 WHERE d.year = 1995"),
            "(sales where (amount > 5), days where (year = 1995) by (day = day))");
}

// The size leaves one of 50 sales, the year one of 7, the region one of 5.
TEST(OrderJoins, JoinsAStarByWhatEachDimensionLeaves) {
  EXPECT_EQ(order_of("SELECT 1 FROM sales s, shops h, days d, parts p WHERE s.shop = h.shop AND s.day = d.day AND "
                     "s.part = p.part AND h.region = '1' AND d.year = 1995 AND p.size = 7"),
            "(((sales, parts where (size = 7) by (part = part)), days where (year = 1995) by (day = day)), "
            "shops where (region = '1') by (shop = shop))");
}

// 143 pairs are fewer than the 400 shops of a region.
TEST(OrderJoins, FewPairsArePutIntoTheIndex) {
  EXPECT_EQ(order_of("SELECT 1 FROM sales s, shops h, days d, parts p WHERE s.shop = h.shop AND s.day = d.day AND "
                     "s.part = p.part AND h.region = '1' AND d.year = 1995 AND p.brand = '7'"),
            "(shops where (region = '1'), ((sales, parts where (brand = '7') by (part = part)), "
            "days where (year = 1995) by (day = day)) by (shop = shop))");
}

TEST(OrderJoins, TheOrderOfTheTextIsOfNoMatter) {
  const std::string conditions = " WHERE s.shop = h.shop AND s.part = p.part AND h.region = '1' AND p.brand = '7'";
  const std::string expected =
      "((sales, parts where (brand = '7') by (part = part)), shops where (region = '1') by (shop = shop))";
  EXPECT_EQ(order_of("SELECT 1 FROM sales s, shops h, parts p" + conditions), expected);
  EXPECT_EQ(order_of("SELECT 1 FROM shops h, parts p, sales s" + conditions), expected);
  EXPECT_EQ(order_of("SELECT 1 FROM parts p JOIN (shops h CROSS JOIN sales s) ON true" + conditions),
            expected + " where true");
}

TEST(OrderJoins, ConditionsOverBothSidesStandOnTheFirstJoinThatHasTheirColumns) {
  EXPECT_EQ(order_of("SELECT 1 FROM sales s, parts p, shops h WHERE s.part = p.part AND s.shop = h.shop AND "
                     "s.amount < p.size AND h.region = '1'"),
            "((sales, shops where (region = '1') by (shop = shop)), parts by (part = part) if (amount < size))");
}

// No single key: each side of an equality has to be of one side of the join.
TEST(OrderJoins, AnEqualityOverThreeTablesIsAKeyOnceTwoAreJoined) {
  EXPECT_EQ(order_of("SELECT 1 FROM days d, shops h, sales s WHERE s.day = d.day AND s.amount + d.year = h.city"),
            "((sales, days by (day = day)), shops by ((amount + year) = city))");
}

TEST(OrderJoins, AllPairsOnlyWhereThereIsNothingElse) {
  EXPECT_EQ(order_of("SELECT 1 FROM days, shops"), "(days, shops)");
  EXPECT_EQ(order_of("SELECT 1 FROM days d, shops h WHERE d.day < h.shop"), "(days, shops if (day < shop))");
  // Days and shops are small, but have no key.
  EXPECT_EQ(order_of("SELECT 1 FROM days d, shops h, sales s WHERE s.day = d.day AND s.shop = h.shop"),
            "((sales, days by (day = day)), shops by (shop = shop))");
  EXPECT_EQ(order_of("SELECT 1 FROM days d, parts p, sales s WHERE s.day = d.day"),
            "((sales, days by (day = day)), parts)");
}

TEST(OrderJoins, ConditionsOfNoTableStandAboveAll) {
  EXPECT_EQ(order_of("SELECT 1 FROM days d, sales s WHERE s.day = d.day AND $1 > 5"),
            "(sales, days by (day = day)) where ($1 > 5)");
}

TEST(OrderJoins, ATableMayMeetItself) {
  EXPECT_EQ(order_of("SELECT 1 FROM days a, days b WHERE a.day = b.year"), "(days, days by (day = year))");
}

TEST(OrderJoins, ColumnsHaveTheOrderOfTheText) {
  const LogicalOperatorPtr plan = ordered_plan_of("SELECT * FROM days d JOIN sales s ON s.day = d.day");
  const LogicalOperator& project = plan->input();
  ASSERT_EQ(project.kind, OperatorKind::Project);
  EXPECT_EQ(project.names(), (std::vector<std::string>{"day", "year", "day", "part", "shop", "amount", "note"}));
  // Sales are the first input of the join.
  std::vector<size_t> places;
  for (const ExpressionPtr& column : project.expressions)
    places.push_back(place_of(column->column, project.input().columns));
  EXPECT_EQ(places, (std::vector<size_t>{5, 6, 0, 1, 2, 3, 4}));
}

TEST(OrderJoins, QueriesInFromAreJoinedAsTheyStand) {
  EXPECT_EQ(order_of("SELECT 1 FROM sales s JOIN (SELECT day, count(*) FROM days GROUP BY day) d ON s.day = d.day"),
            "(sales, groups of days by (day = day))");
  EXPECT_EQ(order_of("SELECT 1 FROM (SELECT s.day FROM sales s JOIN parts p ON s.part = p.part LIMIT 5) q "
                     "JOIN days d ON q.day = d.day"),
            "(days, first rows of (sales, parts by (part = part)) by (day = day))");
}

TEST(OrderJoins, LeavesPlansWithoutJoinsAlone) {
  const std::string sql = "SELECT year FROM days WHERE day > 3";
  EXPECT_EQ(describe(*ordered_plan_of(sql)), describe(*plan_of(sql)));
}

TEST(OrderJoins, EstimatesEveryJoin) {
  const LogicalOperatorPtr plan =
      ordered_plan_of("SELECT 1 FROM sales s, days d WHERE s.day = d.day AND d.year = 1995");
  EXPECT_NEAR(first_of(OperatorKind::Join, *plan).estimated_rows, 1e6 / 7, 1);
}

}  // namespace
}  // namespace diptych::testing
