// Estimates of rows and of values.
#include "plan/cardinality.h"

#include <gtest/gtest.h>

#include "plan/test_plans.h"

namespace diptych::testing {
namespace {

// Of the plan's first operator of this kind.
double rows_of(OperatorKind kind, const std::string& sql) {
  const LogicalOperatorPtr plan = plan_of(sql);
  estimate(*plan);
  return first_of(kind, *plan).estimated_rows;
}

// Of `SELECT ... FROM table`: its first column.
ColumnValues values_in(const std::string& sql) {
  const LogicalOperatorPtr plan = plan_of(sql);
  estimate(*plan);
  return values_of(*plan, plan->columns.front().id);
}

TEST(Cardinality, ScansHaveTheRowsOfTheirSource) {
  EXPECT_EQ(rows_of(OperatorKind::Scan, "SELECT day FROM sales"), 1e6);
  EXPECT_EQ(rows_of(OperatorKind::Scan, "SELECT n FROM files"), 1e6);  // nobody knows
}

TEST(Cardinality, ValuesComeFromZoneMaps) {
  EXPECT_EQ(values_in("SELECT day FROM sales").values, 2500);
  EXPECT_EQ(values_in("SELECT year FROM days").values, 7);
}

TEST(Cardinality, ValuesOfStringsComeFromDictionaries) {
  EXPECT_EQ(values_in("SELECT brand FROM parts").values, 1000);
  EXPECT_EQ(values_in("SELECT region FROM shops").values, 5);
}

TEST(Cardinality, ValuesOfWhichNothingIsKnownAreAsManyAsRows) {
  EXPECT_EQ(values_in("SELECT note FROM sales").values, 1e6);
  EXPECT_EQ(values_in("SELECT city FROM shops").values, 2000);
}

TEST(Cardinality, ComputedValuesAreNoMoreThanThoseOfTheirColumns) {
  EXPECT_EQ(values_in("SELECT day + 1 FROM sales").values, 2500);
  EXPECT_EQ(values_in("SELECT day + amount + day FROM sales").values, 2500 * 50);
  EXPECT_EQ(values_in("SELECT day + shop FROM sales").values, 1e6);
  EXPECT_EQ(rows_of(OperatorKind::Aggregate, "SELECT count(*) FROM sales GROUP BY day + 1"), 2500);
}

TEST(Cardinality, AColumnOfAsManyValuesAsRowsIsAKey) {
  EXPECT_TRUE(values_in("SELECT part FROM parts").is_key);
  EXPECT_TRUE(values_in("SELECT part FROM parts WHERE brand = '7'").is_key);
  EXPECT_FALSE(values_in("SELECT part FROM sales").is_key);
  EXPECT_FALSE(values_in("SELECT part + 1 FROM parts").is_key);
}

TEST(Cardinality, AFilterLeavesTheValuesThatThereWere) {
  EXPECT_EQ(values_in("SELECT part FROM parts WHERE brand = '7'").values, 200'000);
}

TEST(Cardinality, AFilterOfTheColumnAloneLeavesAPartOfItsValues) {
  EXPECT_DOUBLE_EQ(values_in("SELECT part FROM parts WHERE part = 7").values, 1);
  EXPECT_DOUBLE_EQ(values_in("SELECT part FROM parts WHERE part < 7 AND brand = '7'").values, 6);
}

TEST(Cardinality, EqualityLeavesOneOfTheValues) {
  EXPECT_DOUBLE_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day = 5"), 400);
  EXPECT_DOUBLE_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM parts WHERE brand = 'x'"), 200);
}

TEST(Cardinality, ListsLeaveAsManyValuesAsTheyHave) {
  EXPECT_DOUBLE_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day IN (1, 2, 3)"), 1200);
  EXPECT_DOUBLE_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM shops WHERE region IN ('1', '2', '3', '4', '5', '6')"),
                   2000);
}

TEST(Cardinality, ConditionsAreTakenToBeIndependent) {
  const double one = rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day = 5");
  EXPECT_DOUBLE_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day = 5 AND amount = 7"), one / 50);
  EXPECT_DOUBLE_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day = 5 OR shop = 7"),
                   1e6 * (1 - (1 - 1.0 / 2500) * (1 - 1.0 / 2000)));
}

TEST(Cardinality, RangesLeaveTheirShareOfTheBounds) {
  EXPECT_NEAR(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day < 5"), 1600, 1e-6);
  EXPECT_NEAR(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day > 2400"), 40'000, 1e-6);
  EXPECT_NEAR(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day > 1000 AND day <= 1025"), 10'000, 1e-6);
  EXPECT_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM sales WHERE day > 9999"), 1);
}

TEST(Cardinality, RangesWithoutBoundsLeaveAPart) {
  const double part = rows_of(OperatorKind::Filter, "SELECT 1 FROM shops WHERE city < 7") / 2000;
  EXPECT_GT(part, 0.1);
  EXPECT_LT(part, 0.5);
}

TEST(Cardinality, NothingHasFewerRowsThanOne) {
  EXPECT_EQ(rows_of(OperatorKind::Filter, "SELECT 1 FROM days WHERE day = 5 AND year = 1995"), 1);
  EXPECT_EQ(rows_of(OperatorKind::Project, "SELECT 1 FROM days WHERE day = 5 AND year = 1995"), 1);
}

TEST(Cardinality, GroupsAreTheKeysValuesAtMostRows) {
  EXPECT_EQ(rows_of(OperatorKind::Aggregate, "SELECT count(*) FROM sales GROUP BY day"), 2500);
  EXPECT_EQ(rows_of(OperatorKind::Aggregate, "SELECT count(*) FROM sales GROUP BY amount, shop"), 100'000);
  EXPECT_EQ(rows_of(OperatorKind::Aggregate, "SELECT count(*) FROM sales GROUP BY day, shop"), 1e6);
  EXPECT_EQ(rows_of(OperatorKind::Aggregate, "SELECT count(*) FROM sales"), 1);
}

TEST(Cardinality, TheKeyOfGroupsIsTheirs) {
  const ColumnValues values = values_in("SELECT day FROM sales GROUP BY day");
  EXPECT_EQ(values.values, 2500);
  EXPECT_TRUE(values.is_key);
  EXPECT_FALSE(values_in("SELECT day FROM sales GROUP BY day, shop").is_key);
}

TEST(Cardinality, LimitsBoundRows) {
  EXPECT_EQ(rows_of(OperatorKind::Limit, "SELECT day FROM sales LIMIT 10"), 10);
  EXPECT_EQ(rows_of(OperatorKind::Limit, "SELECT day FROM days LIMIT 10000"), 2500);
}

// Nothing is chosen by how many rows of a single file there are.
TEST(Cardinality, AFileIsSampledOnlyWhereItIsJoined) {
  EXPECT_NE(rows_of(OperatorKind::Filter, "SELECT 1 FROM visits_file WHERE page = bigint '1'"), 500'000);
  const LogicalOperatorPtr plan =
      ordered_plan_of("SELECT 1 FROM visits_file v, days WHERE v.page = bigint '1' AND v.first = days.day");
  EXPECT_EQ(first_of(OperatorKind::Filter, *plan).estimated_rows, 500'000);
}

TEST(Cardinality, SubqueriesThatAreJoinedAreSampled) {
  const LogicalOperatorPtr plan = ordered_plan_of(
      "SELECT 1 FROM (SELECT first FROM visits_file WHERE page = bigint '1' GROUP BY first) v, days WHERE v.first = "
      "days.day");
  const LogicalOperator& join = first_of(OperatorKind::Join, *plan);
  EXPECT_EQ(first_of(OperatorKind::Filter, *join.inputs[1]).estimated_rows, 500'000);
}

double joined_rows(const std::string& sql) {
  const LogicalOperatorPtr plan = ordered_plan_of(sql);
  return first_of(OperatorKind::Join, *plan).estimated_rows;
}

TEST(Cardinality, AJoinWithAKeyHasTheRowsThatMeetIt) {
  EXPECT_DOUBLE_EQ(joined_rows("SELECT 1 FROM sales s, days d WHERE s.day = d.day"), 1e6);
  EXPECT_DOUBLE_EQ(joined_rows("SELECT 1 FROM sales s, parts p WHERE s.part = p.part AND p.brand = '7'"), 1000);
}

TEST(Cardinality, AJoinOfRepeatedValuesHasMoreRowsThanItsSides) {
  EXPECT_DOUBLE_EQ(joined_rows("SELECT 1 FROM sales s, parts p WHERE s.amount = p.size"), 1e6 * 200'000 / 50);
}

// Several columns that may tell the rows of both tables apart are a key of the one with fewer rows.
TEST(Cardinality, AJoinWithAKeyOfSeveralColumnsHasTheRowsThatMeetIt) {
  EXPECT_DOUBLE_EQ(joined_rows("SELECT 1 FROM sales s, parts p WHERE s.amount = p.size AND s.note = p.brand"),
                   1e6 * 200'000 / 50 / 1e6)
      << "notes alone may be a key";
  EXPECT_DOUBLE_EQ(joined_rows("SELECT 1 FROM sales a, sales b WHERE a.day = b.day AND a.shop = b.shop"), 1e6);
  EXPECT_DOUBLE_EQ(joined_rows("SELECT 1 FROM sales a, sales b WHERE a.day = b.day AND a.amount = b.amount"),
                   1e12 / (2500 * 50));
  EXPECT_DOUBLE_EQ(
      joined_rows(
          "SELECT 1 FROM sales a, (SELECT * FROM sales WHERE day < 25) b WHERE a.day = b.day AND a.shop = b.shop"),
      9600);
}

// Of the rows of a plan's first column.
double repeated_in(const std::string& sql) {
  const LogicalOperatorPtr plan = ordered_plan_of(sql);
  estimate(*plan);
  const ExpressionPtr column = column_expression(plan->columns.front().id, plan->columns.front().type);
  return repeated_rows({*plan, {column.get()}});
}

TEST(Cardinality, RowsOfAKeyRepeatNone) {
  EXPECT_EQ(repeated_in("SELECT part FROM parts"), 0);
  EXPECT_EQ(repeated_in("SELECT part FROM parts WHERE brand = '7'"), 0);
  // A part has one brand, and a brand many parts.
  EXPECT_EQ(repeated_in("SELECT p.part FROM parts p, (SELECT DISTINCT brand FROM parts) b WHERE p.brand = b.brand"), 0);
  EXPECT_GT(repeated_in("SELECT b.brand FROM parts p, (SELECT DISTINCT brand FROM parts) b WHERE p.brand = b.brand"),
            100'000);
}

TEST(Cardinality, RowsThatHaveTheirValuesByChanceRepeatSome) {
  EXPECT_NEAR(repeated_in("SELECT day FROM sales"), 1e6 - 2500, 1);
  EXPECT_GT(repeated_in("SELECT day FROM sales WHERE part = 7"), 0);
}

TEST(Cardinality, AllPairsAreTheProduct) {
  EXPECT_DOUBLE_EQ(joined_rows("SELECT 1 FROM days, shops"), 2500.0 * 2000);
  EXPECT_LT(joined_rows("SELECT 1 FROM days d, shops h WHERE d.day < h.shop"), 2500.0 * 2000);
}

TEST(Cardinality, ValuesOfAKeyAreThoseOfTheOtherSide) {
  EXPECT_DOUBLE_EQ(equal_part({100, true}, {5000, false}), 1.0 / 100);
  EXPECT_DOUBLE_EQ(equal_part({5000, false}, {100, true}), 1.0 / 100);
  EXPECT_DOUBLE_EQ(equal_part({100, false}, {5000, false}), 1.0 / 5000);
  EXPECT_DOUBLE_EQ(equal_part({100, true}, {5000, true}), 1.0 / 5000);
}

}  // namespace
}  // namespace diptych::testing
