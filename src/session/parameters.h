// Puts the values of a statement's parameters into its query.
#pragma once

#include <string_view>
#include <vector>

#include "bind/bound_statement.h"
#include "plan/evaluator.h"

namespace diptych {

// The values as those of the types that binding gave the parameters. Errors: what casting them raises.
std::vector<Value> typed_values(const std::vector<Type>& types, const std::vector<Value>& values, Evaluator& evaluator);

// Which parameters the plan of the query depends on, however they are used: those of LIMIT, OFFSET, VALUES and
// generate_series, which are rows and numbers of an opened plan, and truth values.
std::vector<bool> parameters_of_plan(LogicalOperatorPtr& query, const std::vector<Type>& types);

// A parameter that the plan depends on, or whose value is NULL, becomes a constant; the others know their value. The
// values are of the parameters' types.
void put_values(LogicalOperatorPtr& query, const std::vector<Value>& values, const std::vector<bool>& of_plan);
// So that all parameters become constants.
void replace_parameters(LogicalOperatorPtr& query, const std::vector<Value>& values);

// What a text must be to become a value. Errors: 22021 it is not UTF-8, or has a byte 0.
void check_text(std::string_view text);

}  // namespace diptych
