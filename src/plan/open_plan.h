// Opens a plan as the binder made it: what the statement gives as expressions over no row becomes rows and numbers.
//
//   Limit 5 + 5                        Limit 10
//   └ Scan VALUES (1, 2 * 3)      ->   └ Scan VALUES [column1, column2] (1 rows)
//
// Not done by the binder, which evaluates nothing but literals: only a run has the values of parameters, and errors of
// evaluating are the run's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bind/logical_operator.h"
#include "plan/evaluator.h"

namespace diptych {

// Scans of VALUES and of generate_series get their sources, operators of LIMIT and OFFSET their numbers, and values
// that the statement gave no name are called by the text of their expression. Errors: 2201W, 2201X; 22023 a series'
// step is 0; what evaluating raises.
void open_plan(LogicalOperatorPtr& plan, Evaluator& evaluator);

// The rows of VALUES, and by column of a plan over them the column there.
struct PickedValues {
  std::shared_ptr<const TabletSource> source;
  std::vector<size_t> columns;
};

// Of an opened plan that does no more than pick columns of VALUES, so that nothing is to be run; nothing: it does.
std::optional<PickedValues> picked_values(const LogicalOperator& plan);

}  // namespace diptych
