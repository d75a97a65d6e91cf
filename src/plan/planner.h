// Bound tree to logical plan: the operators in the order that SQL's semantics give, nothing clever.
#pragma once

#include "bind/bound_statement.h"
#include "bind/logical_operator.h"
#include "plan/evaluator.h"

namespace diptych {

// Takes the bound query apart. Rows of VALUES and bounds of generate_series are evaluated here.
// Errors: 2201W, 2201X; what evaluating VALUES, LIMIT and OFFSET raises.
LogicalOperatorPtr make_logical_plan(BoundSelect query, Evaluator& evaluator);

}  // namespace diptych
