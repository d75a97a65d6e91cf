// Which joins only ask whether a row meets another one.
#include <gtest/gtest.h>

#include "plan/test_plans.h"

namespace diptych::testing {
namespace {

std::string marked(const std::string& sql) { return joins_of(*marked_plan_of(sql)); }

TEST(SemiJoins, ADeclaredKeyIsMetOnce) {
  EXPECT_EQ(marked("SELECT s.amount FROM sales s, days d WHERE s.day = d.day AND d.year = 1995"),
            "semi (sales, days where (year = 1995) by (day = day))");
  EXPECT_EQ(marked("SELECT sum(s.amount) FROM sales s, days d WHERE s.day = d.day AND s.amount = d.year"),
            "groups of semi (sales, days by (day = day) AND (amount = year))");
}

TEST(SemiJoins, OtherKeysMayBeMetOften) {
  EXPECT_EQ(marked("SELECT s.amount FROM sales s, parts p WHERE s.part = p.part"), "(sales, parts by (part = part))");
  EXPECT_EQ(marked("SELECT s.amount FROM sales s, days d WHERE s.day = d.day + 1"),
            "(sales, days by (day = (day + 1)))");
  EXPECT_EQ(marked("SELECT count(*) FROM sales s, days d WHERE s.amount = d.year"),
            "groups of (sales, days by (amount = year))");
}

TEST(SemiJoins, WhatIsReadAboveIsFetched) {
  EXPECT_EQ(marked("SELECT d.year FROM sales s, days d WHERE s.day = d.day"), "(sales, days by (day = day))");
  EXPECT_EQ(marked("SELECT d.day FROM sales s, days d WHERE s.day = d.day"), "(sales, days by (day = day))");
  EXPECT_EQ(marked("SELECT s.part FROM sales s JOIN days d ON s.day = d.day AND s.amount < d.year"),
            "(sales, days by (day = day) if (amount < year))");
}

TEST(SemiJoins, RepeatsAreNotSeenByAllAggregates) {
  const std::string tables = " FROM sales s, parts p WHERE s.part = p.part";
  const std::string semi = "groups of semi (sales, parts by (part = part))",
                    all = "groups of (sales, parts by (part = part))";
  EXPECT_EQ(marked("SELECT DISTINCT s.day" + tables), semi);
  EXPECT_EQ(marked("SELECT s.day" + tables + " GROUP BY s.day"), semi);
  EXPECT_EQ(marked("SELECT min(s.day), max(s.amount)" + tables), semi);
  EXPECT_EQ(marked("SELECT count(DISTINCT s.day), bool_and(s.day > 7)" + tables), semi);
  EXPECT_EQ(marked("SELECT min(s.day), count(*)" + tables), all);
  EXPECT_EQ(marked("SELECT sum(s.day)" + tables), all);
}

TEST(SemiJoins, FirstRowsCountRepeats) {
  EXPECT_EQ(marked("SELECT DISTINCT q.day FROM (SELECT s.day FROM sales s, parts p WHERE s.part = p.part LIMIT 5) q"),
            "groups of first rows of (sales, parts by (part = part))");
}

TEST(SemiJoins, GroupsHaveTheirKeysOnce) {
  EXPECT_EQ(
      marked("SELECT s.amount FROM sales s, (SELECT part FROM parts WHERE brand = '7' GROUP BY part) p WHERE s.part = "
             "p.part"),
      "semi (sales, groups of parts where (brand = '7') by (part = part))");
  EXPECT_EQ(
      marked("SELECT s.amount FROM sales s, (SELECT part, size FROM parts WHERE brand = '7' GROUP BY part, size) p "
             "WHERE s.part = p.part"),
      "(sales, groups of parts where (brand = '7') by (part = part))");
}

// How often the rows of the second input are there counts for no semi-join.
TEST(SemiJoins, RepeatsBelowASemiJoinDoNotCount) {
  EXPECT_EQ(
      marked("SELECT DISTINCT s.amount FROM sales s, (SELECT p.part FROM parts p, days d WHERE p.size = d.year AND "
             "d.day < 5 AND p.brand = '7') q WHERE s.part = q.part"),
      "groups of semi (sales, semi (parts where (brand = '7'), days where (day < 5) by (size = year)) by (part = "
      "part))");
}

}  // namespace
}  // namespace diptych::testing
