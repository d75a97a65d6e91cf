// Evaluates expressions by compiling and running a small program, so that folding and querying mean the same.
#pragma once

#include "plan/evaluator.h"
#include "session/connection.h"

namespace diptych {

class SessionEvaluator : public Evaluator {
 public:
  explicit SessionEvaluator(Connection& connection) : connection_(connection) {}
  std::vector<Value> evaluate(const std::vector<const Expression*>& expressions,
                              std::shared_ptr<const TabletSource> source,
                              const std::vector<ColumnId>& columns) override;
  Value evaluate_constant(const Expression& expression) override;

 private:
  Connection& connection_;
};

// All rows of a source as values, row by row.
std::vector<Value> read_values(const TabletSource& source);

}  // namespace diptych
