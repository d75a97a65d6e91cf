// The part of an operator's rows for which a condition holds.
//
// Of a condition over the columns of one table its sampled rows tell it (tablet/statistics), if enough of them fulfil
// it. Of what is rarer: `column = constant` takes one of the values that are not frequent, a range its share of the
// column's bounds, and conditions beside each other are taken to be independent. Where nothing is known there are
// constants.
#pragma once

#include <span>

#include "bind/logical_operator.h"

namespace diptych {

// Between 0 and 1. The operator and those below it are estimated.
double part_of(const Expression& condition, const LogicalOperator& op);
// Of several conditions that all hold.
double part_of_all(std::span<const Expression* const> conditions, const LogicalOperator& op);

}  // namespace diptych
