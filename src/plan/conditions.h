// Conditions that all must hold.
#pragma once

#include <vector>

#include "bind/expression.h"

namespace diptych {

// Adds the parts of a condition, which it is all of, one by one.
void take_conditions(ExpressionPtr condition, std::vector<ExpressionPtr>& conditions);

// One condition of several, of which there is at least one.
ExpressionPtr all_of(std::vector<ExpressionPtr> conditions);

// Eq, Neq, Lt, Le, Gt or Ge.
inline bool is_comparison(ExpressionKind kind) { return kind >= ExpressionKind::Eq && kind <= ExpressionKind::Ge; }

// Whether computing it raises no error whatever its columns are: it compares columns and constants as they are.
bool cannot_fail(const Expression& condition);

}  // namespace diptych
