// Which part of a table's rows conditions are expected to leave, where there is a sample of them.
#include "plan/selectivity.h"

#include <gtest/gtest.h>

#include "plan/cardinality.h"
#include "plan/test_plans.h"

namespace diptych::testing {
namespace {

// Of the visits, for which the condition of WHERE holds.
double part_for(const std::string& condition) {
  const LogicalOperatorPtr plan = plan_of("SELECT 1 FROM visits WHERE " + condition);
  estimate(*plan);
  const LogicalOperator& filter = first_of(OperatorKind::Filter, *plan);
  return part_of(*filter.predicate, filter.input());
}

TEST(Selectivity, FrequentValuesHaveTheirRowsInTheSample) {
  EXPECT_DOUBLE_EQ(part_for("page = bigint '1'"), 0.5);
  EXPECT_DOUBLE_EQ(part_for("country = 'de'"), 0.9);
}

// Half of the rows share half a million values.
TEST(Selectivity, RareValuesShareTheRowsOfAllRareOnes) {
  EXPECT_NEAR(part_for("page = bigint '1001'"), 0.5 / 500'000, 0.2 / 500'000);
  EXPECT_NEAR(part_for("page = bigint '77'"), 0.5 / 500'000, 0.2 / 500'000);
}

TEST(Selectivity, ListsAddTheirValues) {
  EXPECT_DOUBLE_EQ(part_for("country IN ('de', 'fr')"), 1);
  EXPECT_NEAR(part_for("page IN (bigint '1', bigint '5')"), 0.5, 0.001);
}

TEST(Selectivity, ListsAreToldBesideOtherConditions) {
  EXPECT_DOUBLE_EQ(part_for("first IN (1, 2, 3, 4, 5, 6) AND seen"), 0.005);
  EXPECT_DOUBLE_EQ(part_for("country IN ('fr', 'uk') AND first < 500"), 0.05);
  EXPECT_LE(part_for("country NOT IN ('fr', NULL) AND first < 500"), 0.0005);
}

TEST(Selectivity, RangesCountSampledRows) {
  EXPECT_DOUBLE_EQ(part_for("first < 100"), 0.1);
  EXPECT_DOUBLE_EQ(part_for("first <= 100"), 0.101);
  EXPECT_DOUBLE_EQ(part_for("first > 100"), 0.899);
  EXPECT_DOUBLE_EQ(part_for("first >= 100"), 0.9);
  EXPECT_DOUBLE_EQ(part_for("country > 'de'"), 0.1);
}

TEST(Selectivity, PatternsAreMatchedWithSampledTexts) {
  EXPECT_DOUBLE_EQ(part_for("country LIKE 'd%'"), 0.9);
  EXPECT_DOUBLE_EQ(part_for("country NOT LIKE '_e'"), 0.1);
  EXPECT_DOUBLE_EQ(part_for("country ILIKE '%R' OR country = 'de'"), 1);
  EXPECT_LE(part_for("country LIKE NULL"), 0.001);
}

TEST(Selectivity, WhatNoSampledRowFulfilsIsRareButNotNothing) {
  EXPECT_GT(part_for("first < 0"), 0);
  EXPECT_LE(part_for("first < 0"), 0.001);
  EXPECT_LE(part_for("first > 10 AND first < 5"), 0.001);
}

TEST(Selectivity, BothBoundsOfAColumnOverlap) {
  EXPECT_DOUBLE_EQ(part_for("first >= 400 AND first < 500"), 0.1);
  EXPECT_NEAR(part_for("first >= 400 AND first < 402"), 0.002, 0.0005);
}

TEST(Selectivity, ColumnsAreComparedWithColumns) {
  EXPECT_DOUBLE_EQ(part_for("first < last"), 0.9);
  EXPECT_DOUBLE_EQ(part_for("last = first"), 0.1);
  EXPECT_DOUBLE_EQ(part_for("NOT first < last"), 0.1);
}

// Each last place of `first` stands for a difference and a country.
TEST(Selectivity, ConditionsThatDependOnEachOtherCountOnce) {
  EXPECT_DOUBLE_EQ(part_for("country = 'fr' AND last <= 1000 AND first < last"), 0.099);
  EXPECT_DOUBLE_EQ(part_for("first < 500 AND last < 500"), 0.495);
  EXPECT_DOUBLE_EQ(part_for("first < 500 OR last < 500"), 0.5);
}

TEST(Selectivity, NullsFulfilNothingButIsNull) {
  EXPECT_DOUBLE_EQ(part_for("seen"), 0.75);
  EXPECT_DOUBLE_EQ(part_for("seen IS NULL"), 0.25);
  EXPECT_DOUBLE_EQ(part_for("seen IS NOT NULL AND country = 'fr'"), 0.1);
  EXPECT_LE(part_for("NOT seen"), 0.001);
  EXPECT_DOUBLE_EQ(part_for("seen OR country = 'fr'"), 0.75);
}

TEST(Selectivity, WhatASampleCannotTellIsIndependentOfTheRest) {
  const double unknown = part_for("page + 1 = 7");
  EXPECT_LT(unknown, 1);
  EXPECT_DOUBLE_EQ(part_for("page + 1 = 7 AND country = 'de'"), 0.9 * unknown);
}

TEST(Selectivity, EachTableHasItsOwnSample) {
  const LogicalOperatorPtr plan = ordered_plan_of(
      "SELECT 1 FROM visits a, visits b WHERE a.first = b.first AND a.country = 'fr' AND b.first < 500");
  estimate(*plan);
  const LogicalOperator& join = first_of(OperatorKind::Join, *plan);
  EXPECT_DOUBLE_EQ(join.inputs[0]->estimated_rows, 500'000);
  EXPECT_DOUBLE_EQ(join.inputs[1]->estimated_rows, 50'000);
}

}  // namespace
}  // namespace diptych::testing
