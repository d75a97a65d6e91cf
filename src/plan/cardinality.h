// How many rows an operator is expected to give: the one model of all who choose by it.
#pragma once

#include <vector>

#include "bind/logical_operator.h"

namespace diptych {

// As programs and EXPLAIN have it.
int64_t whole_rows(double estimated_rows);

// Sets estimated_rows of the operator and of all below it.
void estimate(LogicalOperator& op);
// The same of an operator above estimated ones.
void estimate_from_inputs(LogicalOperator& op);

// The different values of a column that conditions on it alone have left, whatever rows others have left out; and
// whether each is one row's.
struct ColumnValues {
  double values = 1;  // at most; at least 1
  bool is_key = false;
};
ColumnValues values_of(const LogicalOperator& op, ColumnId column);
// Of an expression over an estimated operator's columns: no more than these have together.
ColumnValues values_of(const LogicalOperator& op, const Expression& expression);

// Of the pairs of two operators' rows, the part that have equal keys.
double equal_part(const ColumnValues& a, const ColumnValues& b);
// One of two estimated operators whose rows are joined, and its keys: as many as the other's, in the same order.
struct JoinSide {
  const LogicalOperator& rows;
  std::vector<const Expression*> keys;
};
// Of the pairs of their rows those with equal keys.
double pairs_of(const JoinSide& a, const JoinSide& b);
// Of the rows, those whose keys another one before has as well; -1: nothing tells whether the keys together tell rows
// apart.
double repeated_rows(const JoinSide& side);
// Of a join of estimated inputs: the pairs with equal keys, at least 1.
double pairs_of_join(const LogicalOperator& join);

}  // namespace diptych
