// How many rows an operator is expected to give: the one model of all who choose by it.
#pragma once

#include "plan/logical_operator.h"

namespace diptych {

// Sets estimated_rows of the operator and of all below it.
void estimate(LogicalOperator& op);
// The same of an operator above estimated ones.
void estimate_from_inputs(LogicalOperator& op);

// Different values of an estimated operator's column; at least 1, at most its rows.
double estimated_values(const LogicalOperator& op, size_t column);
// Of an expression over its columns.
double estimated_values(const LogicalOperator& op, const Expression& expression);

// Of a join's pairs, the part that have equal keys, one of so many values on each side.
double equal_part(double values, double other_values);
// The part of an estimated operator's rows for which the condition holds.
double part_of(const Expression& condition, const LogicalOperator& op);

}  // namespace diptych
