// From the optimised logical plan to a program.
//
// Works by producing and consuming: an operator asks its input for rows and says what to do with each; a scan opens the
// parallel section, aggregation and sorting end it and open the next one on their result (after Neumann, "Efficiently
// Compiling Efficient Query Plans for Modern Hardware", VLDB 2011, section 3).
#pragma once

#include <memory>

#include "bind/logical_operator.h"
#include "plan/evaluator.h"
#include "program/program.h"

namespace diptych {

// Holds for the sources as they are, and for others of which the same facts hold (source_facts.h). The evaluator serves
// expressions over dictionaries. Errors: 0A000 for what opcodes can't do yet.
std::shared_ptr<Program> compile(const LogicalOperator& plan, Evaluator& evaluator);

}  // namespace diptych
