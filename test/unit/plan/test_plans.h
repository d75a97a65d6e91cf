// Plans over tables that have sizes, bounds, dictionaries and samples, and no rows.
//
//   sales     1,000,000 rows  day 1..2500, part 1..200000, shop 1..2000, amount 1..50, note text in the heap
//   days          2,500       day 1..2500 (primary key), year 1992..1998
//   parts       200,000       part 1..200000, brand text of 1000 in a dictionary, size 1..50
//   shops         2,000       shop 1..2000 (primary key), region text of 5 in a dictionary, city without bounds
//   visits    1,000,000       with a sample of a thousand: page bigint, 1 in half of the rows, others once each; first
//   0..999,
//                             last from first to first + 9; country text, de in 9 of 10 rows, else fr; seen boolean,
//                             NULL in each fourth row, else true
//   files                     a file whose rows nobody has counted: n integer
#pragma once

#include <string>

#include "bind/test_operators.h"

namespace diptych::testing {

LogicalOperatorPtr bound_plan_of(const std::string& sql);  // as the binder makes it
LogicalOperatorPtr plan_of(const std::string& sql);        // opened, before any rule

LogicalOperatorPtr ordered_plan_of(const std::string& sql);  // after order_joins alone
LogicalOperatorPtr pruned_plan_of(const std::string& sql);   // after order_joins and prune_columns
LogicalOperatorPtr marked_plan_of(const std::string& sql);   // after these and semi_joins

// What a plan joins, projections left out:
//
//   ((sales, days where (year = 1995) by (day = day)), parts by (part = part) if (amount < size))
//
// is a join (of a semi-join it says "semi (...)") whose second input, the one that is put into an index, is parts, and
// whose first one joins sales and days.
std::string joins_of(const LogicalOperator& plan);

}  // namespace diptych::testing
