// Which row of kernel/functions.def a call means, by PostgreSQL's rules for overloaded functions and operators
// (manual, 10.2, 10.3).
#pragma once

#include <string>
#include <vector>

#include "bind/coercion.h"
#include "kernel/function_table.h"

namespace diptych {

// The call of the function or operator `sql_name` with its arguments cast to the types of the row that fits best;
// nullptr when there is no function of that name and number of arguments that they can be cast to. Errors: 42725 when
// several fit equally well.
ExpressionPtr resolve_call(const std::string& sql_name, std::vector<ExpressionPtr>& args, int position,
                           ParameterTypes& parameters);

// Whether there is a row of this name with just these argument types.
bool has_overload(const std::string& sql_name, const std::vector<TypeId>& types);

// "round(text, integer)"; of operators "text + integer".
std::string call_signature(const std::string& name, const std::vector<ExpressionPtr>& args, bool is_operator);

}  // namespace diptych
