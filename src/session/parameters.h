// Puts the values of a statement's parameters into its query.
#pragma once

#include <string_view>
#include <vector>

#include "bind/bound_statement.h"
#include "plan/evaluator.h"

namespace diptych {

// Every Parameter of the query becomes a constant of the type that binding gave it. Errors: what casting the value to
// that type raises.
void replace_parameters(LogicalOperatorPtr& query, const std::vector<Type>& types, const std::vector<Value>& values,
                        Evaluator& evaluator);

// What a text must be to become a value. Errors: 22021 it is not UTF-8, or has a byte 0.
void check_text(std::string_view text);

}  // namespace diptych
