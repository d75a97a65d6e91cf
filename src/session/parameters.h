// Puts the values of a statement's parameters into its bound tree.
#pragma once

#include <vector>

#include "bind/bound_statement.h"
#include "plan/evaluator.h"

namespace diptych {

// Every Parameter of the query becomes a constant of the type that binding gave it. Errors: what casting the value to
// that type raises.
void replace_parameters(BoundSelect& query, const std::vector<Type>& types, const std::vector<Value>& values,
                        Evaluator& evaluator);

}  // namespace diptych
