// The plan as EXPLAIN shows it: a line an operator, those above before their inputs.
//
//   Project o_key, o_total
//   └ Filter (o_total > 100) (~500 rows)
//     └ Scan orders [o_key, o_total] (1500 rows)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bind/logical_operator.h"

namespace diptych {

struct OperatorLine {
  int64_t level = 0;  // inputs below the root
  std::string text;
  int64_t estimated_rows = 0;  // 0: not estimated
  // Indented, and with its rows.
  std::string drawn() const;
};

// The tree, operators before their inputs.
std::vector<OperatorLine> list_operators(const LogicalOperator& plan);
// The same, drawn.
std::vector<std::string> describe(const LogicalOperator& plan);

}  // namespace diptych
