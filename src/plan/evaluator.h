// Evaluating expressions before a statement runs: constants, LIMIT, defaults, an expression over every string of a
// dictionary. The session implements it by compiling and running a small program, so that a folded expression means
// what it means in a query.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "bind/expression.h"
#include "tablet/tablet_source.h"

namespace diptych {

// What a plan relies on: the value of an expression over parameters. nullopt: computing it raises an error.
struct PlanFact {
  ExpressionPtr expression;
  std::optional<Value> value;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // The expressions' values for every row of the source, row by row: result[row * expressions.size() + i]. columns: as
  // what the expressions know the source's columns. Errors: what the expressions raise.
  virtual std::vector<Value> evaluate(const std::vector<const Expression*>& expressions,
                                      std::shared_ptr<const TabletSource> source,
                                      const std::vector<ColumnId>& columns) = 0;
  // The value of one expression that reads no column.
  virtual Value evaluate_constant(const Expression& expression) = 0;

  // The plan that is being made serves only the runs in which this is so.
  void rely_on(const Expression& expression, std::optional<Value> value);
  std::vector<PlanFact> take_facts() { return std::move(facts_); }

 private:
  std::vector<PlanFact> facts_;  // no expression twice
};

// The value of an expression that reads no column; nullopt: computing it raises an error.
std::optional<Value> try_evaluate(const Expression& expression, Evaluator& evaluator);

}  // namespace diptych
