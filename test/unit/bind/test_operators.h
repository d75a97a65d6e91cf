// Finding operators in a plan.
#pragma once

#include "bind/logical_operator.h"

namespace diptych::testing {

// The first operator of the kind, from the root along first inputs.
inline const LogicalOperator& first_of(OperatorKind kind, const LogicalOperator& plan) {
  const LogicalOperator* op = &plan;
  while (op->kind != kind) op = &op->input();
  return *op;
}

// What FROM became: the first scan or join from the root.
inline const LogicalOperator& source_of(const LogicalOperator& query) {
  const LogicalOperator* op = &query;
  while (op->kind != OperatorKind::Scan && op->kind != OperatorKind::Join) op = &op->input();
  return *op;
}

}  // namespace diptych::testing
